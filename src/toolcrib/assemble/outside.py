"""Tools from outside the program: declared commands, modules of agents' definitions, installed packages, HTTP
interfaces.

All are put on shelves of the registry. What cannot be used is set aside with its reason, and everything else works;
an agent whose definition names what cannot be used has no runs until that is mended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.assemble.declared import declared_files, read_declared
from toolcrib.assemble.servers import Shelf
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.layers import Layer
from toolcrib.policy.rules import Facts, Rule
from toolcrib.values.refusal import ConfigError, ToolcribError

if TYPE_CHECKING:
    from toolcrib.agent.definitions import AgentDefinition
    from toolcrib.agent.toolsets import Approval
    from toolcrib.assemble.agents import Agents
    from toolcrib.assemble.hands import Hands
    from toolcrib.assemble.rules import RuleBook
    from toolcrib.catalog.registry import Registry
    from toolcrib.config import Config
    from toolcrib.engine.runtime import Runtime
    from toolcrib.sources.module import Sandbox
    from toolcrib.values.tool import Tool

DECLARED = "declared"
Terms = Callable[[str], AgentTerms]


def open_outside(
    stack: AsyncExitStack, settings: Config, runtime: Runtime, rules: RuleBook, agents: Agents, hands: Hands | None
) -> Outside | None:
    """Tools from outside the program, with what definitions say of calls of them; None when there are none."""
    if hands is None or not is_wanted(settings, agents):
        return None
    outside = _loaded(settings, runtime, agents, hands)
    stack.push_async_callback(outside.close)
    runtime.agents = outside.terms(runtime.agents)
    if outside.rules:
        rules.further = (*rules.further, *outside.rules)
        runtime.policy = rules.policy(runtime.policy.generation)
    return outside


def _loaded(settings: Config, runtime: Runtime, agents: Agents, hands: Hands) -> Outside:
    """What came in and, where the configuration wants one, a watch on the files that it came from."""
    if not settings.tools.watch:
        return Outside.load(settings, agents, hands, runtime.registry)
    from toolcrib.assemble.watching import state_of, watch

    before = state_of(settings, agents)
    outside = Outside.load(settings, agents, hands, runtime.registry)
    outside.watching = asyncio.create_task(watch(outside, before, runtime.store))
    return outside


def outside_to_show(settings: Config, agents: Agents, registry: Registry) -> Outside | None:
    """The same to look at, in a registry of the caller's, without opening a store; None when there is nothing."""
    if not is_wanted(settings, agents):
        return None
    from toolcrib.assemble.hands import Hands, NothingKept
    from toolcrib.engine.redact import Redactor

    return Outside.load(settings, agents, Hands(settings, NothingKept(), Redactor()), registry)


def is_wanted(settings: Config, agents: Agents) -> bool:
    """Whether there is anything outside to be looked at."""
    definitions = agents.definitions.values()
    return (
        bool(settings.tools.packages)
        or bool(settings.apis)
        or settings.tools.watch
        or any(each.toolsets.brought for each in definitions)
        or bool(declared_files(settings.home.tools))
    )


