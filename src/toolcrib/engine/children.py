"""Child runs: another agent below a run, with its own role, mode and tools, and never with more than it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.engine.occasions import before_child
from toolcrib.engine.topology import take_edge
from toolcrib.engine.wish import Wish
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.modes import Mode, is_within, mode_of
from toolcrib.policy.roles import CHILDREN, is_wider, role_of
from toolcrib.values.event import EventType
from toolcrib.values.identity import Role
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import Lane

if TYPE_CHECKING:
    from toolcrib.engine.run import Run
    from toolcrib.workspace import Mount


@frozen
class Sent:
    """How a child is sent; what is None follows from its definition and its parent."""

    agent: str
    role: str | None
    mode: str | None
    allowed_tools: frozenset[str] | None
    mounts: tuple[Mount, ...] | None


class ChildScope:
    """A child that is about to begin: counted on entry, closed on exit; a Refusal says why there can be none."""

    def __init__(self, parent: Run, sent: Sent) -> None:
        self._parent = parent
        self._sent = sent
        self._run: Run | None = None

    async def __aenter__(self) -> Run:
        parent, runtime = self._parent, self._parent.runtime
        parent.check_running()
        wish = child_wish(parent, self._sent)
        await take_edge(parent, wish)
        await before_child(parent, wish.agent.agent_id, "")
        run_id = runtime.ids.new("run")
        run = self._run = _child_run(parent, wish, run_id)
        check_room(parent)
        self._count(1)
        try:
            if runtime.ground is not None:
                run.place = runtime.ground(parent.origin.run_id, run_id, self._sent.mounts)
            await run.opened()
            await runtime.show(run, wish)
        except BaseException:
            self._count(-1)
            raise
        parent.note(EventType.CHILD_STARTED, parent.parent_call, _told(run))
        return run

    async def __aexit__(self, *_: object) -> None:
        run, parent = self._run, self._parent
        if run is not None:
            try:
                await run.close()
            finally:
                self._count(-1)
            parent.note(EventType.CHILD_COMPLETED, parent.parent_call, {**_told(run), "end_reason": run.end_reason})

    def _count(self, one: int) -> None:
        parent, run = self._parent, self._run
        if run is None:
            return
        session, kin = parent.origin.session_id, parent.runtime.children
        kin[session] = kin.get(session, 0) + one
        if not kin[session]:
            del kin[session]
        (parent.children.add if one > 0 else parent.children.discard)(run)


def child_wish(parent: Run, sent: Sent) -> Wish:
    """What a child of this run would be given; a Refusal when it must not be."""
    agent = parent.runtime.agents(sent.agent)
    role = agent.role or Role.SUB if sent.role is None else role_of(sent.role)
    _check_kin(parent, sent.agent, role)
    if agent.role is not None and is_wider(role, agent.role):
        raise _refused(f"{sent.agent} is a {agent.role}, and as a {role} it would have more than that gives")
    mode = _child_mode(parent.mode, agent, None if sent.mode is None else mode_of(sent.mode))
    dispatcher = frozenset(parent.tools) if role is Role.WORKER else None
    surface = parent.origin.surface
    return Wish(agent, mode, allowed_tools=sent.allowed_tools, role=role, dispatcher=dispatcher, surface=surface)


def check_room(parent: Run) -> None:
    """Refuse a child too many: below this run, in the whole session, or too deep."""
    runtime = parent.runtime
    if parent.generation + 1 > runtime.max_depth:
        raise _full(f"agents start agents at most {runtime.max_depth} levels deep")
    most = runtime.agent_limit if parent.agent.max_children is None else parent.agent.max_children
    if len(parent.children) >= min(most, runtime.agent_limit):
        raise _full(f"this run has {len(parent.children)} child agents, as many as it may have at a time")
    if runtime.children.get(parent.origin.session_id, 0) >= runtime.max_children_per_session:
        raise _full(f"this session has {runtime.max_children_per_session} child agents, as many as it may have")


def may_start(parent: Run, agent: str) -> bool:
    """Whether a run could have a child of that definition; what its limits say is another matter."""
    allowed = parent.agent.sub_agents
    return parent.origin.role not in CHILDREN and (allowed is None or agent in allowed)


def _check_kin(parent: Run, agent: str, role: Role) -> None:
    if parent.origin.role in CHILDREN:
        raise _refused(f"a {parent.origin.role} starts no other agents; say what is needed in your answer")
    if role is Role.MAIN:
        raise _refused("a child is an orchestrator, a sub, a fork or a worker, never a second main agent")
    allowed = parent.agent.sub_agents
    if allowed is not None and agent not in allowed:
        listed = f"it lists {', '.join(sorted(allowed))}" if allowed else "it lists none"
        raise _refused(f"the definition of {parent.agent.agent_id} does not let it start {agent!r}: {listed}")


def _child_mode(outer: Mode, agent: AgentTerms, wanted: Mode | None) -> Mode:
    """The mode asked for, else that of the definition, else the parent's: the first that is within all the others."""
    limits = [outer] if agent.mode is None else [outer, agent.mode]
    for mode in [wanted] if wanted is not None else [agent.mode or outer, outer]:
        if all(is_within(mode, limit) for limit in limits):
            return mode
    looser = wanted or agent.mode or outer
    raise _refused(f"{agent.agent_id} cannot run in the mode {looser} below a run in the mode {outer}: that is looser")


def _child_run(parent: Run, wish: Wish, run_id: str) -> Run:
    runtime, above = parent.runtime, parent.origin
    # Its own id within the session: an answer given to one child is for that child alone, not for its twin.
    origin = above.child(run_id, f"{wish.agent.agent_id}@{run_id}", wish.role)
    lane = parent.lane if parent.holds is Lane.WRITE else runtime.lanes.of(above.session_id, parent.workspace)
    return type(parent)(
        runtime, origin, parent.ownership, runtime.effective(wish), parent.gate, lane, wish.mode, parent.workspace,
        place=parent.place, parent=parent, generation=parent.generation + 1, agent=wish.agent, marks=parent.marks,
        allowance=wish.agent.allowance, began=runtime.clock.monotonic(),
        account=parent.account, guard=runtime.loop_guard(wish),
    )  # fmt: skip


def _told(run: Run) -> dict[str, str]:
    return {"child_run_id": run.origin.run_id, "agent": run.agent.agent_id, "role": run.origin.role, "mode": run.mode}


def _full(message: str) -> Refusal:
    return Refusal(Reason.CHILD_AGENT_LIMIT_EXCEEDED, f"no further agent can start: {message}")


def _refused(message: str) -> Refusal:
    return Refusal(Reason.PERMISSION_DENIED, message)
