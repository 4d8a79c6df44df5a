"""Reading the fields of a definition: typed, every mistake kept with its line, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from toolcrib.agent.yaml import Node, Value
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, ToolcribError

T = TypeVar("T")
MOST_TEXT = 64 * 1024
MOST_ENTRIES = 500
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class InvalidDefinition(ToolcribError):
    """A definition of an agent is wrong; the message names file, line and field."""

    reason = Reason.INVALID_AGENT_DEFINITION


class DuplicateDefinition(InvalidDefinition):
    """Two definitions have the same id."""

    reason = Reason.DUPLICATE_AGENT_DEFINITION


@dataclass(slots=True)
class Mistakes:
    """Everything that is wrong with one file."""

    path: str
    found: list[str] = field(default_factory=list[str])

    def add(self, line: int, message: str) -> None:
        self.found.append(f"{self.path}:{line}: {message}")

    def raise_any(self) -> None:
        if self.found:
            raise InvalidDefinition("\n".join(self.found[:20]))


@frozen
class Fields:
    """One mapping of a definition under a name, with the fields it may have."""

    node: Node
    name: str
    mistakes: Mistakes

    def known(self, names: Iterable[str]) -> Mapping[str, Node]:
        """The fields that are given, once every unknown one is told with the nearest known name."""
        value, allowed = self.node.value, tuple(names)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.wrong(self.node, self.name, "a mapping")
            return {}
        for name, node in value.items():
            if name not in allowed:
                self.mistakes.add(node.line, f"{self._full(name)} is not a known field; {_near(name, allowed)}")
        return {name: node for name, node in value.items() if name in allowed}

    def text(self, given: Mapping[str, Node], name: str, default: str = "") -> str:
        node = given.get(name)
        if node is None or node.value is None:
            return default
        if not isinstance(node.value, str) or len(node.value) > MOST_TEXT:
            self.wrong(node, self._full(name), "text")
            return default
        return node.value

    def words(self, given: Mapping[str, Node], name: str, check: Callable[[str], object]) -> tuple[str, ...]:
        """A list of words, each of which `check` accepts; what it refuses is a mistake in its own words."""
        node = given.get(name)
        if node is None or node.value is None:
            return ()
        if not isinstance(node.value, tuple) or len(node.value) > MOST_ENTRIES:
            self.wrong(node, self._full(name), "a list")
            return ()
        found: list[str] = []
        for each in node.value:
            if not isinstance(each.value, str):
                self.wrong(each, self._full(name), "a list of words")
            elif self.parsed(each, name, check) is not None:
                found.append(each.value)
        return tuple(dict.fromkeys(found))

    def parsed(self, node: Node, name: str, parse: Callable[[str], T]) -> T | None:
        """A word that `parse` understands."""
        if not isinstance(node.value, str):
            self.wrong(node, self._full(name), "a word")
            return None
        try:
            return parse(node.value)
        except ToolcribError as error:
            self.mistakes.add(node.line, f"{self._full(name)}: {error}")
            return None

    def count(self, given: Mapping[str, Node], name: str) -> int | None:
        node = given.get(name)
        if node is None or node.value is None:
            return None
        if isinstance(node.value, bool) or not isinstance(node.value, int) or not 0 < node.value <= 10**9:
            self.wrong(node, self._full(name), "a whole number from 1 to 1000000000")
            return None
        return node.value

    def inside(self, node: Node, name: str) -> Fields:
        return Fields(node, self._full(name), self.mistakes)

    def wrong(self, node: Node, name: str, expected: str) -> None:
        self.mistakes.add(node.line, f"{name} must be {expected}, not {_kind(node.value)}")

    def _full(self, name: str) -> str:
        return f"{self.name}.{name}" if self.name else name


def check_id(word: str) -> str:
    """An id of an agent, as files and commands can carry it."""
    if not ID.fullmatch(word):
        raise InvalidDefinition(f"{word[:60]!r} is not an id: use letters, digits, '_', '-' and '.'")
    return word


def _kind(value: Value) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case str():
            return "text"
        case dict():
            return "a mapping"
        case tuple():
            return "a list"
        case _:
            return str(value)


def _near(name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches  # only a mistake has to pay for it

    near = get_close_matches(name[:60].lower(), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
