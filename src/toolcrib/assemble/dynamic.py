"""The dynamic tools of a crib: read from the store before each run, shown only where somebody approved them."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.assemble.judging import network_rules
from toolcrib.assemble.servers import Shelf
from toolcrib.catalog.registry import Registry
from toolcrib.network import Reach
from toolcrib.ports import Contracts, Documents, HookAnswer, HookEvent, Unit
from toolcrib.toolsets.dynamic import DynamicServices, Index, load_definition, load_index, tool_of_definition
from toolcrib.toolsets.dynamic.building import unapproved, uses_of
from toolcrib.toolsets.dynamic.tools import MAKERS
from toolcrib.toolsets.shell.running import job_of, run_job
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.toolsets.shell.targets import argv_targets, command_of
from toolcrib.values.call import Invocation
from toolcrib.values.context import ToolContext
from toolcrib.values.contract import Basis
from toolcrib.values.event import Draft, Level
from toolcrib.values.identity import Origin, Surface
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Refusal, ToolcribError
from toolcrib.values.result import ToolResult, ToolReturn
from toolcrib.values.spec import ToolSpec
from toolcrib.values.target import Target
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.assemble.hands import Hands
    from toolcrib.config import Config
    from toolcrib.engine.effective import EffectiveSet
    from toolcrib.engine.runtime import Runtime

TOOLSET = "dynamic"
SESSION = "dynamic"
"""What becomes of stored tools belongs to no agent's session; it is recorded in one of its own."""


def open_dynamic(settings: Config, runtime: Runtime, hands: Hands) -> None:
    """Have the stored tools read before each run, and after each call that changed one."""
    hands.approved, hands.now = partial(is_approved, runtime.store), runtime.clock.now
    shelf = DynamicShelf(runtime, dynamic_services(settings, hands))
    runtime.preparations.append(shelf.refresh)
    runtime.weighers.append(shelf.weigh)
    runtime.hooks = (*runtime.hooks, _Changed(shelf.refresh))


def dynamic_services(settings: Config, hands: Hands) -> DynamicServices:
    """What dynamic tools stand on."""
    return DynamicServices(
        commands=_Commands(hands.commands()),
        reach=Reach(network_rules(settings)),
        check=lambda tool: _on_trial(settings, tool),
        approved=hands.approved,
        holds_secrets=hands.holds_secrets,
        now=hands.now,
        creators=frozenset(settings.dynamic.creators),
    )


async def is_approved(contracts: Contracts, surface: Surface, name: str, fingerprint: str) -> bool:
    """Whether the newest word of an operator about a tool on a surface is that it may be exactly this."""
    known = await contracts.approvals(surface, name)
    if not known:
        return False
    newest = known[-1]
    return newest.basis in (Basis.APPROVED, Basis.SNAPSHOT) and newest.fingerprint == fingerprint


async def stored_tools(documents: Documents, services: DynamicServices) -> list[Tool]:
    """The latest version of every tool that was not deleted; one that cannot be made is left out."""
    index = await load_index(documents.load)
    found, _ = await _made(index, documents, services)
    return found


