"""Definitions of agents: YAML, or markdown with front matter, read into values that narrow what a run is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import PurePath
from types import MappingProxyType

from toolcrib.agent.fields import DuplicateDefinition, Fields, InvalidDefinition, Mistakes, check_id
from toolcrib.agent.toolsets import NO_TOOLSETS, Toolsets, read_toolsets
from toolcrib.agent.yaml import Node, YamlError, read_yaml
from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.budget import Allowance
from toolcrib.policy.modes import Mode, mode_of
from toolcrib.policy.names import compile_pattern
from toolcrib.policy.roles import BUILT_IN
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

ENDINGS = (".md", ".yaml", ".yml")
MOST_BYTES = 512 * 1024
FIELDS = (
    "id", "name", "description", "model", "mode", "toolsets", "toolkits", "tools_config", "suggested_tools",
    "sub_agents", "limits", "allowed_tools",
)  # fmt: skip
LIMITS = ("calls", "children", "turns", "seconds", "tokens")


@frozen(kw_only=True)
class AgentDefinition:
    """What an agent is and what it may have. `suggested_tools` are a preference and grant nothing."""

    id: str
    name: str = ""
    description: str = ""
    model: str = ""
    mode: Mode | None = None
    toolsets: Toolsets = NO_TOOLSETS
    switches: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Toolkits and tools switched on or off, from `toolkits` and `tools_config`."""
    toolkits: tuple[str, ...] = ()
    suggested_tools: tuple[str, ...] = ()
    sub_agents: frozenset[str] | None = None
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    allowed_tools: frozenset[str] | None = None
    instructions: str = ""
    place: str = ""

    def terms(self, members: Iterable[str] = ()) -> AgentTerms:
        """The definition as the engine takes it; `members` are the tools of the toolkits that it names."""
        limits = self.limits
        return AgentTerms(
            self.id,
            BUILT_IN.get(self.id),
            self.mode,
            (*self.toolsets.patterns, *members),
            self.allowed_tools,
            self.sub_agents,
            self.toolsets.commands,
            limits.get("children"),
            Allowance(limits.get("calls", 0), limits.get("seconds", 0), limits.get("tokens", 0)),
        )


def read_definitions(files: Iterable[tuple[str, bytes]]) -> dict[str, AgentDefinition]:
    """Definitions by id, from paths and bytes; all that is wrong with any of them is told at once."""
    found: dict[str, AgentDefinition] = {}
    problems: list[str] = []
    for path, body in files:
        try:
            definition = read_definition(path, body)
        except InvalidDefinition as error:
            problems.append(str(error))
            continue
        if (other := found.get(definition.id)) is not None:
            raise DuplicateDefinition(f"{path} and {other.place} both define the agent {definition.id!r}; rename one")
        found[definition.id] = definition
    if problems:
        raise InvalidDefinition("\n".join(problems))
    return found


def read_definition(path: str, body: bytes) -> AgentDefinition:
    """One definition; InvalidDefinition names every mistake with its line."""
    mistakes = Mistakes(path)
    document, instructions = _document(path, body, mistakes)
    fields = Fields(document, "", mistakes)
    markdown = path.endswith(".md")
    given = fields.known(FIELDS if markdown else (*FIELDS, "instructions"))
    definition = _definition(fields, given, path, instructions if markdown else fields.text(given, "instructions"))
    mistakes.raise_any()
    return definition


def _document(path: str, body: bytes, mistakes: Mistakes) -> tuple[Node, str]:
    """The fields and, for markdown, the text below them."""
    if len(body) > MOST_BYTES:
        raise InvalidDefinition(f"{path}: is larger than {MOST_BYTES >> 10} KiB")
    try:
        text = body.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidDefinition(f"{path}: is not UTF-8 (byte {error.start})") from None
    first, instructions = 1, ""
    if path.endswith(".md"):
        head, fence, rest = text.removeprefix("---\n").partition("\n---")
        if not text.startswith("---\n") or not fence or (rest and not rest.startswith("\n")):
            raise InvalidDefinition(f"{path}:1: must begin with fields between two lines of ---")
        text, instructions, first = head, rest.strip("\n"), 2
    try:
        return read_yaml(text, first), instructions
    except YamlError as error:
        mistakes.add(error.line, str(error))
        mistakes.raise_any()
        raise


def _definition(fields: Fields, given: Mapping[str, Node], path: str, instructions: str) -> AgentDefinition:
    named = given.get("id", Node(PurePath(path).stem, 1))
    toolkits = _switches(fields, given, "toolkits")
    return AgentDefinition(
        id=fields.parsed(named, "id", check_id) or "",
        name=fields.text(given, "name"),
        description=fields.text(given, "description"),
        model=fields.text(given, "model"),
        mode=fields.parsed(given["mode"], "mode", _own_mode) if "mode" in given else None,
        toolsets=read_toolsets(fields.inside(given.get("toolsets", Node(None, 1)), "toolsets"), path),
        switches=MappingProxyType({**toolkits, **_switches(fields, given, "tools_config")}),
        toolkits=tuple(name for name, on in toolkits.items() if on),
        suggested_tools=fields.words(given, "suggested_tools", compile_pattern),
        sub_agents=frozenset(fields.words(given, "sub_agents", check_id)) if "sub_agents" in given else None,
        limits=_limits(fields, given),
        allowed_tools=frozenset(fields.words(given, "allowed_tools", compile_pattern))
        if "allowed_tools" in given
        else None,
        instructions=instructions,
        place=path,
    )


def _own_mode(word: str) -> Mode:
    mode = mode_of(word)
    if mode is Mode.BYPASS:
        raise ConfigError("bypass is the operator's to choose when a run is opened; a definition cannot")
    return mode


def _switches(fields: Fields, given: Mapping[str, Node], name: str) -> dict[str, bool]:
    """Names with true or false; a list, for toolkits, switches on."""
    node = given.get(name)
    if node is None or node.value is None:
        return {}
    if name == "toolkits" and isinstance(node.value, tuple):
        return dict.fromkeys(fields.words(given, name, check_id), True)
    if not isinstance(node.value, dict):
        fields.wrong(node, name, "a mapping of names to true or false")
        return {}
    found: dict[str, bool] = {}
    for key, switch in node.value.items():
        if isinstance(switch.value, bool):
            found[key] = switch.value
        else:
            fields.wrong(switch, f"{name}.{key[:60]}", "true or false")
    return found


def _limits(fields: Fields, given: Mapping[str, Node]) -> Mapping[str, int]:
    inside = fields.inside(given.get("limits", Node(None, 1)), "limits")
    known = inside.known(LIMITS)
    counts = {name: inside.count(known, name) for name in known}
    return MappingProxyType({name: count for name, count in counts.items() if count is not None})
