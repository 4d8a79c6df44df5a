"""The runtime: what all runs of one process share, put together once by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.catalog.guidance import Prompting
from toolcrib.catalog.registry import Registry
from toolcrib.engine.account import Account, load_account
from toolcrib.engine.beginning import Beginning
from toolcrib.engine.bound import Limits
from toolcrib.engine.effective import EffectiveSet, Judge, Rates, Terms
from toolcrib.engine.flight import Watch
from toolcrib.engine.gate import Gate
from toolcrib.engine.guard import Guard, Post
from toolcrib.engine.lanes import Lanes
from toolcrib.engine.live import Live
from toolcrib.engine.meters import Meters
from toolcrib.engine.occasions import session_start
from toolcrib.engine.parking import Parking
from toolcrib.engine.recover import recover
from toolcrib.engine.repetition import key_of
from toolcrib.engine.run import Run
from toolcrib.engine.switchboard import Switchboard
from toolcrib.engine.wish import Wish, screens_of
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.budget import Allowance
from toolcrib.policy.loop import LoopGuard, LoopLimits
from toolcrib.policy.modes import PLAN_TOOLS
from toolcrib.policy.rules import Policy, Situation
from toolcrib.ports import Asker, Clock, Executor, Hook, Ids, Listener, Store
from toolcrib.values.contract import Enforcement
from toolcrib.values.identity import Origin, Ownership
from toolcrib.values.json import JsonObject
from toolcrib.values.name import SEARCH, NameTable
from toolcrib.values.refusal import Refusal, SessionRefused
from toolcrib.values.spec import Exposure, ToolSpec

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from toolcrib.engine.discovery import Discovery
    from toolcrib.engine.redact import Redactor
    from toolcrib.policy.commands import CommandRule
    from toolcrib.workspace import Mount

CACHED_SETS = 32
Ground = Callable[[str, str, "Sequence[Mount] | None"], Callable[[], None]]
"""Where a child works: from its parent's run, its own, and the mounts it is given (None = those of its parent)."""
Advertiser = Callable[[Iterable[ToolSpec], NameTable, str], list[JsonObject]]


