"""The toolsets of a definition: names with typed configuration. One that is not listed is absent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from types import MappingProxyType

from toolcrib.agent.fields import Fields, check_id
from toolcrib.agent.yaml import Node
from toolcrib.policy.commands import CommandRule
from toolcrib.policy.layers import Layer
from toolcrib.policy.names import compile_pattern
from toolcrib.policy.verdict import Verdict, verdict_of
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

FILESYSTEM = ("workspace.*", "code.list_dir", "code.read_file", "code.search", "code.write_file", "code.edit_file")
SHELL = ("shell.*", "code.run_command")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PACKAGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@frozen
class Approval:
    """What a definition says of calls of its own tools; a tool that asks for itself still does."""

    default: Verdict = Verdict.ASK
    tools: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])

    def of(self, tool: str) -> Verdict:
        return self.tools.get(tool, self.default)


@frozen
class CustomModule:
    """Tools from a Python file beside the definition; only those that are listed."""

    module: str
    tools: tuple[str, ...]
    approval: Approval = field(default_factory=Approval)


@frozen
class ExternalToolset:
    """A toolset of an installed package, by the name under which it is imported."""

    package: str
    imported: str
    approval: Approval = field(default_factory=Approval)


@frozen
class Toolsets:
    """Everything under `toolsets`. `listed` maps a name to the tools it is held to; empty = all of that toolset."""

    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    commands: tuple[CommandRule, ...] = ()
    custom: tuple[CustomModule, ...] = ()
    external: tuple[ExternalToolset, ...] = ()
    patterns: tuple[str, ...] = field(init=False)
    """Name patterns of every tool that the definition lets in."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", tuple(dict.fromkeys(self._patterns())))

    def _patterns(self) -> Iterator[str]:
        for name, tools in self.listed.items():
            yield from tools or _family(name)
        yield from self.brought

    @property
    def brought(self) -> tuple[str, ...]:
        """Name patterns of the tools that come with this definition, and belong to nobody whose own does not say so."""
        own = [f"custom.{tool}" for module in self.custom for tool in module.tools]
        return (*own, *(f"external.{toolset.package}.**" for toolset in self.external))


NO_TOOLSETS = Toolsets()


def read_toolsets(fields: Fields, place: str) -> Toolsets:
    """Read the mapping; names other than the four with a shape of their own are toolsets held to their `tools`."""
    value = fields.node.value
    if not isinstance(value, dict):
        if value is not None:
            fields.wrong(fields.node, fields.name, "a mapping of toolset names to their configuration")
        return NO_TOOLSETS
    listed: dict[str, tuple[str, ...]] = {}
    commands: list[CommandRule] = []
    custom: list[CustomModule] = []
    external: list[ExternalToolset] = []
    for name, node in value.items():
        if fields.parsed(Node(name, node.line), name, check_id) is None:
            continue
        for inside in _each(fields, node, name):
            if name == "custom":
                custom += _custom(inside)
            elif name == "external":
                external += _external(inside)
            elif name == "shell":
                listed[name], rules = _shell(inside, place)
                commands += rules
            else:
                listed[name] = inside.words(inside.known(("tools",)), "tools", partial(_member, name))
    return Toolsets(MappingProxyType(listed), tuple(commands), tuple(custom), tuple(external))


def _each(fields: Fields, node: Node, name: str) -> list[Fields]:
    """The configurations under a name: several only where there may be several modules or packages."""
    if isinstance(node.value, tuple) and name in ("custom", "external"):
        return [fields.inside(each, name) for each in node.value]
    return [fields.inside(node, name)]


def _shell(fields: Fields, place: str) -> tuple[tuple[str, ...], list[CommandRule]]:
    given = fields.known(("rules", "tools"))
    rules = given.get("rules")
    found: list[CommandRule] = []
    if rules is not None and isinstance(rules.value, tuple):
        for each in rules.value:
            found += _command_rule(fields.inside(each, "rules"), place)
    elif rules is not None and rules.value is not None:
        fields.wrong(rules, f"{fields.name}.rules", "a list")
    return fields.words(given, "tools", partial(_member, "shell")), found


