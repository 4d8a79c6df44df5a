"""The runtime: what all runs of one process share, put together once by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.catalog.guidance import Prompting
from toolcrib.catalog.registry import Registry
from toolcrib.engine.bound import Limits
from toolcrib.engine.effective import (
    EffectiveSet,
    Judge,
    Screen,
    Terms,
    allowed_screen,
    capability_screen,
    exposure_screen,
)
from toolcrib.engine.flight import Watch
from toolcrib.engine.gate import Gate
from toolcrib.engine.lanes import Lanes
from toolcrib.engine.live import Live
from toolcrib.engine.recover import recover
from toolcrib.engine.run import Run
from toolcrib.engine.switchboard import Switchboard
from toolcrib.policy.limits import Bucket, Rate
from toolcrib.policy.rules import Policy, Situation
from toolcrib.ports import Asker, Clock, Executor, Hook, Ids, Store
from toolcrib.values.identity import Origin, Ownership, Role
from toolcrib.values.json import JsonObject
from toolcrib.values.name import NameTable
from toolcrib.values.spec import Exposure, ToolSpec

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from toolcrib.engine.redact import Redactor

CACHED_SETS = 32
Advertiser = Callable[[Iterable[ToolSpec], NameTable, str], list[JsonObject]]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the opener of a run asks for, as far as it shapes the effective set."""

    agent_id: str = "main"
    mode: str = "default"
    caller: Exposure = Exposure.MODEL
    allowed_tools: frozenset[str] | None = None
    role: Role = Role.MAIN


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
    portal: BlockingPortal | None = None
    capabilities: frozenset[str] = frozenset()
    rates: dict[str, Rate] = field(default_factory=dict[str, Rate])
    default_timeout: float = 120.0
    max_timeout: float = 600.0
    ask_timeout: float = 120.0
    read_limit: int = 32
    agent_limit: int = 4
    max_calls_per_turn: int = 128
    max_calls_per_run: int = 0
    max_depth: int = 5
    judge: Judge | None = None
    switchboard: Switchboard = field(default_factory=Switchboard)
    prompting: Prompting = field(default_factory=Prompting)
    farewells: list[Callable[[str], Awaitable[None]]] = field(default_factory=list[Callable[[str], Awaitable[None]]])
    """Called with a run's id when it ends: whatever it left behind ends with it."""
    watch: Watch = field(init=False)
    lanes: Lanes = field(default_factory=Lanes)
    live: Live = field(default_factory=Live)
    gates: dict[str, Gate] = field(default_factory=dict[str, Gate])
    buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict[tuple[str, str], Bucket])
    _sets: dict[Wish, EffectiveSet] = field(default_factory=dict[Wish, EffectiveSet])

    def __post_init__(self) -> None:
        self.watch = Watch(asyncio.get_running_loop())

    async def open_run(
        self,
        origin: Origin,
        ownership: Ownership | None,
        wish: Wish,
        workspace: str | None,
        place: Callable[[], None] | None = None,
        *,
        resumed: bool,
    ) -> Run:
        """Compute the effective set, open the run on record, and settle what a crash left open in its session."""
        gate = self.gates.get(origin.session_id)
        if gate is None:
            gate = self.gates[origin.session_id] = Gate(self.asker, self.ask_timeout)
        lane = self.lanes.of(origin.session_id, workspace)
        run = Run(self, origin, ownership, self.effective(wish), gate, lane, wish.mode, workspace)
        run.place = place
        await run.opened()
        if resumed:
            run.recovered = await recover(run)
        return run

    def effective(self, wish: Wish) -> EffectiveSet:
        """The effective set for a wish; kept while neither tools nor rules changed, and updated by what did."""
        snapshot = self.registry.snapshot
        known = self._sets.get(wish)
        if known is not None and known.terms.policy.generation == self.policy.generation:
            fresh = known.following(snapshot)
        else:
            fresh = EffectiveSet.compile(self.registry, snapshot, self._screens(wish), self._terms(wish))
        self._sets.pop(wish, None)
        self._sets[wish] = fresh
        if len(self._sets) > CACHED_SETS:
            del self._sets[next(iter(self._sets))]
        return fresh

    def end_session(self, session_id: str) -> None:
        """Grants and lanes end with the session."""
        self.gates.pop(session_id, None)
        self.lanes.forget(session_id)

    def close(self) -> None:
        self.watch.close()

    def _screens(self, wish: Wish) -> tuple[Screen, ...]:
        hidden = Exposure.MANUAL if wish.caller is Exposure.MODEL else Exposure.MODEL
        switched = self.switchboard.screen(wish.agent_id, wish.role)
        screens: list[Screen] = [exposure_screen(hidden), capability_screen(self.capabilities), switched]
        if wish.allowed_tools is not None:
            screens.append(allowed_screen(sorted(wish.allowed_tools)))
        return tuple(screens)

    def _terms(self, wish: Wish) -> Terms:
        return Terms(
            self.policy,
            self.hooks,
            self.default_timeout,
            self.max_timeout,
            self.rates,
            self.buckets,
            self.clock.monotonic,
            self.judge,
            Situation(agent=wish.agent_id, mode=wish.mode),
        )