@dataclass(slots=True, eq=False)
class Runtime:
    """One per process and event loop. Everything a run needs is here; nothing here knows a plug-in."""

    store: Store
    registry: Registry
    policy: Policy
    executor: Executor
    clock: Clock
    ids: Ids
    redactor: Redactor
    bounds: Limits
    advertiser: Advertiser
    hooks: tuple[Hook, ...] = ()
    asker: Asker | None = None
    parking: Parking | None = None
    """Where questions go to the inbox instead of to an asker; None where somebody is asked at once."""
    folder: str | None = None
    """Where runs work that were given no workspace."""
    environment: str = ""
    """What commands get to see of the environment, in words."""
    portal: BlockingPortal | None = None
    capabilities: frozenset[str] = frozenset()
    listeners: tuple[Listener, ...] = ()
    rates: Rates = field(default_factory=Rates)
    run_allowance: Allowance = field(default_factory=Allowance)
    session_allowance: Allowance = field(default_factory=Allowance)
    loop: LoopLimits = field(default_factory=LoopLimits)
    holder: str = "this process"
    default_timeout: float = 120.0
    max_timeout: float = 600.0
    ask_timeout: float = 120.0
    read_limit: int = 32
    agent_limit: int = 4
    max_calls_per_turn: int = 128
    max_depth: int = 5
    max_children_per_session: int = 8
    plan_tools: tuple[str, ...] = PLAN_TOOLS
    judge: Judge | None = None
    judge_with: Callable[[tuple[CommandRule, ...]], Judge] | None = None
    """The judge for an agent whose definition has command rules of its own."""
    agents: Callable[[str], AgentTerms] = AgentTerms
    """What the definition of an agent says; ConfigError for an id that is not one."""
    ground: Ground | None = None
    switchboard: Switchboard = field(default_factory=Switchboard)
    prompting: Prompting = field(default_factory=Prompting)
    discovery: Discovery | None = None
    preparations: list[Callable[[], Awaitable[None]]] = field(default_factory=list[Callable[[], Awaitable[None]]])
    """Awaited before a run of its own begins: whatever may have changed elsewhere is read again."""
    weighers: list[Callable[[EffectiveSet], None]] = field(default_factory=list[Callable[[EffectiveSet], None]])
    """Called with each new set: they put tools out for reasons that no screen can know."""
    farewells: list[Callable[[str], Awaitable[None]]] = field(default_factory=list[Callable[[str], Awaitable[None]]])
    """Called with a run's id when it ends: whatever it left behind ends with it."""
    watch: Watch = field(init=False)
    lanes: Lanes = field(default_factory=Lanes)
    live: Live = field(default_factory=Live)
    gates: dict[str, Gate] = field(default_factory=dict[str, Gate])
    children: dict[str, int] = field(default_factory=dict[str, int])
    """How many child runs each session has open."""
    accounts: dict[str, Account] = field(default_factory=dict[str, Account])
    meters: Meters = field(init=False)
    enforcement: Enforcement = Enforcement.OBSERVE
    topology: Enforcement = Enforcement.ENFORCE
    contracts: Guard = field(init=False)
    _sets: dict[Wish, EffectiveSet] = field(default_factory=dict[Wish, EffectiveSet])

    def __post_init__(self) -> None:
        self.watch = Watch(asyncio.get_running_loop())
        self.meters = Meters(self.store, self.clock, self.holder)
        self.contracts = Guard(self.store, self.registry, self.enforcement)

    async def open_run(
        self,
        origin: Origin,
        ownership: Ownership | None,
        wish: Wish,
        workspace: str | None,
        place: Callable[[], None] | None = None,
        beginning: Beginning | None = None,
        *,
        resumed: bool,
    ) -> Run:
        """Compute the effective set, open the run on record, and settle what a crash left open in its session."""
        gate = self.gates.get(origin.session_id)
        if gate is None:
            gate = self.gates[origin.session_id] = Gate(self.asker, self.ask_timeout)
        lane = self.lanes.of(origin.session_id, workspace)
        await self.contracts.look(origin.surface)
        run = Run(self, origin, ownership, self.effective(wish), gate, lane, wish.mode, workspace)
        run.place = place
        run.agent, run.caller = wish.agent, wish.caller
        begins = origin.session_id not in self.accounts
        run.account = await self._account(origin.session_id, resumed=resumed)
        run.marks = run.account.marks
        run.began = self.clock.monotonic()
        run.allowance = self.run_allowance.within(wish.agent.allowance)
        run.budgeted = bool(run.allowance or self.session_allowance)
        run.guard = self.loop_guard(wish)
        await run.opened(beginning)
        await self.show(run, wish)
        if self.listeners and begins:
            await self._begin_session(run)
        if resumed:
            run.recovered = await recover(run)
        return run

    async def show(self, run: Run, wish: Wish) -> None:
        """Give a run whose tools are shown by need the display for that."""
        if self.discovery is not None and SEARCH in run.tools:
            await self.discovery.open_display(run, wish)

    def effective(self, wish: Wish) -> EffectiveSet:
        """The effective set for a wish; kept while neither tools nor rules changed, and updated by what did."""
        snapshot = self.registry.snapshot
        known = self._sets.get(wish)
        if known is not None and known.terms.policy.generation == self.policy.generation:
            fresh = known.following(snapshot)
        else:
            switched = self.switchboard.screen(wish.agent.agent_id, wish.role)
            screens = screens_of(wish, self.capabilities, self.plan_tools, switched)
            fresh = EffectiveSet.compile(self.registry, snapshot, screens, self._terms(wish))
        if fresh is not known:
            for weigh in self.weighers:
                weigh(fresh)
            if self.discovery is not None:
                self.discovery.weigh(fresh)
        self._sets.pop(wish, None)
        self._sets[wish] = fresh
        if len(self._sets) > CACHED_SETS:
            del self._sets[next(iter(self._sets))]
        return fresh

    async def end_session(self, session_id: str) -> None:
        """Grants, lanes and what was drawn in advance end with the session."""
        self.gates.pop(session_id, None)
        self.accounts.pop(session_id, None)
        self.lanes.forget(session_id)
        await self.meters.end_session(session_id)

    def loop_guard(self, wish: Wish) -> LoopGuard | None:
        """What watches the calls of a model for loops; a person may repeat whatever they like."""
        return LoopGuard(self.loop, key_of) if self.loop and wish.caller is Exposure.MODEL else None

    async def close(self) -> None:
        self.watch.close()
        if self.parking is not None:
            self.parking.close()
        await self.meters.close()

    def complain(self, problem: str) -> None:
        """Tell whoever runs the loop of something that no caller can be told."""
        asyncio.get_running_loop().call_exception_handler({"message": problem})

    async def _begin_session(self, run: Run) -> None:
        """Hooks hear of a session that begins here; one that objects keeps it from beginning."""
        try:
            await session_start(run)
        except Refusal as refusal:
            run.end_reason = "failed"
            await run.close()
            raise SessionRefused(refusal.message) from refusal

    async def _account(self, session_id: str, *, resumed: bool) -> Account:
        account = self.accounts.get(session_id)
        if account is None:
            account = await load_account(self.store, session_id) if resumed else Account(session_id)
            account = self.accounts.setdefault(session_id, account)
        return account

    def _terms(self, wish: Wish) -> Terms:
        commands = wish.agent.commands
        return Terms(
            self.policy,
            self.hooks,
            self.default_timeout,
            self.max_timeout,
            self.rates,
            self.meters,
            wish.agent.agent_id,
            self.judge if not commands or self.judge_with is None else self.judge_with(commands),
            Situation(wish.agent.agent_id, wish.role, wish.mode),
            None if self.enforcement is Enforcement.OFF else Post(self.contracts, wish.surface),
            wish.surface,
        )
