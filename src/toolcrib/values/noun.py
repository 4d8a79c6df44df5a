"""How values are declared: slotted dataclasses that share what the library would write anew for each of them.

Most of what it takes to import a module is the compiling of methods of its dataclasses. Here only `__init__` is made
for each class; comparing, hashing and showing are the same few functions for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, kw_only: bool = False) -> type[T] | Callable[[type[T]], type[T]]:
    """A frozen, slotted dataclass, equal to what has the same fields."""

    def made(cls: type[T]) -> type[T]:
        return _compared(dataclass(frozen=True, slots=True, kw_only=kw_only, eq=False, repr=False)(cls))

    return made if cls is None else made(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def noun(cls: type[T]) -> type[T]:
    """The same, but only the type checker holds it to be frozen.

    For the values that every call makes: `frozen=True` makes construction six times as dear, and that was more than
    half of a governed call. All other values are frozen at run time too.
    """
    return _compared(dataclass(slots=True, eq=False, repr=False)(cls))


def _compared(cls: type[T]) -> type[T]:
    """Give a class the methods that it does not have of its own."""
    told = fields(cls)  # pyright: ignore[reportArgumentType]
    facts = _reader([one.name for one in told if one.compare])
    hashed = _reader([one.name for one in told if (one.compare if one.hash is None else one.hash)])
    shown = [one.name for one in told if one.repr]

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or facts(self) == facts(other)

    def __hash__(self: object) -> int:
        return hash(hashed(self))

    def __repr__(self: object) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({parts})"

    own = vars(cls)
    for method in (__eq__, __hash__, __repr__):
        # A class that says how it is compared is hashed by Python's own rule, which leaves None here.
        if method.__name__ not in own or (method is __hash__ and "__eq__" not in own):
            setattr(cls, method.__name__, method)
    return cls


def _reader(names: list[str]) -> Callable[[Any], object]:
    """What reads the fields that count as one value."""
    return attrgetter(*names) if names else lambda _: ()
