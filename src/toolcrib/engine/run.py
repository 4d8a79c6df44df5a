"""A run: one agent at work in one session, with a fixed set of tools and live authority."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from toolcrib.engine.account import Account, charge_kin, check_budget, look_at_budget, settle_account, spend
from toolcrib.engine.attend import Vigil, collect, pending_of, see_through, submit
from toolcrib.engine.beginning import Beginning, record_beginning
from toolcrib.engine.children import ChildScope, Sent
from toolcrib.engine.drift import refuse_drifted, require_unchanged
from toolcrib.engine.effective import EffectiveSet, Slot
from toolcrib.engine.flight import Flight
from toolcrib.engine.gate import Gate
from toolcrib.engine.lanes import WorkLane
from toolcrib.engine.occasions import before_stop, user_message
from toolcrib.engine.repetition import PATIENCE, buckets_of
from toolcrib.engine.turn import take_turn
from toolcrib.engine.used import UsedIds
from toolcrib.policy.agents import NO_LIMIT, AgentTerms
from toolcrib.policy.budget import Allowance, Spending
from toolcrib.policy.loop import LoopGuard
from toolcrib.policy.modes import Mode
from toolcrib.ports import Fenced, RunClosed, Unit
from toolcrib.values.block import SystemBlock
from toolcrib.values.call import Invocation, Permit, ToolCall
from toolcrib.values.context import Document, Standing, ToolContext
from toolcrib.values.event import Draft, EventType, Level
from toolcrib.values.identity import Origin, Ownership
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.permission import Pending
from toolcrib.values.refusal import Reason, Refusal, ToolcribError
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import NOTHING, Effect, Exposure, Lane

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from toolcrib.catalog.toolkit import Focus
    from toolcrib.engine.display import Display
    from toolcrib.engine.runtime import Runtime
    from toolcrib.workspace import Mount

MOST_BLOCKS = 16
MOST_SAID, MOST_SHOWN = 65_536, 2_000  # characters of progress that are looked at, and shown
_READ = Lane.READ  # every call asks, and reading an enum's member is slow


@dataclass(slots=True, eq=False)
class Run:
    """The counter as one agent sees it. `call` settles one call, `turn` one model turn."""

    runtime: Runtime
    origin: Origin
    ownership: Ownership | None
    tools: EffectiveSet
    gate: Gate
    lane: WorkLane
    mode: Mode = Mode.DEFAULT
    workspace: str | None = None
    recovered: tuple[ToolResult, ...] = ()
    place: Callable[[], None] | None = None
    """Makes this run's workspace the current one, for the tools that stand on it."""
    parent_call: str | None = None
    holds: Lane = Lane.AGENT
    depth: int = 0
    parent: Run | None = None
    aborted: str | None = None
    end_reason: str = "completed"
    calls: int = 0
    marks: set[str] = field(default_factory=set[str])
    """What this run has done that rules may ask about: `read_sensitive`, `read_untrusted`."""
    caller: Exposure = Exposure.MODEL
    generation: int = 0
    """How many agents stand between this one and the first of its session."""
    agent: AgentTerms = field(default_factory=AgentTerms)
    children: set[Run] = field(default_factory=set["Run"])
    account: Account = field(default_factory=lambda: Account(""))
    guard: LoopGuard | None = None
    budgeted: bool = False
    allowance: Allowance = NO_LIMIT
    began: float = 0.0
    spending: Spending = field(default_factory=Spending)
    stop_refused: bool = False
    display: Display | None = None
    flights: set[Flight] = field(default_factory=set[Flight])
    vigils: set[Vigil] = field(default_factory=set[Vigil])
    _ids: UsedIds = field(default_factory=UsedIds)
    _blocks: dict[str, SystemBlock] | None = None

    def call(
        self, name: str, arguments: Mapping[str, Json] | str = NOTHING, *, id: str | None = None
    ) -> Coroutine[Any, Any, ToolResult]:
        """One governed call, to be awaited: valid, permitted, within limits, recorded, its result bounded."""
        return see_through(ToolCall(name, arguments, id), self)

    async def submit(
        self, name: str, arguments: Mapping[str, Json] | str = NOTHING, *, id: str | None = None
    ) -> ToolResult | Pending:
        """One governed call that does not wait for a person: `Pending`, until the identical call collects it."""
        return await submit(ToolCall(name, arguments, id), self)

    @property
    def parked(self) -> tuple[Pending, ...]:
        """Calls of this session that wait for a person, and that nobody here waits for."""
        return tuple(pending_of(question) for question in self.gate.parked.values())

    async def collect(self, request_id: str) -> ToolResult:
        """Wait for the answer to a parked call, and settle it."""
        question = self.gate.parked.get(request_id)
        if question is None:
            raise ToolcribError(f"no call of this session waits for {request_id!r}; run.parked names those that do")
        return await collect(question, self)

    async def turn(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """One model turn: reads together, writes alone and in order, one result per call in the model's order."""
        return await take_turn(calls, self)

    def call_sync(self, name: str, arguments: Mapping[str, Json] | str = NOTHING) -> ToolResult:
        """`call` for code without an event loop (after `Toolcrib.open_sync`)."""
        return self._portal.call(self.call, name, arguments)

    def turn_sync(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """`turn` for code without an event loop."""
        return self._portal.call(self.turn, calls)

    def advertise(self, provider: str) -> list[JsonObject]:
        """The tools of this run as a provider wants them listed, under provider-safe names: all, or what is shown."""
        return (self.display or self.tools).advertised(provider, self.runtime.advertiser)

    @property
    def guidance(self) -> str:
        """What a prompt should say about the tools of this run, and about those it does not have."""
        return self.runtime.prompting.guidance(self.tools, self.mode)

    def focus(self, said: str = "") -> Focus:
        """The tools to concentrate on after what the user said last, and whether one of them must be called."""
        return self.runtime.prompting.focus(self.tools, self.mode, said)

    def compacted(self) -> str:
        """To be called when the conversation was shortened: what to tell the model again of the tools it had found."""
        return "" if self.display is None else self.display.compacted()

    def abort(self, reason: str = "aborted by the operator") -> None:
        """Stop everything that runs here and let nothing start any more; finished work stays finished."""
        if self.aborted is None:
            self.aborted = reason
            self.end_reason = "aborted_tools"
            self.note(EventType.ABORTED_TOOLS, None, {"reason": reason, "calls": len(self.flights)}, Level.NOTICE)
        for child in tuple(self.children):
            child.abort(reason)
        for vigil in tuple(self.vigils):
            vigil.decided.set()
        for flight in tuple(self.flights):
            flight.interrupt(Reason.ABORTED, f"{flight.call.name} was aborted: {reason}")

    def child(
        self,
        agent: str,
        *,
        role: str | None = None,
        mode: str | None = None,
        allowed_tools: Iterable[str] | None = None,
        mounts: Iterable[Mount] | None = None,
    ) -> ChildScope:
        """A run of another agent below this one, to be entered with `async with`; it can only have less."""
        allowed = None if allowed_tools is None else frozenset(allowed_tools)
        return ChildScope(self, Sent(agent, role, mode, allowed, None if mounts is None else tuple(mounts)))

    # What `settle` asks of a run, in the order it asks.

    def board(self, call: ToolCall) -> Flight:
        """Begin a call: give it an id of its own and a place among those that an abort must reach."""
        call_id, runtime = call.id, self.runtime
        if call_id is None or call_id in self._ids:
            call_id = runtime.ids.new("call")
        monotonic = runtime.clock.monotonic
        return Flight(call, call_id, monotonic(), self)

    def check_alive(self, call: ToolCall) -> None:
        """Refuse what must not start: after an abort, beyond the budget, or under an id that was used before."""
        root = self
        if self.aborted is not None or self.parent is not None:
            self.check_running()
            root = self.root
        if call.id is not None:
            self._ids.take(call.id)
        root.calls += 1
        if root.budgeted:
            check_budget(root)
        if root is not self:
            charge_kin(self)

    def check_running(self) -> None:
        """Nothing starts in a run that was aborted, or inside one."""
        run: Run | None = self
        while run is not None:
            if run.aborted is not None:
                raise Refusal(Reason.ABORTED, f"the run was aborted before this call started: {run.aborted}")
            run = run.parent

    @property
    def is_aborted(self) -> bool:
        """Whether this run, or one that it stands in, was aborted."""
        return self.aborted is not None or (self.parent is not None and self.parent.is_aborted)

    def check_contract(self, slot: Slot) -> None:
        """The tool must still be the one this run was given; a change can only take away."""
        if slot.drift is not None:
            refuse_drifted(slot.tool, slot.drift)
        live = self.runtime.registry.snapshot
        if live is self.tools.snapshot or live.generation == self.tools.snapshot.generation:
            return
        require_unchanged(slot.tool, live, self.tools.terms.post)

    def take(self, slot: Slot, flight: Flight) -> bool:
        """Spend from every rate limit, then look for a loop; False when tokens have to be drawn first."""
        if slot.metered:
            buckets = buckets_of(slot, self) if slot.session_rates else slot.buckets
            if not self.runtime.meters.take(buckets, flight.began):
                return False
        guard = self.guard
        if guard is not None and guard.stale and slot.guarded:
            guard.check(slot.tool.spec.name, flight.call.arguments, flight.began)
        flight.counted = True
        return True

    def context(self, permit: Permit) -> ToolContext:
        invocation = permit.invocation
        return ToolContext(
            invocation.call_id,
            invocation.tool.spec.name,
            invocation.arguments,
            invocation.targets,
            self.origin,
            self.workspace,
            self,
        )

    def lane_for(self, invocation: Invocation, slot: Slot) -> Lane:
        """The lane this call takes. Inside a read it is that of agents, which is always free, and nothing writes."""
        lane = slot.lane if invocation.effect is slot.tool.spec.effect else _READ
        if self.holds is not _READ:
            return lane
        if invocation.effect is Effect.WRITE:
            writes = f"{slot.tool.name} writes, but it was called from inside a tool that only reads"
            raise Refusal(Reason.PERMISSION_DENIED, f"{writes}; mark that one as write")
        return Lane.AGENT

    # What an agent loop tells a run.

    async def user_message(self, text: str = "") -> None:
        """A person spoke: hooks hear of it and may refuse it, and the loop guard starts afresh."""
        await user_message(self, text)

    async def before_stop(self, said: str = "") -> str | None:
        """Whether the agent may end here; otherwise, once in a run, what a hook wants the model to hear first."""
        return await before_stop(self, said)

    def spend(self, *, tokens: int = 0, money: float = 0.0) -> None:
        """Charge what a model used to the root run and the session; once a budget is used up, calls are refused."""
        spend(self, tokens, money)

    def check_budget(self) -> None:
        """Refusal when nothing more may be started here; for whoever is about to call a model."""
        root = self.root
        if root.budgeted:
            look_at_budget(root)

    # What a handler asks of a run, through its context.

    def progress(self, context: ToolContext, message: str, fraction: float | None) -> None:
        runtime = self.runtime
        if runtime.live.watchers:
            shown = runtime.redactor.text(message[:MOST_SAID])[0][:MOST_SHOWN]
            payload: JsonObject = {"message": shown, "fraction": fraction, "name": context.name}
            runtime.live.publish(self.draft(EventType.TOOL_PROGRESS, context.call_id, payload))

    async def call_from(self, context: ToolContext, name: str, arguments: Mapping[str, Json]) -> ToolResult:
        """A call from inside a call: the same counter, the same budget, one level deeper."""
        if self.depth >= self.runtime.max_depth:
            raise Refusal(Reason.LOOP_DETECTED, f"calls inside calls go at most {self.runtime.max_depth} levels deep")
        inner = context.nested
        if not isinstance(inner, Run):
            inner = context.nested = self._inside(context)
        return await see_through(ToolCall(name, arguments), inner)

    async def load(self, context: ToolContext, kind: str, key: str) -> Document | None:
        return await self.runtime.store.load(kind, key)

    def standing(self) -> Standing:
        return Standing(self.mode.value, self.caller, self.tools.__contains__, lambda: self.tools.specs)

    def add_block(self, block: SystemBlock) -> None:
        """Keep a block for the prompt, without secrets; the first of them stay when there are too many."""
        root = self.root
        known = root._blocks if root._blocks is not None else {}
        if block.path in known or len(known) < MOST_BLOCKS:
            root._blocks = {**known, block.path: replace(block, text=self.runtime.redactor.text(block.text)[0])}

    @property
    def system_blocks(self) -> tuple[SystemBlock, ...]:
        """What instruction files that were read in this run say, in the order of their first reading: untrusted."""
        return tuple((self.root._blocks or {}).values())

    # Records.

    @property
    def root(self) -> Run:
        run = self
        while run.parent is not None:
            run = run.parent
        return run

    @property
    def caller_word(self) -> str:
        return "model" if self.caller is Exposure.MODEL else "person"

    def draft(
        self, kind: str, call_id: str | None, payload: JsonObject, level: Level = Level.INFO, node_id: str | None = None
    ) -> Draft:
        origin = self.origin
        return Draft(kind, origin.session_id, origin.run_id, origin.agent_id, call_id, node_id, level, payload)

    def note(self, kind: str, call_id: str | None, payload: JsonObject, level: Level = Level.INFO) -> None:
        """Record an event beside the calls; it is committed with the next result or shortly by itself."""
        self.queue(self.draft(kind, call_id, payload, level))

    def queue(self, draft: Draft) -> None:
        self.runtime.store.queue(Unit((draft,), self.ownership))

    async def opened(self, beginning: Beginning | None = None) -> None:
        """Record that the run begins."""
        await record_beginning(self, beginning)

    async def close(self) -> None:
        """Record that the run ended, and why; whatever still runs is aborted first."""
        for vigil in tuple(self.vigils):
            vigil.leave()
        if self.flights or self.children:
            self.abort("the run was closed")
        for farewell in self.runtime.farewells:
            await farewell(self.origin.run_id)
        kind = EventType.RUN_CANCELLED if self.aborted else EventType.RUN_COMPLETED
        if self.guard is not None and self.guard.refused >= PATIENCE and not self.aborted:
            kind, self.end_reason = EventType.RUN_FAILED, "loop_detected"
        if self.parent is None:
            settle_account(self)
        draft = self.draft(kind, None, {"end_reason": self.end_reason, "calls": self.calls})
        row = RunClosed(self.origin.run_id, self.end_reason, self.runtime.clock.now())
        try:
            await self.runtime.store.append(Unit((draft,), self.ownership, runs=(row,)))
        except Fenced:
            return  # the session has another owner, who will say how it went on

    @property
    def _portal(self) -> BlockingPortal:
        if self.runtime.portal is None:
            raise ToolcribError("this run lives on an event loop: await run.call(...), or open the crib with open_sync")
        return self.runtime.portal

    def _inside(self, context: ToolContext) -> Run:
        """The run as a handler's own calls see it; inside a write they take turns in a lane of their own."""
        holds = self.holds if self.holds is Lane.READ else context.lane
        lane = WorkLane() if holds is Lane.WRITE else self.lane
        return Run(
            self.runtime, self.origin, self.ownership, self.tools, self.gate, lane, self.mode, self.workspace,
            place=self.place, parent_call=context.call_id, holds=holds, depth=self.depth + 1, parent=self,
            marks=self.marks, flights=self.flights, children=self.children, generation=self.generation,
            agent=self.agent, vigils=self.vigils, account=self.account,
        )  # fmt: skip

    def forget(self, call: ToolCall) -> None:
        """A call was parked: it is not over, so its id and its place in the budget are free for when it goes on."""
        if call.id is not None:
            self._ids.free(call.id)
        self.root.calls -= 1
