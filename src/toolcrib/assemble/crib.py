"""The crib itself: its runs, its store and its redaction as the configuration wants them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.askers.inbox import answer
from toolcrib.assemble.asking import Asking, seat_asker
from toolcrib.assemble.discovery import include_agents, open_discovery
from toolcrib.assemble.opening import opening_mode
from toolcrib.assemble.scope import RunScope
from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.guidance import Advice, Prompting, with_advice
from toolcrib.catalog.registry import Registry
from toolcrib.catalog.toolset import Toolset
from toolcrib.dialects.advertise import advertise
from toolcrib.engine.bound import Limits
from toolcrib.engine.calibrate import observe
from toolcrib.engine.effective import Rates
from toolcrib.engine.follow import follow
from toolcrib.engine.runtime import Runtime
from toolcrib.engine.sessions import Sessions
from toolcrib.engine.wish import Wish
from toolcrib.executors.local import LocalExecutor
from toolcrib.policy.budget import Allowance
from toolcrib.policy.loop import LoopLimits
from toolcrib.policy.roles import role_of
from toolcrib.policy.rules import Policy
from toolcrib.ports import Clock, Executor, Hook, Ids, Question, Store
from toolcrib.stores.owners import owner_name
from toolcrib.values.event import Event
from toolcrib.values.identity import Principal, Role, Surface
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.permission import PermissionDecision
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Exposure
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.assemble.agents import Agents
    from toolcrib.assemble.hands import Hands
    from toolcrib.assemble.outside import Outside
    from toolcrib.assemble.rules import RuleBook
    from toolcrib.catalog.tokens_estimate import TokenEstimator
    from toolcrib.config import Config
    from toolcrib.config import LoopLimits as GivenLoopLimits
    from toolcrib.config.policies import Managed
    from toolcrib.engine.redact import Redactor
    from toolcrib.sources.mcp.source import McpSource

DAY = 86_400.0


class SystemClock:
    """Wall time for records, monotonic time for limits."""

    def __init__(self) -> None:
        self.now: Callable[[], float] = time.time
        self.monotonic: Callable[[], float] = time.monotonic


class RandomIds:
    """Ids that are unique across processes: a random part per process, a counter within it."""

    def __init__(self) -> None:
        self._base = os.urandom(5).hex() + "n"
        self._numbers = count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{self._base}{next(self._numbers)}"


@frozen(kw_only=True)
class Parts:
    """What a caller may bring instead of the default: fakes in tests, other stores, other executors."""

    store: Store | None = None
    executor: Executor | None = None
    clock: Clock | None = None
    ids: Ids | None = None
    managed: Managed | None = None


class Toolcrib:
    """The crib: tools come in, runs check them out, every call passes one counter and is signed for."""

    def __init__(
        self,
        runtime: Runtime,
        config: Config,
        sessions: Sessions,
        rules: RuleBook,
        hands: Hands | None = None,
        servers: McpSource | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.runtime = runtime
        self.config = config
        self.sessions = sessions
        self.hands = hands
        self.servers = servers
        self.outside = outside
        self.rules = rules

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        *,
        home: str | Path | None = None,
        project: str | Path | None = None,
        config: Mapping[str, Json] | None = None,
        tools: Iterable[object] = (),
        asker: Asking = None,
        hooks: Iterable[Hook] = (),
        capabilities: Iterable[str] = (),
        parts: Parts | None = None,
    ) -> AsyncGenerator[Toolcrib, None]:
        """Open the crib on a home folder; every argument is optional."""
        from toolcrib.assemble.agents import load_agents  # needed when a crib is opened, not when a tool is marked
        from toolcrib.assemble.kits import switchboard_of
        from toolcrib.assemble.outside import open_outside
        from toolcrib.assemble.rules import MANAGED, RuleBook, keep_reading
        from toolcrib.assemble.servers import open_servers
        from toolcrib.config import load

        settings = load(_path(home), _path(project), config, os.environ)
        parts = parts or Parts()
        async with AsyncExitStack() as stack:
            clock = parts.clock or SystemClock()
            store = parts.store or open_store(settings, clock)
            stack.push_async_callback(store.close)
            executor = parts.executor or LocalExecutor(settings.tools.max_threads)
            stack.push_async_callback(executor.close)
            registry = Registry(settings.tools.schema_profile)
            given = list(tools)
            registry.add(gathered(given))
            rules = RuleBook(settings, parts.managed or MANAGED)
            runtime = build_runtime(settings, store, executor, clock, parts.ids or RandomIds(), registry)
            runtime.policy = rules.policy()
            runtime.hooks = tuple(hooks)
            seat_asker(asker, settings, runtime)
            runtime.capabilities = frozenset(capabilities)
            open_discovery(settings, runtime)
            stack.push_async_callback(runtime.close)
            sessions = Sessions(store, owner_name(), float(settings.store.lease_seconds), str(settings.project or ""))
            stack.push_async_callback(sessions.close)
            if settings.store.retention_days:
                stack.push_async_callback(_ended, asyncio.create_task(keep_tidy(store, clock, settings)))
            stack.push_async_callback(_ended, asyncio.create_task(keep_reading(partial(rules.refresh, runtime))))
            agents = load_agents(settings, switchboard_of(settings))
            runtime.agents, runtime.switchboard = agents.terms, agents.switched()
            include_agents(agents, runtime)
            board = runtime.switchboard
            runtime.prompting = with_advice(Prompting(board.toolkits), advice_of(given))
            hands = open_hands(settings, runtime, rules, agents)
            if hands is not None:
                stack.push_async_callback(hands.close)
            outside = open_outside(stack, settings, runtime, rules, agents, hands)
            stack.push_async_callback(open_hooks(settings, runtime, hands))
            board.check(registry.snapshot)
            servers = open_servers(settings, runtime)
            if servers is not None:
                stack.push_async_callback(servers.close)
            yield cls(runtime, settings, sessions, rules, hands, servers, outside)

    @classmethod
    @contextmanager
    def open_sync(
        cls,
        *,
        home: str | Path | None = None,
        project: str | Path | None = None,
        config: Mapping[str, Json] | None = None,
        tools: Iterable[object] = (),
        asker: Asking = None,
    ) -> Generator[Toolcrib, None, None]:
        """The same crib for code without an event loop: one background loop, the same objects, `call_sync` on runs."""
        from anyio.from_thread import start_blocking_portal

        with start_blocking_portal() as portal:
            opened = cls.open(home=home, project=project, config=config, tools=tools, asker=asker)
            with portal.wrap_async_context_manager(opened) as crib:
                crib.runtime.portal = portal
                yield crib

    def run(
        self,
        agent: str = "main",
        mode: str | None = None,
        session: str | None = None,
        workspace: str | Path | None = None,
        allowed_tools: Iterable[str] | None = None,
        caller: str = "model",
        role: str | None = None,
        approved_by: str | None = None,
        surface: str = "runtime",
    ) -> RunScope:
        """A run to be entered with `async with` (or `with`, after `open_sync`).

        `mode` and `role` are by default those of the agent's definition. `approved_by` names the person who ends plan
        mode, where the session was in it before.
        """
        terms = self.runtime.agents(agent)
        wish = Wish(
            terms,
            opening_mode(terms, mode, self.config.modes),
            Exposure.MODEL if caller == "model" else Exposure.MANUAL,
            None if allowed_tools is None else frozenset(allowed_tools),
            terms.role or Role.MAIN if role is None else role_of(role),
            surface=Surface(surface),
        )
        where = None if workspace is None else str(Path(workspace).absolute())
        return RunScope(self, wish, session, where, approved_by)

    def events(self, session: str | None = None, *, after: int = 0, follow_on: bool = True) -> AsyncIterator[Event]:
        """Events in commit order from a cursor on; without `follow_on` it ends at the present."""
        runtime = self.runtime
        return follow(runtime.store, runtime.live, session, after, until_idle=not follow_on)

    async def answer(self, request_id: str, decision: PermissionDecision, principal: Principal) -> Question:
        """Answer a question in the inbox; its call is settled by the owner of its session. The first answer counts."""
        return await answer(self.runtime.store, request_id, decision, principal)

    async def observe_usage(self, model: str, text: str, tokens: int) -> TokenEstimator:
        """Learn what a provider counted for a text; the estimator for that model, as it is now."""
        return await observe(self.runtime.store, model, text, tokens)

    def add(self, tools: Iterable[object]) -> None:
        """Register more tools, all or none; runs that are open keep the set they have."""
        given = list(tools)
        self.runtime.registry.add(gathered(given))
        self.runtime.prompting = with_advice(self.runtime.prompting, advice_of(given))


def gathered(tools: Iterable[object]) -> list[Tool]:
    """Tools from functions, tools and toolsets alike."""
    found: list[Tool] = []
    for item in tools:
        found.extend(item.tools if isinstance(item, Toolset) else (tool_of(item),))
    return found


def advice_of(tools: Iterable[object]) -> list[Advice]:
    """The guidance that toolsets bring."""
    return [Advice(each.name, each.names, each.guidance) for each in tools if isinstance(each, Toolset)]


def build_runtime(
    settings: Config, store: Store, executor: Executor, clock: Clock, ids: Ids, registry: Registry
) -> Runtime:
    """The runtime as the configuration wants it; who asks and what watches is added by the caller."""
    tools, limits = settings.tools, settings.limits
    return Runtime(
        store=store,
        registry=registry,
        policy=Policy(),
        executor=executor,
        clock=clock,
        ids=ids,
        redactor=open_redactor(settings),
        bounds=Limits(tools.result_limit_chars, 4 * tools.result_limit_chars),
        advertiser=advertise,
        rates=Rates(limits.rate, limits.agent_rate, limits.session_rate),
        run_allowance=Allowance(
            limits.calls_per_run, limits.seconds_per_run, limits.tokens_per_run, limits.money_per_run
        ),
        session_allowance=Allowance(
            limits.calls_per_session, limits.seconds_per_session, limits.tokens_per_session, limits.money_per_session
        ),
        loop=loop_limits(limits.loop),
        holder=owner_name(),
        default_timeout=tools.default_timeout_ms / 1000,
        max_timeout=tools.max_timeout_ms / 1000,
        ask_timeout=settings.policy.default_ask_timeout_ms / 1000,
        read_limit=limits.max_parallel_reads,
        agent_limit=limits.max_children_per_run,
        max_calls_per_turn=limits.max_calls_per_turn,
        max_depth=limits.max_depth,
        max_children_per_session=limits.max_children_per_session,
        plan_tools=settings.modes.plan_tools,
        enforcement=settings.guard.enforcement,
        topology=settings.guard.topology,
    )


def loop_limits(given: GivenLoopLimits) -> LoopLimits:
    """When repetition counts as a loop, as the configuration has it."""
    return LoopLimits(
        given.same_call, given.warn, given.same_tool, given.oscillation, given.no_progress, given.idle_seconds
    )


def open_hands(settings: Config, runtime: Runtime, rules: RuleBook, agents: Agents) -> Hands | None:
    """The toolsets of Toolcrib's own and what tools from outside stand on, when the configuration wants any."""
    runtime.judge, runtime.judge_with = rules.judge(), rules.judge
    from toolcrib.assemble.kits import mounted_toolsets
    from toolcrib.assemble.outside import is_wanted

    names = mounted_toolsets(settings, runtime.switchboard)
    if not names and not is_wanted(settings, agents):
        return None
    from toolcrib.assemble.hands import Hands  # a crib without them need not load them
    from toolcrib.executors.environment import command_environment

    hands = Hands(settings, runtime.store.artifacts, runtime.redactor)
    runtime.environment = ", ".join(sorted(command_environment(os.environ, settings.tools.env_allowlist)))
    runtime.folder = hands.default.project.root
    runtime.ground = hands.place_below
    runtime.farewells.append(hands.end_run)
    if "dynamic" in names:
        from toolcrib.assemble.dynamic import open_dynamic

        open_dynamic(settings, runtime, hands)
    made = hands.toolsets(names)
    runtime.registry.add(gathered(made))
    runtime.prompting = with_advice(runtime.prompting, advice_of(made))
    return hands