@dataclass(slots=True)
class DynamicShelf:
    """The registry's part for dynamic tools, and why some of them are not for use."""

    runtime: Runtime
    services: DynamicServices
    shelf: Shelf = field(init=False)
    waiting: dict[Surface, dict[str, str]] = field(default_factory=dict[Surface, dict[str, str]])
    """By surface, the tools that nobody approved there as they are now, with what to do about it."""
    _seen: tuple[int, int] = (0, 0)
    _told: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.shelf = Shelf(self.runtime.registry)

    async def refresh(self) -> None:
        """Follow what this process or another changed since the last time: tools, and approvals."""
        store = self.runtime.store
        index, approvals = await load_index(store.load), await store.approval_count()
        if (index.document_version, approvals) == self._seen:
            return
        tools, problems = await _made(index, store, self.services)
        waiting = {surface: await self._lacking(tools, surface) for surface in Surface}
        problems |= self.shelf.publish(TOOLSET, tools)
        again = {name for each in Surface for name in waiting[each].keys() ^ self.waiting.get(each, {}).keys()}
        self.waiting, self._seen = waiting, (index.document_version, approvals)
        for name in again & self.held.keys():
            self.runtime.registry.replace(self.held[name])  # a new generation, so that sets are weighed again
        self._tell(problems)

    @property
    def held(self) -> dict[str, Tool]:
        return self.shelf.held.get(TOOLSET, {})

    def weigh(self, effective: EffectiveSet) -> None:
        """Keep out what nobody approved, and composites over tools that this run does not have."""
        waiting = self.waiting.get(effective.terms.surface, {})
        for name in self.held:
            effective.reconsider(name, waiting.get(name))
        left = True
        while left:
            left = False
            for name, tool in self.held.items():
                if name in effective and (reason := _missing(tool, effective)) is not None:
                    effective.reconsider(name, reason)
                    left = True

    async def _lacking(self, tools: Sequence[Tool], surface: Surface) -> dict[str, str]:
        return {
            tool.name: unapproved(tool.name, int(tool.spec.source.version), tool.fingerprint, surface)
            for tool in tools
            if not await self.services.approved(surface, tool.name, tool.fingerprint)
        }

    def _tell(self, problems: dict[str, str]) -> None:
        for name, problem in problems.items():
            text = f"{name}: {problem}"
            if text not in self._told:
                self._told.add(text)
                payload = {"tool": name, "problem": problem[:2_000]}
                draft = Draft("dynamic_tool_set_aside", SESSION, level=Level.WARNING, payload=payload)
                self.runtime.store.queue(Unit((draft,)))


def _missing(tool: Tool, effective: EffectiveSet) -> str | None:
    for name in uses_of(tool):
        if (why := effective.why(name)) is not None:
            return f"it uses {name}, which this run does not have: {why}"
    return None


async def _made(index: Index, documents: Documents, services: DynamicServices) -> tuple[list[Tool], dict[str, str]]:
    """The tools of an index, and what is wrong with those that cannot be made."""
    tools: list[Tool] = []
    problems: dict[str, str] = {}
    for name, latest in index.latest.items():
        if latest.deleted:
            continue
        try:
            definition = await load_definition(documents.load, name, latest.version)
            tools.append(tool_of_definition(definition, services))
        except (Refusal, ToolcribError) as error:
            problems[name] = str(error)
    return tools, problems


@frozen
class _Commands:
    """Scripts run as every other command does."""

    services: CommandServices

    def targets(self, argv: Sequence[str], label: str) -> Sequence[Target]:
        targets = argv_targets(self.services, {"argv": list(argv)})
        declared, words = command_of(targets), (*argv[:-1], label)
        command = replace(declared.commands[0], words=words)
        places = (target for target in targets if target is not declared)
        return (replace(declared, value=shlex.join(words), scope="", commands=(command,)), *places)

    async def run(self, context: ToolContext, argv: Sequence[str], stdin: bytes, timeout: float) -> ToolReturn:
        limit = min(timeout, self.services.timeout)
        job = job_of(self.services, command_of(context.targets), limit, stdin)
        return await run_job(self.services, context, replace(job, argv=tuple(argv)))


@frozen
class _Changed:
    """Hears of calls that changed a tool, when they are on record, so that open runs learn of it at once."""

    refresh: Callable[[], Awaitable[None]]
    name: str = "dynamic tools"
    event: HookEvent = HookEvent.POST_TOOL_USE
    timeout: float = 30.0
    lenient: bool = True
    declared: bool = False

    def matches(self, spec: ToolSpec) -> bool:
        return spec.name in MAKERS

    async def before(self, invocation: Invocation, origin: Origin) -> HookAnswer | None:
        return None

    async def after(self, invocation: Invocation, result: ToolResult, origin: Origin) -> None:
        if result.ok:
            await self.refresh()


def _on_trial(settings: Config, tool: Tool) -> None:
    Registry(settings.tools.schema_profile).add([tool])
