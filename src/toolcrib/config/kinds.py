"""Kinds of value: how each is read from a file or argument, refused, and written back.

Functions that make a `Kind`, not classes of it: dataclasses are slow to make, and every command pays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from toolcrib.config.problems import At, Invalid, Mistake, kind_with_article
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ToolcribError

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)
MAX_TEXT = 4_096
MAX_MEMBERS = 1_000


@frozen
class Kind(Generic[T]):
    """`read` returns the typed value or raises `Invalid`; `plain` is its inverse; `member` is what it is made of."""

    expected: str
    read: Callable[[object, At], T]
    plain: Callable[[T], Json]
    member: object = None


def integer(minimum: int, maximum: int, zero: str = "") -> Kind[int]:
    """A whole number within bounds; `zero` gives 0 a meaning of its own, outside the bounds."""
    expected = f"an integer from {minimum} to {maximum}" + (f" or 0 ({zero})" if zero else "")

    def read(value: object, at: At) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise at.wrong(expected, kind_with_article(value))
        if not (minimum <= value <= maximum or (zero and value == 0)):
            raise at.wrong(expected, str(value) if abs(value) < 10**18 else "a number of that size")
        return value

    return Kind(expected, read, _itself)


def number(minimum: float, maximum: float, zero: str = "") -> Kind[float]:
    """A number within bounds, whole or not; `zero` gives 0 a meaning of its own, outside the bounds."""
    expected = f"a number from {minimum} to {maximum}" + (f" or 0 ({zero})" if zero else "")

    def read(value: object, at: At) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise at.wrong(expected, kind_with_article(value))
        if not (minimum <= value <= maximum or (zero and value == 0)):
            raise at.wrong(expected, "a number of that size")
        return float(value)

    return Kind(expected, read, lambda value: int(value) if value.is_integer() else value)


def flag(hint: str = "") -> Kind[bool]:
    expected = f"true or false{hint}"

    def read(value: object, at: At) -> bool:
        if not isinstance(value, bool):
            raise at.wrong(expected, kind_with_article(value))
        return value

    return Kind(expected, read, _itself)


def worded(expected: str, parse: Callable[[str], T], write: Callable[[T], str]) -> Kind[T]:
    """A string that `parse` understands; what it refuses with a `ToolcribError` is a mistake here."""

    def read(value: object, at: At) -> T:
        if not isinstance(value, str):
            raise at.wrong(expected, kind_with_article(value))
        if len(value) > MAX_TEXT:
            raise at.wrong(f"at most {MAX_TEXT} characters", str(len(value)))
        try:
            return parse(value)
        except ToolcribError:
            raise at.wrong(expected, repr(value[:40])) from None

    return Kind(expected, read, write)


def choice(options: type[E]) -> Kind[E]:
    """One member of an enumeration, by its value."""

    def parse(word: str) -> E:
        if word in (member.value for member in options):
            return options(word)
        raise ToolcribError(word)

    return worded("one of " + ", ".join(f'"{member.value}"' for member in options), parse, lambda member: member.value)


def text(expected: str, pattern: str) -> Kind[str]:
    """A string of a known form."""

    def parse(value: str) -> str:
        if "\0" not in value and re.fullmatch(pattern, value, re.DOTALL):
            return value
        raise ToolcribError(value)

    return worded(expected, parse, str)


def file_path(relative: str = "") -> Kind[Path]:
    """A path without `..`; `~/` is the user's home. `relative` says what another path is below, if it may be one."""
    expected = f"a path that begins with / or ~/{', or is ' + relative if relative else ''}, without '..'"

    def read(value: object, at: At) -> Path:
        if not isinstance(value, str):
            raise at.wrong(expected, kind_with_article(value))
        path = at.user_home / value[2:] if value.startswith("~/") else Path(value)
        rooted = path.is_absolute() or (relative and not value.startswith("~"))
        if not value or len(value) > MAX_TEXT or "\0" in value or ".." in path.parts or not rooted:
            raise at.wrong(expected, repr(value[:40]))
        return path

    return Kind(expected, read, str)


def items(member: Kind[T]) -> Kind[tuple[T, ...]]:
    """An array of one kind; what is written twice counts once."""

    def read(value: object, at: At) -> tuple[T, ...]:
        if not isinstance(value, (list, tuple)):
            raise at.wrong("an array", kind_with_article(value))
        entries = cast("Sequence[object]", value)
        if len(entries) > MAX_MEMBERS:
            raise at.wrong(f"at most {MAX_MEMBERS} entries", str(len(entries)))
        found: list[T] = []
        mistakes: list[Mistake] = []
        for index, entry in enumerate(entries):
            try:
                found.append(member.read(entry, at.inside(index)))
            except Invalid as invalid:
                mistakes += invalid.mistakes
        if mistakes:
            raise Invalid(mistakes)
        return tuple(dict.fromkeys(found))

    def plain(value: tuple[T, ...]) -> Json:
        return [member.plain(entry) for entry in value]

    return Kind(f"an array; each entry {member.expected}", read, plain, member)


def in_order(member: Kind[T]) -> Kind[tuple[T, ...]]:
    """An array of one kind in which order and repetition matter, such as the words of a command."""

    def read(value: object, at: At) -> tuple[T, ...]:
        if not isinstance(value, (list, tuple)):
            raise at.wrong("an array", kind_with_article(value))
        entries = cast("Sequence[object]", value)
        if not 1 <= len(entries) <= MAX_MEMBERS:
            raise at.wrong(f"from 1 to {MAX_MEMBERS} entries", str(len(entries)))
        return tuple(member.read(entry, at.inside(index)) for index, entry in enumerate(entries))

    return Kind(
        f"an array in order; each entry {member.expected}", read, lambda value: [member.plain(each) for each in value],
        member,
    )  # fmt: skip


def optional(kind: Kind[T]) -> Kind[T | None]:
    """A string of another kind, or an empty one for none."""

    def read(value: object, at: At) -> T | None:
        return None if value == "" else kind.read(value, at)

    return Kind(f'{kind.expected} or "" for none', read, lambda value: "" if value is None else kind.plain(value))


def unordered(listed: Kind[tuple[T, ...]]) -> Kind[frozenset[T]]:
    """The same array as a set."""
    return Kind(
        listed.expected, lambda value, at: frozenset(listed.read(value, at)), lambda value: listed.plain(_sorted(value))
    )


def table(name: Kind[str], member: Kind[T]) -> Kind[Mapping[str, T]]:
    """A table whose names the user chooses."""

    def read(value: object, at: At) -> Mapping[str, T]:
        if not isinstance(value, Mapping):
            raise at.wrong("a table", kind_with_article(value))
        entries = cast("Mapping[object, object]", value)
        if len(entries) > MAX_MEMBERS:
            raise at.wrong(f"at most {MAX_MEMBERS} entries", str(len(entries)))
        found: dict[str, T] = {}
        mistakes: list[Mistake] = []
        for key, entry in entries.items():
            inside = at.inside(key if isinstance(key, str) else repr(key))
            try:
                found[name.read(key, inside)] = member.read(entry, inside)
            except Invalid as invalid:
                mistakes += invalid.mistakes
        if mistakes:
            raise Invalid(mistakes)
        return MappingProxyType(found)

    def plain(value: Mapping[str, T]) -> Json:
        return {key: member.plain(entry) for key, entry in value.items()}

    return Kind(f"a table; each name {name.expected}, each value {member.expected}", read, plain, member)


def _itself(value: bool | int) -> Json:
    return value


def _sorted(value: frozenset[T]) -> tuple[T, ...]:
    return tuple(sorted(value, key=str))
