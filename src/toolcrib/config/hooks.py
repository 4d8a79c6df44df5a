"""hooks.json: what an operator wants to hear of and may veto. Read strictly, each mistake with its line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from toolcrib.config.document import read_bytes
from toolcrib.config.json_lines import Repeated, json_line_numbers
from toolcrib.config.keys import Key
from toolcrib.config.kinds import MAX_MEMBERS, Kind, T, choice, integer, table, text
from toolcrib.config.narrowing import never
from toolcrib.config.problems import (
    At,
    Invalid,
    InvalidConfig,
    KeyPath,
    Level,
    Mistake,
    Problem,
    kind_with_article,
    show_key,
)
from toolcrib.config.records import REQUIRED, TOOL_PATTERN, record
from toolcrib.ports import HookEvent
from toolcrib.values.json import Json, JsonError, parse_json
from toolcrib.values.noun import frozen

DEFAULT_TIMEOUT_MS = 30_000
LONGEST_TIMEOUT_MS = 600_000


class HookType(StrEnum):
    """How a hook runs: as a command, as a request, or as a Python function."""

    COMMAND = "command"
    HTTP = "http"
    PYTHON = "python"


class OnError(StrEnum):
    """What a hook that fails leads to."""

    DENY = "deny"
    ALLOW = "allow"


@frozen
class Matcher:
    """Which calls a hook is about; what is left out matches everything."""

    tool: str = "**"
    tag: str | None = None
    path_prefix: str | None = None


@frozen(kw_only=True)
class HookEntry:
    """One hook as it is written down. `place` is where."""

    event: HookEvent
    type: HookType
    matcher: Matcher
    name: str
    place: str
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    on_error: OnError = OnError.DENY
    argv: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    function: str = ""


def read_hooks(path: Path) -> tuple[HookEntry, ...]:
    """The hooks of a file; none when there is no such file, InvalidConfig when anything in it is wrong."""
    content = read_bytes(path)
    return () if content is None else parse_hooks(content, path)


def parse_hooks(content: bytes, path: Path, level: Level = Level.USER) -> tuple[HookEntry, ...]:
    """The hooks in bytes that the user stands for: those of the home, or of a project whose content was trusted."""
    document, lines = _document(content, path)

    def locate(key: KeyPath) -> str:
        for length in range(len(key), 0, -1):
            if line := lines.get(key[:length]):
                return f"{path}:{line}"
        return str(path)

    try:
        read: tuple[HookEntry, ...] = _FILE.read(document, At((), level, Path.home(), locate))
    except Invalid as invalid:
        problems = [Problem(locate(key), show_key(key), message) for key, message in invalid.mistakes]
        raise InvalidConfig(problems) from None
    return read


def _document(content: bytes, path: Path) -> tuple[Json, Mapping[KeyPath, int]]:
    try:
        written = content.decode("utf-8-sig")
        document = parse_json(written)
        return document, json_line_numbers(written)
    except UnicodeDecodeError as error:
        raise InvalidConfig([Problem(str(path), "", f"is not UTF-8 (byte {error.start})")]) from None
    except JsonError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise InvalidConfig([Problem(f"{path}:{line[1]}" if line else str(path), "", str(error))]) from None
    except Repeated as error:
        message = "is written twice in one object"
        raise InvalidConfig([Problem(f"{path}:{error.line}", show_key(error.path), message)]) from None
    except RecursionError:
        raise InvalidConfig([Problem(str(path), "", "is nested too deeply")]) from None


@frozen
class _Written:
    """A hook before it is known to which event and matcher it belongs."""

    values: Mapping[str, Any]
    place: str
    path: KeyPath


@frozen
class _Group:
    matcher: Matcher
    hooks: tuple[_Written, ...]


def _matcher(at: At, *, tool: str, tag: str, path_prefix: str) -> Matcher:
    return Matcher(tool or "**", tag or None, path_prefix or None)


def _written(at: At, **values: Any) -> _Written:
    """A hook has the keys of its type, and no others."""
    given = {name: value for name, value in values.items() if value != _KEYS[name].default}
    kind: HookType = values["type"]
    own = _OWN[kind]
    for name in given:
        if name in _TYPED and name not in own:
            raise at.inside(name).mistaken(f"is not a key of a {kind} hook; that has {', '.join(own)}")
    if kind is HookType.COMMAND:
        values["argv"] = _words(at, values["argv"], values["command"])
    elif not values[own[0]]:
        raise at.mistaken(f"names no {own[0]}: a {kind} hook needs it")
    return _Written(values, at.place, at.path)


def _words(at: At, argv: tuple[str, ...], command: str) -> tuple[str, ...]:
    """The words of a command: given one by one, or split as a shell would, without being given to one."""
    if bool(argv) == bool(command):
        raise at.mistaken("needs argv (an array of words) or command (one string), one of the two")
    try:
        words = argv or tuple(shlex.split(command))
    except ValueError as error:
        raise at.inside("command").mistaken(f"cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise at.mistaken("names no program")
    return words


def _group(at: At, *, matcher: Matcher, hooks: tuple[_Written, ...]) -> _Group:
    return _Group(matcher, hooks)


def _by_event(at: At, **groups: tuple[_Group, ...]) -> Mapping[str, tuple[_Group, ...]]:
    return groups


def _file(at: At, *, version: int, hooks: Mapping[str, tuple[_Group, ...]]) -> tuple[HookEntry, ...]:
    return tuple(
        _hook(HookEvent(event), group.matcher, written)
        for event, groups in hooks.items()
        for group in groups
        for written in group.hooks
    )


def _hook(event: HookEvent, matcher: Matcher, written: _Written) -> HookEntry:
    values = {name: value for name, value in written.values.items() if name != "command"}
    name = values.pop("name") or show_key(written.path[1:])
    return HookEntry(event=event, matcher=matcher, name=name, place=written.place, **values)


def _listed(member: Kind[T]) -> Kind[tuple[T, ...]]:
    """An array in which the same thing may stand twice: words of a command do."""

    def read(value: object, at: At) -> tuple[T, ...]:
        entries = cast("list[object]", value) if isinstance(value, list) else None
        if entries is None or len(entries) > MAX_MEMBERS:
            raise at.wrong(f"an array of at most {MAX_MEMBERS} entries", kind_with_article(cast("object", value)))
        found: list[T] = []
        mistakes: list[Mistake] = []
        for index, entry in enumerate(entries):
            try:
                found.append(member.read(entry, at.inside(index)))
            except Invalid as invalid:
                mistakes += invalid.mistakes
        if mistakes:
            raise Invalid(mistakes)
        return tuple(found)

    return Kind(f"an array; each entry {member.expected}", read, lambda value: [member.plain(one) for one in value])


def _key(kind: Any, default: Any, doc: str, unit: str = "") -> Key[Any]:
    return Key(kind, default, never(), doc, unit)


_LINE = text("text without control characters", r"[^\x00-\x1f\x7f-\x9f]*")
_NAME = text("a name of at most 80 characters", r"[^\x00-\x1f\x7f-\x9f]{0,80}")
_VARIABLE = text("the name of an environment variable", r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_URL = text("an http or https address", r"https?://[^\s\x00-\x1f\x7f-\x9f]+")
_FUNCTION = text("a place such as 'package.module:function'", r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_PATH = text("a path that begins with /", r"/[^\x00]*")
_HEADER = text("the name of a header", r"[A-Za-z0-9-]{1,100}")

_KEYS: dict[str, Key[Any]] = {
    "type": _key(choice(HookType), REQUIRED, "How the hook runs."),
    "name": _key(_NAME, "", "What it is called in records and refusals; its place when left out."),
    "timeout_ms": _key(integer(1, LONGEST_TIMEOUT_MS), DEFAULT_TIMEOUT_MS, "Time it has to answer.", "ms"),
    "on_error": _key(choice(OnError), OnError.DENY, "What a hook that fails leads to."),
    "argv": _key(_listed(_LINE), (), "Command: the program and its words."),
    "command": _key(_LINE, "", "Command: the same in one string."),
    "env": _key(_listed(_VARIABLE), (), "Command: further variables that it gets to see."),
    "url": _key(_URL, "", "HTTP: where the occasion is posted to."),
    "headers": _key(table(_HEADER, _LINE), MappingProxyType({}), "HTTP: headers to send."),
    "function": _key(_FUNCTION, "", "Python: `module:function`."),
}
_OWN = {
    HookType.COMMAND: ("argv", "command", "env"),
    HookType.HTTP: ("url", "headers"),
    HookType.PYTHON: ("function",),
}
_TYPED = frozenset(name for own in _OWN.values() for name in own)
_MATCHER = record(
    {
        "tool": _key(TOOL_PATTERN, "", "Name pattern of tools."),
        "tag": _key(_LINE, "", "A tag that tools must have."),
        "path_prefix": _key(_PATH, "", "A folder or file that calls must touch."),
    },
    _matcher,
)
_GROUP = record(
    {
        "matcher": _key(_MATCHER, Matcher(), "Which calls the hooks are about."),
        "hooks": _key(_listed(record(_KEYS, _written)), REQUIRED, "The hooks, in the order in which they are asked."),
    },
    _group,
)
_EVENTS = record(
    {event.value: _key(_listed(_GROUP), (), f"Hooks of the event {event.value}.") for event in HookEvent},
    _by_event,
)
_FILE = record(
    {
        "version": _key(integer(1, 1), REQUIRED, "The version of this form."),
        "hooks": _key(_EVENTS, REQUIRED, "Hooks by event."),
    },
    _file,
)
