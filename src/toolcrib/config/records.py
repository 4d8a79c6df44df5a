"""Entries with keys of their own (rules, rates, sub-apps): how they are read and how a project narrows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from toolcrib.config.keys import Key
from toolcrib.config.kinds import Kind, T, choice, file_path, flag, integer, items, number, text, worded
from toolcrib.config.narrowing import Narrowing, Widens, fewer, never
from toolcrib.config.problems import At, Invalid, KeyPath, Level, Mistake, kind_with_article, not_known, show_key
from toolcrib.policy.limits import Rate
from toolcrib.policy.rules import Layer, Rule, compile_pattern
from toolcrib.policy.switches import Switch
from toolcrib.policy.verdict import Verdict, verdict_of
from toolcrib.values.json import Json
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from toolcrib.policy.commands import CommandRule

R = TypeVar("R", Rule, "CommandRule")
REQUIRED: Any = object()  # the default of a key that has none
NOWHERE: Mapping[str, Callable[..., Any]] = MappingProxyType({})
LAYERS = {
    Level.MANAGED: Layer.MANAGED,
    Level.USER: Layer.USER,
    Level.PROJECT: Layer.PROJECT,
    Level.OVERRIDE: Layer.USER,
}


@frozen
class HostLists:
    """Hosts for some tools; without `allow_hosts` the general list holds for them."""

    allow_hosts: tuple[str, ...] | None = None
    deny_hosts: tuple[str, ...] = ()


@frozen
class SubApp:
    """A family of tools that agents get by data, not by code."""

    tool_names: tuple[str, ...]
    agents: tuple[str, ...] = ()
    place: str = field(default="", compare=False)


def record(
    keys: Mapping[str, Key[Any]], make: Callable[..., T], take: Mapping[str, Callable[[T], Any]] = NOWHERE
) -> Kind[T]:
    """A table with its own declared keys, made into a value by `make(at, **values)`.

    `take` says where the value keeps what is not an attribute by the key's own name.
    """
    expected = f"a table of {', '.join(keys)}"

    def read(value: object, at: At) -> T:
        if not isinstance(value, Mapping):
            raise at.wrong(expected, kind_with_article(value))
        entries = cast("Mapping[object, object]", value)
        mistakes = _unknown(entries, keys, at)
        values: dict[str, object] = {}
        for name, key in keys.items():
            try:
                values[name] = _member(name, key, entries, at.inside(name))
            except Invalid as invalid:
                mistakes += invalid.mistakes
        if mistakes:
            raise Invalid(mistakes)
        return make(at, **values)

    def plain(value: T) -> Json:
        held = {name: take[name](value) if name in take else getattr(value, name) for name in keys}
        return {name: key.kind.plain(held[name]) for name, key in keys.items() if held[name] != key.default}

    return Kind(expected, read, plain, keys)


def _unknown(entries: Mapping[object, object], keys: Mapping[str, Key[Any]], at: At) -> list[Mistake]:
    names = [name if isinstance(name, str) else repr(name) for name in entries if name not in keys][:3]
    return [(at.inside(name).path, not_known(name, {known: known for known in keys})) for name in names]


def _member(name: str, key: Key[Any], entries: Mapping[object, object], at: At) -> object:
    if name in entries:
        return key.kind.read(entries[name], at)
    if key.default is REQUIRED:
        raise at.mistaken(f"is missing: it must be {key.kind.expected}")
    return key.default


def entry(kind: Kind[T], default: T, doc: str, unit: str = "") -> Key[T]:
    """A key inside an entry: narrowed with the entry, not by itself."""
    return Key(kind, default, never(), doc, unit)


class MountAccess(StrEnum):
    READ = "read"
    WRITE = "write"


@frozen
class MountEntry:
    """A folder of the host for the workspace, and whether it may be written to."""

    path: Path
    access: MountAccess


def _mount(at: At, *, path: Path, access: MountAccess) -> MountEntry:
    return MountEntry(path, access)


def _command_rule(
    at: At,
    *,
    pattern: str,
    verdict: Verdict,
    flags: tuple[str, ...],
    because: str,
    deny_message: str,
    match: tuple[str, ...],
    not_match: tuple[str, ...],
) -> CommandRule:
    from toolcrib.policy.commands import CommandRule  # its tables are read only where a rule needs them

    layer, place = LAYERS[at.level], place_of(at)
    try:
        return CommandRule(verdict, pattern, flags, because, deny_message, match, not_match, layer, place)
    except ConfigError as error:
        raise at.mistaken(str(error)) from error


def place_of(at: At) -> str:
    """Where a rule stands, as decisions cite it: in a file of rules the line says it all."""
    return f"{at.place} {show_key(at.path)}" if at.path[0] == "policy" else at.place


def _host_lists(at: At, *, allow_hosts: tuple[str, ...] | None, deny_hosts: tuple[str, ...]) -> HostLists:
    return HostLists(allow_hosts, deny_hosts)


def _rate(at: At, *, max_calls: int, per_seconds: float) -> Rate:
    return Rate(max_calls, per_seconds)


def _sub_app(at: At, *, tool_names: tuple[str, ...], agents: tuple[str, ...]) -> SubApp:
    return SubApp(tool_names, agents, at.inside("tool_names").place)


def _pattern(written: str) -> str:
    compile_pattern(written)
    return written


TOOL_PATTERN = worded("a tool name pattern such as 'notes.read', 'notes.*' or '**'", _pattern, str)
VERDICT = worded(
    'one of "allow", "ask", "deny" (or "preApproved", "ask", "blocked")',
    verdict_of,
    lambda verdict: verdict.name.lower(),
)
SENTENCE = text("text without control characters", r"[^\x00-\x08\x0b-\x1f\x7f-\x9f]*")
WORDS = text("text without control characters", r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]+")
COMMAND_RULE = record(
    {
        "pattern": entry(WORDS, REQUIRED, "Words that the command begins with, such as `git status`."),
        "verdict": entry(VERDICT, REQUIRED, "What the rule says."),
        "flags": entry(items(WORDS), (), "Further flags that are harmless: `--json`, or `--out=` with a value."),
        "because": entry(SENTENCE, "", "Reason, for people and records."),
        "deny_message": entry(SENTENCE, "", "What the model is told when the call is refused."),
        "match": entry(items(WORDS), (), "Commands that the rule must cover; checked when it is read."),
        "not_match": entry(items(WORDS), (), "Commands that it must not cover; checked when it is read."),
    },
    _command_rule,
)
MOUNT = record(
    {
        "path": entry(file_path(), REQUIRED, "The folder."),
        "access": entry(choice(MountAccess), MountAccess.READ, "Whether it may be written to."),
    },
    _mount,
)
RATE = record(
    {
        "max_calls": entry(integer(1, 10**9), REQUIRED, "Calls in one burst.", "calls"),
        "per_seconds": entry(number(0.001, 31_536_000), REQUIRED, "Time in which the burst is refilled.", "s"),
    },
    _rate,
)
HOST = text(
    "a host in lower case, such as 'api.example.com', '*.example.com' or 'localhost:8080'",
    r"\*|(?:(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::(?:[0-9]{1,5}|\*))?",
)
HOST_LISTS = record(
    {
        "allow_hosts": entry(items(HOST), None, "Hosts that these tools may reach, in place of the general list."),
        "deny_hosts": entry(items(HOST), (), "Hosts that these tools never reach, besides the general ones."),
    },
    _host_lists,
)
_AGENT = text("the name of an agent", r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
SUB_APP = record(
    {
        "tool_names": entry(items(worded("a tool name", check_name, str)), REQUIRED, "Names of the tools."),
        "agents": entry(items(_AGENT), (), "Agents that get them; without any, `main`."),
    },
    _sub_app,
)


def _read_switch(value: object, at: At) -> Switch:
    return Switch(_FLAG.read(value, at), at.place)


_FLAG = flag(' (a dotted tool name needs quotes: "notes.read" = false)')
SWITCH: Kind[Switch] = Kind(_FLAG.expected, _read_switch, lambda switch: switch.on)


def _add_stricter_rules(held: tuple[R, ...], wanted: tuple[R, ...]) -> tuple[R, ...]:
    why = "says allow, and a project's rule may only say ask or deny"
    if allowing := [index for index, rule in enumerate(wanted) if rule.verdict is Verdict.ALLOW]:
        raise Widens({(index,): why for index in allowing})
    return (*held, *wanted)


def _lower_rates(held: Mapping[str, Rate], wanted: Mapping[str, Rate]) -> Mapping[str, Rate]:
    """Another pattern only adds a limit, since every one that matches applies; the same pattern may only get slower."""
    reasons: dict[KeyPath, str] = {}
    for pattern, rate in wanted.items():
        other = held.get(pattern, rate)
        if rate.max_calls > other.max_calls or _per_second(rate) > _per_second(other):
            reasons[pattern,] = f"may only be lowered by a project: {_words(rate)} is more than {_words(other)}"
    if reasons:
        raise Widens(reasons)
    return MappingProxyType({**held, **wanted})


def _per_second(rate: Rate) -> float:
    return rate.max_calls / rate.per_seconds


def _words(rate: Rate) -> str:
    return f"{rate.max_calls} per {rate.per_seconds:g} s"


Switches = Mapping[str, Mapping[str, Switch]]


def _switch_off(held: Switches, wanted: Switches) -> Switches:
    why = "is switched on, and a project may only switch off"
    if on := [(agent, name) for agent, switches in wanted.items() for name in switches if switches[name].on]:
        raise Widens(dict.fromkeys(on, why))
    return by_switch(held, wanted)


def by_switch(held: Switches, wanted: Switches) -> Switches:
    """An override replaces switch by switch: what it does not mention stays as it is."""
    changed = {agent: MappingProxyType({**held.get(agent, {}), **switches}) for agent, switches in wanted.items()}
    return MappingProxyType({**held, **changed})


def _fewer_tools(held: Mapping[str, SubApp], wanted: Mapping[str, SubApp]) -> Mapping[str, SubApp]:
    result = dict(held)
    reasons: dict[KeyPath, str] = {}
    for name, sub_app in wanted.items():
        if name not in held:
            reasons[name,] = "is not one of the operator's sub-apps, and a project may not add one"
            continue
        try:
            tools = _fewer_names(held[name], sub_app)
            result[name] = replace(sub_app, tool_names=tools, agents=_fewer_agents(held[name], sub_app))
        except Widens as widens:
            reasons |= {(name, *inside): why for inside, why in widens.reasons.items()}
    if reasons:
        raise Widens(reasons)
    return MappingProxyType(result)


def _fewer_names(held: SubApp, wanted: SubApp) -> tuple[str, ...]:
    try:
        return fewer().narrow(held.tool_names, wanted.tool_names)
    except Widens as widens:
        raise Widens({("tool_names", *inside): why for inside, why in widens.reasons.items()}) from widens


def _fewer_agents(held: SubApp, wanted: SubApp) -> tuple[str, ...]:
    """The operator's agents where a project names none; otherwise some of them."""
    if not wanted.agents:
        return held.agents
    try:
        return fewer().narrow(held.agents or ("main",), wanted.agents)
    except Widens as widens:
        raise Widens({("agents", *inside): why for inside, why in widens.reasons.items()}) from widens


_ADD_STRICTER = "add rules that say ask or deny"
STRICTER_RULES: Narrowing[tuple[Rule, ...]] = Narrowing(_ADD_STRICTER, _add_stricter_rules)
STRICTER_COMMANDS: Narrowing[tuple[CommandRule, ...]] = Narrowing(_ADD_STRICTER, _add_stricter_rules)
LOWER_RATES = Narrowing("add patterns, and lower the rate and the burst of the operator's", _lower_rates)
SWITCH_OFF = Narrowing("switch off", _switch_off)
FEWER_TOOLS = Narrowing("list fewer tools for the operator's sub-apps", _fewer_tools)
