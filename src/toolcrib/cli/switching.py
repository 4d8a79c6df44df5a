"""Toolkits as a client may see them, without any code, and a switch that is changed on file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolcrib.assemble.agents import load_agents
from toolcrib.assemble.hands import tools_to_show
from toolcrib.assemble.kits import switchboard_of
from toolcrib.catalog.toolkit import Toolkit
from toolcrib.cli.command import Choices
from toolcrib.cli.ending import NotSo
from toolcrib.cli.modules import load_tools
from toolcrib.config import Config
from toolcrib.config.editing import set_switch
from toolcrib.engine.effective import near_names
from toolcrib.engine.switchboard import Switchboard
from toolcrib.policy.roles import BUILT_IN
from toolcrib.policy.switches import State, Switch
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolSpec
from toolcrib.values.start import Start
from toolcrib.values.tool import Tool

ABSENT = "no tool of this name is there"


@frozen
class Shown:
    """A member as a client sees it; `spec` is None while no such tool exists."""

    name: str
    start: Start
    spec: ToolSpec | None
    state: State

    @property
    def exists(self) -> bool:
        return self.spec is not None

    @property
    def word(self) -> str:
        return "-" if not self.exists else "on" if self.state.on else "off"

    @property
    def because(self) -> str:
        return self.state.because if self.exists else f"{ABSENT}; it would be {self.state}"


@frozen
class Kit:
    """A toolkit with the switch of one agent."""

    toolkit: Toolkit
    switch: Switch | None
    members: tuple[Shown, ...]

    @property
    def label(self) -> str:
        return f"{self.toolkit.label}: {self.toolkit.description}"


@frozen
class Changed:
    """A switch that was written: where, what it was before, and what its tools are now."""

    agent: str
    name: str
    value: bool
    was: bool | None
    place: str
    states: dict[str, State]
    missing: tuple[str, ...]


def find_kits(config: Config, modules: Iterable[str], agent: str, key: str = "") -> list[Kit]:
    """The toolkits as an agent has them: all, or the one with this key."""
    board, specs = _board(config, load_tools(modules))
    if key and key not in {toolkit.key for toolkit in board.toolkits}:
        raise NotSo(_no_toolkit(key, board, ()))
    return [_kit(board, toolkit, agent, specs) for toolkit in board.toolkits if key in ("", toolkit.key)]


def catalog_json(config: Config, agent: str, kits: Sequence[Kit]) -> dict[str, Json]:
    """What a client needs to draw switches. It is made of names and texts, so that none of our code has to travel."""
    sub_apps: list[Json] = [
        {"id": name, "agents": list(sub_app.agents or ("main",)), "tools": list(sub_app.tool_names)}
        for name, sub_app in config.sub_apps.items()
    ]
    return {"agent": agent, "toolkits": [_kit_json(kit) for kit in kits], "sub_apps": sub_apps}


def switch(choices: Choices, modules: Iterable[str], name: str, agent: str, value: bool) -> Changed:
    """Write a switch into the user's file; what would not hold afterwards is not written."""
    config, loaded = choices.load(), load_tools(modules)
    board, specs = _board(config, loaded)
    agents = load_agents(config, board)
    if agents.definitions and agent not in agents.definitions and agent not in BUILT_IN:
        raise NotSo(agents.unknown(agent))
    members = _affected(name, board, specs)
    held = config.tools_config.get(agent, {}).get(name)
    line = set_switch(config.home.config, agent, name, value, lambda: _check(choices, loaded))
    board, specs = _board(choices.load(), loaded)
    states = {each: board.state(each, agent) for each in members if each in specs}
    missing = tuple(each for each in members if each not in specs)
    was = None if held is None else held.on
    return Changed(agent, name, value, was, f"{config.home.config}:{line}", states, missing)


def changed_json(changed: Changed) -> dict[str, Json]:
    now: dict[bool, list[Json]] = {True: [], False: []}
    for name, state in changed.states.items():
        now[state.on].append({"name": name, "because": state.because})
    return {
        "agent": changed.agent,
        "name": changed.name,
        "switch": changed.value,
        "was": changed.was,
        "place": changed.place,
        "on": now[True],
        "off": now[False],
        "missing": list(changed.missing),
    }


def _board(config: Config, loaded: Sequence[Tool]) -> tuple[Switchboard, dict[str, ToolSpec]]:
    return switchboard_of(config), {tool.name: tool.spec for tool in (*tools_to_show(config), *loaded)}


def _check(choices: Choices, loaded: Sequence[Tool]) -> None:
    """The configuration with the new switch must be one that tools can be made from."""
    _board(choices.load(), loaded)


def _affected(name: str, board: Switchboard, specs: dict[str, ToolSpec]) -> tuple[str, ...]:
    for toolkit in board.toolkits:
        if toolkit.key == name:
            return toolkit.names
    if name not in specs and not any(name in toolkit.names for toolkit in board.toolkits):
        raise NotSo(_no_toolkit(name, board, specs))
    return (name,)


def _no_toolkit(name: str, board: Switchboard, specs: Sequence[str] | dict[str, ToolSpec]) -> str:
    keys = [toolkit.key for toolkit in board.toolkits]
    near = near_names(name, [*keys, *specs])
    also = "`toolcrib tools list --all` names tools, " if specs else ""
    hint = f"did you mean {' or '.join(near)}?" if near else f"{also}`toolcrib toolkits list` names toolkits"
    return f"there is no toolkit{' or tool' if specs else ''} {name[:80]!r}; {hint}"


def _kit(board: Switchboard, toolkit: Toolkit, agent: str, specs: dict[str, ToolSpec]) -> Kit:
    members = tuple(
        Shown(member.name, member.start, specs.get(member.name), board.state(member.name, agent))
        for member in toolkit.members
    )
    return Kit(toolkit, board.of(agent).get(toolkit.key), members)


def _kit_json(kit: Kit) -> dict[str, Json]:
    toolkit, switch = kit.toolkit, kit.switch
    return {
        "key": toolkit.key,
        "label": toolkit.label,
        "description": toolkit.description,
        "switch": None if switch is None else switch.on,
        "place": None if switch is None else switch.place,
        "roles": sorted(toolkit.roles),
        "on": sum(member.exists and member.state.on for member in kit.members),
        "members": [_member_json(member) for member in kit.members],
    }


def _member_json(member: Shown) -> dict[str, Json]:
    spec = member.spec
    return {
        "name": member.name,
        "title": "" if spec is None else spec.title,
        "description": "" if spec is None else spec.description,
        "effect": None if spec is None else spec.effect.value,
        "start": member.start.value,
        "exists": member.exists,
        "on": member.exists and member.state.on,
        "because": member.because,
    }