def open_hooks(settings: Config, runtime: Runtime, hands: Hands | None) -> Callable[[], Awaitable[None]]:
    """The hooks that the home declares; returns what ends them. A link that leads nowhere is a broken file."""
    if not os.path.lexists(settings.home.hooks):
        return _nothing
    from toolcrib.assemble.hooks import seat_hooks  # a home without hooks need not load them

    return seat_hooks(settings, runtime, hands and hands.processes)


async def _nothing() -> None:
    """There is nothing to end."""


async def keep_tidy(store: Store, clock: Clock, settings: Config) -> None:
    """Erase payloads and artifacts that are older than the operator wants to keep them: now, and once a day."""
    while True:
        before = clock.now() - settings.store.retention_days * DAY
        tidying = asyncio.ensure_future(_tidy(store, before))
        try:
            await asyncio.shield(tidying)
        finally:
            await asyncio.wait({tidying})
        await asyncio.sleep(DAY)


async def _tidy(store: Store, before: float) -> None:
    await store.purge(session_id=None, before=before)
    await store.artifacts.clean(before=before, keep_bytes=None)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def open_store(settings: Config, clock: Clock) -> Store:
    """The store the configuration names; its folders are made when they are missing."""
    from toolcrib.stores.sqlite import SqliteStore

    make_private(settings.home.root)
    return SqliteStore.open(
        settings.home.database,
        durability=settings.store.durability,
        clock=clock,
        artifacts_dir=settings.home.artifacts,
        patience=settings.store.busy_timeout_ms / 1000,
    )


def open_redactor(settings: Config) -> Redactor:
    """Redaction with the operator's own secret values and patterns, and with what MCP servers are given."""
    from toolcrib.assemble.servers import server_secrets
    from toolcrib.engine.redact import Redactor

    named = (os.environ.get(name, "") for name in settings.redaction.values_from_env)
    return Redactor([*filter(None, named), *server_secrets(settings)], settings.redaction.extra_patterns)


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can look into."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        problem = f"the home folder {folder} cannot be made: {error.strerror}"
        raise ConfigError(f"{problem}; choose another with --home") from error


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
