"""The part of YAML that a definition needs: mappings, lists and plain values, each with its line. Nothing that acts,
refers or grows: no tags, anchors, aliases, directives or second documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from toolcrib.values.noun import frozen

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

MOST_CHARACTERS = 128 * 1024
MOST_LEVELS = 12
_WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
_FRACTION = re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}

Value = str | int | float | bool | tuple["Node", ...] | dict[str, "Node"] | None


@frozen
class Node:
    """A value and the line it stands on."""

    value: Value
    line: int


class YamlError(Exception):
    """The text is not the YAML that is read here."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_yaml(text: str, first_line: int = 1) -> Node:
    """The one document in a text; lines are counted from `first_line`."""
    import yaml  # only where there is a definition to read

    if len(text) > MOST_CHARACTERS:
        raise YamlError(f"is longer than {MOST_CHARACTERS >> 10} Ki characters", first_line)
    parse: Callable[..., Iterator[Event]] = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    try:
        return _Reader(first_line).document(parse(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark is not None else 0)
        raise YamlError(f"is not YAML: {error.problem or error.context}", line) from None
    except yaml.YAMLError as error:
        raise YamlError(f"is not YAML: {str(error).partition(chr(10))[0]}", first_line) from None


class _Reader:
    """Builds nodes from the events of the parser, and stops at the first that is not welcome."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line

    def document(self, events: Iterator[Event]) -> Node:
        found: Node | None = None
        for event in events:
            match type(event).__name__:
                case "DocumentStartEvent":
                    if found is not None:
                        raise self._refused(event, "holds a second document")
                    if getattr(event, "version", None) or getattr(event, "tags", None):
                        raise self._refused(event, "holds a directive")
                case "StreamStartEvent" | "StreamEndEvent" | "DocumentEndEvent":
                    continue
                case _:
                    found = self._node(event, events, 0)
        return found or Node(None, self.first_line)

    def _node(self, event: Event, events: Iterator[Event], level: int) -> Node:
        if level > MOST_LEVELS:
            raise self._refused(event, f"is nested more than {MOST_LEVELS} levels deep")
        kind = type(event).__name__
        if kind == "AliasEvent" or getattr(event, "anchor", None):
            raise self._refused(event, "uses an anchor or an alias; write the value out")
        if getattr(event, "tag", None):
            raise self._refused(event, "uses a tag; write plain values")
        if kind == "ScalarEvent":
            return Node(_scalar(event), self._line(event))  # pyright: ignore[reportArgumentType]
        if kind == "SequenceStartEvent":
            return Node(self._items(events, level), self._line(event))
        return Node(self._members(events, level), self._line(event))

    def _items(self, events: Iterator[Event], level: int) -> tuple[Node, ...]:
        found: list[Node] = []
        while type(event := next(events)).__name__ != "SequenceEndEvent":
            found.append(self._node(event, events, level + 1))
        return tuple(found)

    def _members(self, events: Iterator[Event], level: int) -> dict[str, Node]:
        found: dict[str, Node] = {}
        while type(event := next(events)).__name__ != "MappingEndEvent":
            key = self._node(event, events, level + 1)
            if not isinstance(key.value, str) or not key.value:
                raise self._refused(event, "has a key that is not a word; put it in quotes")
            if key.value in found:
                raise self._refused(event, f"has the key {key.value[:60]!r} twice")
            value = self._node(next(events), events, level + 1)
            found[key.value] = Node(value.value, key.line)
        return found

    def _line(self, event: Event) -> int:
        mark = event.start_mark
        return self.first_line + (mark.line if mark is not None else 0)

    def _refused(self, event: Event, problem: str) -> YamlError:
        return YamlError(problem, self._line(event))


def _scalar(event: ScalarEvent) -> str | int | float | bool | None:
    """A plain word as what it says; `on`, `yes` and dates are text, as they are to whoever writes them."""
    text: str = event.value
    if event.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FRACTION.fullmatch(text) else text
