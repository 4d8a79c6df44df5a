"""The switchboard: where toolkits meet the operator's switches and become a screen of the effective set."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from toolcrib.catalog.toolkit import Toolkit
from toolcrib.policy.names import compile_pattern
from toolcrib.policy.switches import Membership, State, Switch, Switches, resolve
from toolcrib.values.identity import Role
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError, RegistrationError
from toolcrib.values.spec import ToolSpec

if TYPE_CHECKING:
    from toolcrib.engine.screens import Screen

SUB_APP_TAG = "sub_app"
"""Tools with this tag belong to sub-apps: an agent has those that one of its sub-apps names, and no other."""
BROUGHT = frozenset({"module", "package"})
"""Kinds of source that belong to definitions of agents: an agent has such a tool when its own definition says so."""
LATER = "mcp."
"""Tools whose names begin so come and go with their servers, so their switches are not checked against what is here."""


@frozen
class Binding:
    """The tools that one sub-app has, and the agents that get them."""

    sub_app: str
    agents: frozenset[str]
    tools: tuple[str, ...]
    place: str = ""


@frozen
class Switchboard:
    """Toolkits, switches and sub-apps as they stand; nothing here changes while a crib is open."""

    toolkits: tuple[Toolkit, ...] = ()
    switches: Mapping[str, Mapping[str, Switch]] = field(default_factory=dict[str, Mapping[str, Switch]])
    bindings: tuple[Binding, ...] = ()
    brought: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Name patterns of the tools that an agent's definition brings along: tools of sources in `BROUGHT`."""
    _memberships: Mapping[str, tuple[Membership, ...]] = field(init=False, repr=False, compare=False)
    _roles: Mapping[str, tuple[Toolkit, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keys = [toolkit.key for toolkit in self.toolkits]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise RegistrationError(f"there are two toolkits with the key {twice[0]!r}; a key belongs to one")
        memberships: dict[str, tuple[Membership, ...]] = {}
        bounded: dict[str, tuple[Toolkit, ...]] = {}
        for toolkit in self.toolkits:
            for member in toolkit.members:
                mine = Membership(toolkit.key, member.start)
                memberships[member.name] = (*memberships.get(member.name, ()), mine)
                if len(toolkit.roles) < len(Role):
                    bounded[member.name] = (*bounded.get(member.name, ()), toolkit)
        object.__setattr__(self, "_memberships", memberships)
        object.__setattr__(self, "_roles", bounded)

    def state(self, tool: str, agent: str, role: Role = Role.MAIN) -> State:
        """Whether a tool is on for an agent, and why."""
        for toolkit in self._roles.get(tool, ()):
            if role not in toolkit.roles:
                return State(False, f"toolkit {toolkit.key} is never for agents of role {role}")
        return resolve(tool, self._memberships.get(tool, ()), self.of(agent))

    def of(self, agent: str) -> Switches:
        return Switches(agent, self.switches.get(agent, {}))

    def screen(self, agent: str, role: Role = Role.MAIN) -> Screen:
        """Out: what is switched off for an agent, and sub-app tools that no sub-app of it names."""
        mine = frozenset(name for each in self.bindings if agent in each.agents for name in each.tools)
        mentioned = self.switches.get(agent, {}).keys() | self._memberships.keys()
        brought = [compile_pattern(pattern).fullmatch for pattern in self.brought.get(agent, ())]

        def screen(spec: ToolSpec) -> str | None:
            if spec.name in mentioned and not (state := self.state(spec.name, agent, role)).on:
                return f"off: {state.because}"
            if SUB_APP_TAG in spec.tags and spec.name not in mine:
                return f"off: it belongs to sub-apps, and no sub-app of agent {agent} names it"
            if spec.source.kind in BROUGHT and not any(fits(spec.name) for fits in brought):
                return f"it comes with the definitions of other agents, and that of {agent} does not list it"
            return None

        return screen

    def wanted_toolsets(self) -> tuple[str, ...]:
        """Toolsets that come along with a toolkit, because its switch is on for some agent."""
        on = {name for held in self.switches.values() for name, switch in held.items() if switch.on}
        return tuple(dict.fromkeys(name for kit in self.toolkits if kit.key in on for name in kit.toolsets))

    def check(self, tools: Iterable[str]) -> None:
        """Every switch and every binding must name something there is; everything that does not is told at once."""
        names = set(tools) | self._memberships.keys()
        keys = names | {toolkit.key for toolkit in self.toolkits}
        problems = [
            _unknown(switch.place, f"tools_config.{agent}", name, "a toolkit or a tool", keys)
            for agent, held in self.switches.items()
            for name, switch in held.items()
            if name not in keys and not name.startswith(LATER)
        ]
        problems += [
            _unknown(each.place, f"sub_apps.{each.sub_app}.tool_names", name, "a tool", names)
            for each in self.bindings
            for name in each.tools
            if name not in names and not name.startswith(LATER)
        ]
        if problems:
            raise ConfigError("\n".join(problems))


def _unknown(place: str, key: str, name: str, kind: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "load what brings it, or take the entry out"
    return f"{place}{': ' if place else ''}{key} names {name!r}, which is not {kind} here; {hint}"
