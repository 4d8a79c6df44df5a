"""The agents of a crib: those its home defines, those of a project that is trusted, and the built-in ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.assemble.bodies import definition_body
from toolcrib.engine.switchboard import Switchboard
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.roles import BUILT_IN
from toolcrib.policy.switches import Switch
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError
from toolcrib.values.start import Start

if TYPE_CHECKING:
    from toolcrib.agent.definitions import AgentDefinition
    from toolcrib.config import Config
    from toolcrib.trust import Content

PROJECT_AGENTS = ".toolcrib/agents"
ENDINGS = (".md", ".yaml", ".yml")
MOST_FILES = 1_000


@frozen
class Agents:
    """Definitions by id. `waiting` says why those of the project are not among them."""

    definitions: Mapping[str, AgentDefinition] = field(default_factory=dict[str, "AgentDefinition"])
    waiting: str = ""
    board: Switchboard = field(default_factory=Switchboard)
    trusted: frozenset[str] = frozenset()
    """Ids that the project defines; they are agents for as long as its content is trusted."""
    recheck: Callable[[], str] = str
    content: Content | None = None
    """What the project holds, as it was read and trusted."""

    def terms(self, agent_id: str) -> AgentTerms:
        """What is known of an agent. Where nothing is defined, every id is an agent that nothing narrows."""
        definition = self.definitions.get(agent_id)
        if definition is not None:
            if agent_id in self.trusted and (problem := self.recheck()):
                raise ConfigError(f"the agent {agent_id} is no longer trusted: {problem}")
            kits = {kit.key: kit for kit in self.board.toolkits}
            return definition.terms(name for key in definition.toolkits if key in kits for name in kits[key].names)
        if agent_id in BUILT_IN or not (self.definitions or self.waiting):
            return AgentTerms(agent_id, BUILT_IN.get(agent_id))
        raise ConfigError(self.unknown(agent_id))

    def switched(self) -> Switchboard:
        """The switchboard with what definitions switch: off at once, on only where the operator left it open."""
        switches = {agent: dict(held) for agent, held in self.board.switches.items()}
        locked = {kit.key for kit in self.board.toolkits if any(m.start is Start.LOCKED for m in kit.members)}
        for agent, definition in self.definitions.items():
            held = switches.setdefault(agent, {})
            for name, on in definition.switches.items():
                if not on:
                    held[name] = Switch(False, definition.place)
                elif name not in held and name in locked:
                    raise ConfigError(
                        f"{definition.place}: the toolkit {name} is the operator's to switch on: "
                        f"tools_config.{agent}.{name} = true in config.toml"
                    )
                else:
                    held.setdefault(name, Switch(True, definition.place))
        brought = {agent: each.toolsets.brought for agent, each in self.definitions.items() if each.toolsets.brought}
        return replace(self.board, switches=switches, brought=brought)

    def unknown(self, agent_id: str) -> str:
        """What to say of an id that is no agent."""
        from difflib import get_close_matches  # only a mistake has to pay for it

        if self.waiting:
            return f"there is no agent {agent_id[:80]!r} here: {self.waiting}"
        near = get_close_matches(agent_id, [*self.definitions, *BUILT_IN], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`toolcrib agents list` names them"
        return f"there is no agent {agent_id[:80]!r}; {hint}"


def load_agents(settings: Config, board: Switchboard) -> Agents:
    """Every definition in force; one that is wrong is an error, one that is not trusted waits."""
    content, waiting = project_content(settings)
    theirs = {} if content is None else content.below(PROJECT_AGENTS)
    prefix = f"{settings.project}/{PROJECT_AGENTS}/"
    files = [*_home_files(settings.home.agents)]
    files += [(prefix + name, body) for name, body in theirs.items() if _fits(name)]
    waiting = waiting if _proposes(settings.project) else ""
    if not files:
        return Agents(waiting=waiting, board=board)
    from toolcrib.agent.definitions import read_definitions  # and a parser, only where there is something to read

    found = read_definitions(files)
    trusted = frozenset(key for key, each in found.items() if each.place.startswith(prefix))
    return Agents(found, waiting, board, trusted, lambda: project_content(settings)[1], content)


def project_content(settings: Config) -> tuple[Content | None, str]:
    """What the project holds, when every byte of it is trusted; else why it is not."""
    if settings.project is None or not (settings.project / ".toolcrib").is_dir():
        return None, ""
    from toolcrib.trust import TrustBook, TrustError, read_content

    try:
        return TrustBook(settings.home.trust).require(read_content(settings.project)), ""
    except TrustError as error:
        return None, str(error)


def _proposes(project: Path | None) -> bool:
    """Whether a project holds definitions, trusted or not."""
    folder = None if project is None else project / PROJECT_AGENTS
    return folder is not None and folder.is_dir() and any(_fits(name) for name in os.listdir(folder))


def _home_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    try:
        names = sorted(name for name in os.listdir(folder) if _fits(name))
    except (FileNotFoundError, NotADirectoryError):
        return
    if len(names) > MOST_FILES:
        raise ConfigError(f"{folder} holds more than {MOST_FILES} definitions")
    for name in names:
        yield str(folder / name), definition_body(folder / name)


def _fits(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith(".")
