"""How a project may narrow a key, and how an override combines with what the files say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from toolcrib.config.problems import KeyPath
from toolcrib.values.noun import frozen

T = TypeVar("T")
H = TypeVar("H")


class Widens(Exception):
    """A project asked for more than the operator gives: each reason with its place inside the value."""

    def __init__(self, reasons: Mapping[KeyPath, str]) -> None:
        super().__init__(reasons)
        self.reasons = reasons


@frozen
class Narrowing(Generic[T]):
    """`narrow(held, wanted)` is what holds below the operator's value, or `Widens`; `may` completes "A project may"."""

    may: str
    narrow: Callable[[T, T], T]


def lower(unlimited: int | None = None) -> Narrowing[Any]:
    """To a lower number; `unlimited` is the number that stands for none."""

    def narrow(held: float, wanted: float) -> float:
        if size(wanted) > size(held):
            raise Widens({(): f"may only be lowered by a project: {wanted} is more than {held}"})
        return wanted

    def size(value: float) -> float:
        return inf if value == unlimited else value

    return Narrowing("lower it", narrow)


def stricter(loose_to_strict: tuple[T, ...]) -> Narrowing[T]:
    """To a later member of an order that runs from loose to strict."""

    def narrow(held: T, wanted: T) -> T:
        if loose_to_strict.index(wanted) < loose_to_strict.index(held):
            reason = f"may only be made stricter by a project: {_word(wanted)} is looser than {_word(held)}"
            raise Widens({(): reason})
        return wanted

    return Narrowing(f"move it towards {_word(loose_to_strict[-1])}", narrow)


def fewer() -> Narrowing[tuple[Any, ...]]:
    """To a part of what the operator lists. Equal entries only: a folder below a root may be a link out of it."""

    def narrow(held: tuple[H, ...], wanted: tuple[H, ...]) -> tuple[H, ...]:
        why = "is not in the operator's list, and a project may only leave entries out"
        if added := [index for index, entry in enumerate(wanted) if entry not in held]:
            raise Widens({(index,): why for index in added})
        return tuple(entry for entry in held if entry in wanted)

    return Narrowing("list fewer of the operator's entries", narrow)


def fewer_but_some() -> Narrowing[tuple[Any, ...]]:
    """As `fewer`, for a list that means more when it is empty."""
    part = fewer()

    def narrow(held: tuple[H, ...], wanted: tuple[H, ...]) -> tuple[H, ...]:
        if held and not wanted:
            raise Widens({(): "may not be emptied by a project, since an empty list stands for no list"})
        return part.narrow(held, wanted)

    return Narrowing("list fewer of the operator's entries, and at least one", narrow)


def more() -> Narrowing[tuple[Any, ...]]:
    """By adding to a list that only takes away."""
    return Narrowing("add entries", together)


def never() -> Narrowing[Any]:
    def narrow(held: object, wanted: object) -> object:
        raise Widens({(): "cannot be set by a project"})

    return Narrowing("not set it", narrow)


def latest(held: T, wanted: T) -> T:
    """An override replaces what the files say."""
    return wanted


def together(held: tuple[H, ...], wanted: tuple[H, ...]) -> tuple[H, ...]:
    """An override adds to what the files say."""
    return tuple(dict.fromkeys((*held, *wanted)))


def by_entry(held: Mapping[str, T], wanted: Mapping[str, T]) -> Mapping[str, T]:
    """An override replaces entry by entry."""
    return MappingProxyType({**held, **wanted})


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'