@dataclass(slots=True)
class Outside:
    """What came in from outside, and what did not. `aside` maps a file or package to what is wrong with it."""

    settings: Config
    agents: Agents
    hands: Hands
    shelf: Shelf
    aside: dict[str, str] = field(default_factory=dict[str, str])
    broken: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Why an agent of this id cannot have what its definition names, by file or package."""
    parts: dict[str, frozenset[str]] = field(default_factory=dict[str, "frozenset[str]"])
    """The files that each module was made of, when it was last read."""
    rules: tuple[Rule, ...] = ()
    watching: asyncio.Task[None] | None = None

    @classmethod
    def load(cls, settings: Config, agents: Agents, hands: Hands, registry: Registry) -> Outside:
        """Read and register everything; nothing that is wrong outside keeps a crib from opening."""
        outside = cls(settings, agents, hands, Shelf(registry))
        outside.load_declared()
        outside.load_modules()
        outside._load_packages()
        outside._load_apis()
        return outside

    def load_declared(self) -> None:
        """The commands that the home declares, as they are now."""
        declared = read_declared(self.settings)
        folder = str(self.settings.home.tools)
        self.aside = {place: why for place, why in self.aside.items() if not place.startswith(folder)}
        self.aside.update(declared.aside)
        refused = self.shelf.publish(DECLARED, declared.tools(self.hands))
        places = {each.name: each.place for each in declared.definitions}
        self.aside.update({places[name]: f"{places[name]}: {why}" for name, why in refused.items()})

    def load_modules(self) -> None:
        """The modules that definitions name, each once however many name it."""
        from toolcrib.assemble.modules import module_files  # only where there may be some

        for file in module_files(self.agents, self.settings):
            self.load_module(file.path, file.read, file.wanted)
        self.rules = (*self._other_rules("custom."), *self._custom_rules())

    def load_module(
        self, path: str, read: Callable[[str], bytes], wanted: Mapping[str, tuple[str, ...]], *, keep: bool = False
    ) -> None:
        """Load one module for the agents that want tools of it. With `keep`, a module that is broken now leaves the
        tools that it gave before."""
        from toolcrib.sources.module import module_tools, read_module

        names = [name for each in wanted.values() for name in each]
        try:
            file = read_module(path, read)
            self.parts[path] = file.paths
            offer = module_tools(file, names, self.sandbox)
        except ToolcribError as error:
            self._set_aside(path, str(error), wanted)
            if not keep:
                self.shelf.publish(path, [])
            return
        refused = self.shelf.publish(path, list(offer.tools))
        taken = {name.removeprefix("custom."): self._taken(path, name) or why for name, why in refused.items()}
        missing = {**offer.missing, **taken}
        self.aside.pop(path, None)
        for agent, named in wanted.items():
            self.broken.get(agent, {}).pop(path, None)
            if wrong := [missing[name] for name in named if name in missing]:
                self._set_aside(path, "\n".join(wrong), {agent: named})

    def _taken(self, path: str, name: str) -> str | None:
        """Which other module has a tool of this name, if one has."""
        other = next((place for place, tools in self.shelf.held.items() if place != path and name in tools), None)
        return None if other is None else f"{path}: {other} has a tool {name} already; rename one of them"

    def withdraw(self, path: str, why: str, wanted: Mapping[str, tuple[str, ...]]) -> None:
        """Take the tools of a module away."""
        self.shelf.publish(path, [])
        self._set_aside(path, why, wanted)

    def terms(self, known: Terms) -> Terms:
        """What is known of agents; one that names what cannot be used is an error that says so."""

        def terms(agent_id: str) -> AgentTerms:
            if reasons := self.broken.get(agent_id):
                raise ConfigError(f"the agent {agent_id} cannot have its tools: {chr(10).join(reasons.values())}")
            return known(agent_id)

        return terms

    def sandbox(self) -> Sandbox:
        """The sandbox of the run that is being served."""
        from toolcrib.assemble.modules import sandbox_of

        return sandbox_of(self.hands)

    async def close(self) -> None:
        if self.watching is not None:
            self.watching.cancel()
            await asyncio.wait({self.watching})

    def _load_packages(self) -> None:
        """Packages that definitions name, for their agents; those of the configuration, for all."""
        from toolcrib.sources.module import package_tools, point_tools

        for name in self.settings.tools.packages:
            try:
                self._put(name, point_tools(name, self.sandbox))
            except ToolcribError as error:
                self.aside[name] = str(error)
        rules: list[Rule] = []
        for agent, definition in self.agents.definitions.items():
            for each in definition.toolsets.external:
                key = f"{each.package}:{each.imported}"
                try:
                    tools = package_tools(each.package, each.imported, self.sandbox)
                    self._put(f"external {key}", tools)
                except ToolcribError as error:
                    self._set_aside(key, str(error), {agent: ()})
                    continue
                rules += _approvals(
                    definition, f"external.{each.package}.", [tool.name for tool in tools], each.approval
                )
        self.rules = (*self.rules, *rules)

    def _load_apis(self) -> None:
        """The documents that the configuration names; what of one cannot be used leaves the rest of it."""
        for name, entry in self.settings.apis.items():
            from toolcrib.assemble.apis import api_offer  # only where there are some

            place = f"apis.{name}"
            try:
                offer = api_offer(self.settings, name, entry)
            except ToolcribError as error:
                self.aside[place] = str(error)
                continue
            refused = self.shelf.publish(place, offer.tools)
            wrong = {**offer.aside, **refused}
            self.aside.update({f"{place} {each}": f"{place}: {each}: {why}" for each, why in wrong.items()})

    def _put(self, key: str, tools: list[Tool]) -> None:
        if refused := self.shelf.publish(key, tools):
            raise ConfigError("\n".join(refused.values()))

    def _custom_rules(self) -> list[Rule]:
        found: list[Rule] = []
        for definition in self.agents.definitions.values():
            for module in definition.toolsets.custom:
                names = [f"custom.{name}" for name in module.tools]
                found += _approvals(definition, "custom.", names, module.approval)
        return found

    def _other_rules(self, prefix: str) -> list[Rule]:
        return [rule for rule in self.rules if not rule.names[0].startswith(prefix)]

    def _set_aside(self, place: str, why: str, wanted: Mapping[str, tuple[str, ...]]) -> None:
        self.aside[place] = why
        for agent in wanted:
            self.broken.setdefault(agent, {})[place] = why


def _approvals(definition: AgentDefinition, prefix: str, names: list[str], approval: Approval) -> list[Rule]:
    """What a definition says of calls of its own tools: rules for its agent alone."""
    facts = Facts(agent=(definition.id,))
    return [
        Rule(approval.of(name.removeprefix(prefix)), name, layer=Layer.AGENT, place=definition.place, facts=facts)
        for name in names
    ]