def _command_rule(fields: Fields, place: str) -> list[CommandRule]:
    given = fields.known(("pattern", "approval", "because"))
    pattern, approval = given.get("pattern"), given.get("approval")
    if pattern is None or approval is None or not isinstance(pattern.value, str):
        message = "a rule has a pattern, such as 'git status', and an approval"
        fields.mistakes.add(fields.node.line, f"{fields.name}: {message}")
        return []
    verdict = fields.parsed(approval, "approval", verdict_of)
    if verdict is None:
        return []
    where, because = f"{place}:{pattern.line}", fields.text(given, "because")
    try:
        return [CommandRule(verdict, pattern.value, because=because, layer=Layer.AGENT, place=where)]
    except ConfigError as error:
        fields.mistakes.add(pattern.line, f"{fields.name}.pattern: {error}")
        return []


def _custom(fields: Fields) -> list[CustomModule]:
    given = fields.known(("module", "tools", "approval"))
    module = fields.text(given, "module")
    if not module.endswith(".py") or module.startswith(("/", "~")) or ".." in module.split("/"):
        fields.mistakes.add(fields.node.line, f"{fields.name}.module must name a Python file below the definition")
        return []
    tools = fields.words(given, "tools", _identifier)
    if not tools:
        fields.mistakes.add(fields.node.line, f"{fields.name}.tools must list the tools that are let in, by name")
    approval = _approval(fields, given)
    for name in approval.tools:
        if tools and name not in tools:
            fields.mistakes.add(
                fields.node.line, f"{fields.name}.approval.tools names {name[:60]!r}, which tools does not"
            )
    return [CustomModule(module.removeprefix("./"), tools, approval)]


def _external(fields: Fields) -> list[ExternalToolset]:
    given = fields.known(("package", "import", "approval"))
    package, imported = fields.text(given, "package"), fields.text(given, "import")
    if not _PACKAGE.fullmatch(package) or not _IDENTIFIER.fullmatch(imported):
        fields.mistakes.add(fields.node.line, f"{fields.name} must name a package, and what to import from it")
        return []
    return [ExternalToolset(package, imported, _approval(fields, given))]


def _approval(fields: Fields, given: Mapping[str, Node]) -> Approval:
    """A mapping of default and tools; one word alone is the default."""
    node = given.get("approval")
    if node is None or node.value is None:
        return Approval()
    if isinstance(node.value, str):
        word = fields.parsed(node, "approval", verdict_of)
        return Approval(Verdict.ASK if word is None else word)
    inside = fields.inside(node, "approval")
    members = inside.known(("default", "tools"))
    default = inside.parsed(members["default"], "default", verdict_of) if "default" in members else None
    tools: dict[str, Verdict] = {}
    named = members.get("tools", Node(None, node.line))
    if isinstance(named.value, dict):
        for name, word in named.value.items():
            verdict = inside.parsed(word, f"tools.{name[:60]}", verdict_of)
            tools[name] = Verdict.ASK if verdict is None else verdict
    elif named.value is not None:
        inside.wrong(named, f"{inside.name}.tools", "a mapping of tool names to approvals")
    return Approval(Verdict.ASK if default is None else default, MappingProxyType(tools))


def _family(toolset: str) -> tuple[str, ...]:
    families = {"filesystem": FILESYSTEM, "shell": SHELL}
    return families.get(toolset, (toolset, f"{toolset}.**"))


def _member(toolset: str, word: str) -> str:
    if not any(compile_pattern(pattern).fullmatch(word) for pattern in _family(toolset)):
        raise ConfigError(f"{word[:60]!r} is no tool of the toolset {toolset}; write whole names of its tools")
    return word


def _identifier(word: str) -> str:
    if not _IDENTIFIER.fullmatch(word):
        raise ConfigError(f"{word[:60]!r} is not a name in a Python module")
    return word
