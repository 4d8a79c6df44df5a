"""How a rule is written in TOML, in `config.toml` and in files of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from toolcrib.config.kinds import Kind, T, choice, items, text, unordered, worded
from toolcrib.config.problems import At, Invalid, Mistake, kind_with_article
from toolcrib.config.records import LAYERS, REQUIRED, SENTENCE, TOOL_PATTERN, WORDS, entry, place_of, record
from toolcrib.policy.examples import Example
from toolcrib.policy.predicates import Operation, Predicate
from toolcrib.policy.rules import ANYWHERE, Facts, Rule
from toolcrib.policy.shipped import RUN_MARKS
from toolcrib.policy.touching import Touching
from toolcrib.policy.verdict import Verdict, verdict_of
from toolcrib.values.identity import Role
from toolcrib.values.json import Json, JsonError, JsonObject, check_json
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import NOTHING, Effect, ToolType

NOTIFY = "notify"
_OPERATIONS = frozenset(each.value for each in Operation)


def one_or_more(member: Kind[T]) -> Kind[tuple[T, ...]]:
    """One value, or an array of them."""
    listed = items(member)

    def read(value: object, at: At) -> tuple[T, ...]:
        several = isinstance(value, (list, tuple))
        return listed.read(cast("object", value), at) if several else (member.read(value, at),)

    def plain(value: tuple[T, ...]) -> Json:
        return member.plain(value[0]) if len(value) == 1 else listed.plain(value)

    return Kind(f"{member.expected}, or an array of such", read, plain)


def any_json(expected: str) -> Kind[JsonObject]:
    """A table of anything that JSON can hold."""

    def read(value: object, at: At) -> JsonObject:
        if not isinstance(value, Mapping):
            raise at.wrong(expected, kind_with_article(value))
        try:
            check_json(cast("object", value))
        except JsonError as error:
            raise at.mistaken(str(error)) from None
        return cast("JsonObject", value)

    return Kind(expected, read, lambda value: value)


def _read_predicates(value: object, at: At) -> tuple[Predicate, ...]:
    """Nested tables are dotted paths; a table of operations is a condition, any other value must be equal."""
    found: list[Predicate] = []
    mistakes: list[Mistake] = []

    def walk(table: Mapping[str, Json], path: tuple[str, ...], inside: At) -> None:
        for name, member in table.items():
            here, spot = (*path, name), inside.inside(name)
            if not isinstance(member, Mapping):
                add(here, Operation.EQUALS, member, spot)
            elif member and member.keys() <= _OPERATIONS:
                for operation, wanted in member.items():
                    add(here, Operation(operation), wanted, spot)
            else:
                walk(member, here, spot)

    def add(path: tuple[str, ...], operation: Operation, wanted: Json, spot: At) -> None:
        try:
            found.append(Predicate(".".join(path), operation, wanted))
        except ConfigError as error:
            mistakes.append((spot.path, str(error)))

    walk(any_json("a table of conditions on arguments").read(value, at), (), at)
    if mistakes:
        raise Invalid(mistakes)
    return tuple(found)


def _plain_predicates(predicates: tuple[Predicate, ...]) -> Json:
    plain: dict[str, dict[str, Json]] = {}
    for predicate in predicates:
        plain.setdefault(predicate.path, {})[predicate.operation.value] = predicate.value
    return plain


def _example(at: At, **said: Any) -> Example:
    return Example(agent=said.pop("target_agent"), **said)


def _read_example(value: object, at: At) -> Example:
    return Example(tool=TOOL_PATTERN.read(value, at)) if isinstance(value, str) else _EXAMPLE_TABLE.read(value, at)


def _rule(at: At, **said: Any) -> Rule:
    """A rule from what its table says; it must be about something, and hold its own examples."""
    if not any(said[name] for name in _CONDITIONS):
        raise at.mistaken('names no tool, tags or effect; write tool = "**" for a rule about every tool')
    tools: tuple[str, ...] = said["tool"]
    verdict, notice = said["verdict"]
    facts = Facts(**{name: said[name] for name in _FACTS})
    try:
        return Rule(
            verdict,
            tools[0] if len(tools) == 1 else tools or "**",
            said["tags"],
            said["effect"],
            said["because"],
            said["deny_message"],
            LAYERS[at.level],
            place_of(at),
            ANYWHERE if facts == ANYWHERE else facts,
            Touching(**{attribute: said[name] for name, attribute in _TARGETS.items()}),
            said["arguments"],
            said["run_marks"],
            (said["because"] or "a rule wants to be told") if notice else "",
            said["match"],
            said["not_match"],
        )
    except ConfigError as error:
        raise at.mistaken(str(error)) from error


def _read_word(word: str) -> tuple[Verdict, bool]:
    return verdict_of(word), word.lower() == NOTIFY


_WORD = worded(
    'one of "allow", "notify", "ask", "deny" (or "preApproved", "ask", "blocked")',
    _read_word,
    lambda said: NOTIFY if said[1] else said[0].name.lower(),
)
_TAG = text("a tag of letters, digits, '_', '-', '.' and ':'", r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_NAMES = one_or_more(text("a name, * standing for anything", r"[^\x00-\x20\x7f-\x9f]{1,200}"))
_TOOLS = one_or_more(TOOL_PATTERN)
_PATTERNS = one_or_more(WORDS)
_MARKS = unordered(one_or_more(text("a mark such as 'sensitive', 'outside' or 'protected'", r"[a-z][a-z_-]{0,40}")))
RUN_MARK_SET = unordered(one_or_more(text(f"one of {', '.join(RUN_MARKS)}", "|".join(RUN_MARKS))))
_FACTS = ("category", "tool_type", "source", "server", "agent", "role", "mode")
_TARGETS = {
    "path": "path",
    "host": "host",
    "command": "command",
    "target_agent": "agent",
    "resource": "resource",
    "target_marks": "marks",
}
_CONDITIONS = ("tool", "tags", "effect", *_FACTS, *_TARGETS, "arguments", "run_marks")
_EXAMPLE_TABLE = record(
    {
        "tool": entry(TOOL_PATTERN, "", "Name of the tool."),
        "arguments": entry(any_json("a table of arguments"), NOTHING, "Arguments of the call."),
        "path": entry(_PATTERNS, (), "Paths that it touches."),
        "host": entry(_PATTERNS, (), "Hosts that it reaches."),
        "command": entry(_PATTERNS, (), "Commands that it runs."),
        "target_agent": entry(_PATTERNS, (), "Agents that it starts or steers."),
        "resource": entry(_PATTERNS, (), "Other things that it touches."),
        "run_marks": entry(RUN_MARK_SET, frozenset[str](), "Marks of the run."),
    },
    _example,
    {"target_agent": lambda example: example.agent},
)
_EXAMPLES = items(
    Kind(
        "the name of a tool, or a table of tool, arguments, path, host, command …", _read_example, _EXAMPLE_TABLE.plain
    )
)


def _of(part: str, attribute: str) -> Callable[[Rule], Any]:
    return lambda rule: getattr(getattr(rule, part), attribute)


RULE = record(
    {
        "tool": entry(
            _TOOLS, (), "Name patterns of the tools it is about; `*` stays inside one dotted part, `**` does not."
        ),
        "tags": entry(unordered(items(_TAG)), frozenset[str](), "Tags that a tool must all have."),
        "effect": entry(choice(Effect), None, "Effect that the call must have."),
        "category": entry(_NAMES, (), "Category of the tool, such as `FileSystem`."),
        "tool_type": entry(one_or_more(choice(ToolType)), (), "Kind of tool."),
        "source": entry(_NAMES, (), "Source of the tool: a kind such as `mcp`, or `kind:name`."),
        "server": entry(_NAMES, (), "Name of the MCP server it comes from."),
        "agent": entry(_NAMES, (), "Agent that calls."),
        "role": entry(one_or_more(choice(Role)), (), "Role of the agent that calls."),
        "mode": entry(_NAMES, (), "Mode of the run."),
        "run_marks": entry(RUN_MARK_SET, frozenset[str](), "What the run must have done before, all of it."),
        "path": entry(_PATTERNS, (), "Paths, as globs over resolved or virtual paths; relative = below `/workspace`."),
        "host": entry(_PATTERNS, (), "Hosts, with a port where it is not 80 or 443: `*.example.com:8443`."),
        "command": entry(_PATTERNS, (), "Words that commands begin with, as in `policy.commands`."),
        "target_agent": entry(_PATTERNS, (), "Agents that the call starts or steers."),
        "resource": entry(_PATTERNS, (), "Other things that a tool declares to touch."),
        "target_marks": entry(
            _MARKS, frozenset[str](), "To ask or deny: only targets with one of these marks. To allow: these too."
        ),
        "arguments": entry(
            Kind("a table of argument paths and conditions", _read_predicates, _plain_predicates),
            (),
            "Conditions on arguments: a value, or equals, in, matches, less, greater, present, length.",
        ),
        "verdict": entry(_WORD, REQUIRED, "What the rule says; notify allows and leaves a notice in the journal."),
        "because": entry(SENTENCE, "", "Reason, for people and records."),
        "deny_message": entry(SENTENCE, "", "What the model is told when the call is refused."),
        "match": entry(_EXAMPLES, (), "Calls that the rule must cover; checked when it is read."),
        "not_match": entry(_EXAMPLES, (), "Calls that it must not cover; checked when it is read."),
    },
    _rule,
    {
        "tool": lambda rule: rule.names,
        "verdict": lambda rule: (rule.verdict, bool(rule.notice)),
        **{name: _of("facts", name) for name in _FACTS},
        **{name: _of("touching", attribute) for name, attribute in _TARGETS.items()},
    },
)
