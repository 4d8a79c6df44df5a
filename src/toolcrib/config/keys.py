"""A key is declared once, as a dataclass field: type, default, bounds, unit, documentation and how it narrows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from toolcrib.config.kinds import Kind
from toolcrib.config.narrowing import Narrowing, latest
from toolcrib.values.noun import frozen

T = TypeVar("T")
S = TypeVar("S")


@frozen
class Key(Generic[T]):
    """Everything there is to know about a key but its name."""

    kind: Kind[T]
    default: T
    project: Narrowing[T]
    doc: str
    unit: str = ""
    combine: Callable[[T, T], T] = latest
    at_most: str = ""
    example: str = ""

    @property
    def adds_up(self) -> bool:
        """Whether every layer contributes, so that its value has several places."""
        return self.combine is not latest


def key(
    kind: Kind[T],
    default: T,
    project: Narrowing[T],
    doc: str,
    unit: str = "",
    combine: Callable[[T, T], T] = latest,
    at_most: str = "",
    example: str = "",
) -> T:
    """Declare a key as a field. `at_most` names a sibling that the value is held to; `example` is a whole document."""
    declared = Key(kind, default, project, doc, unit, combine, at_most, example)
    return field(default_factory=lambda: default, metadata={"key": declared})


def section(holder: type[S]) -> S:
    """Declare a table of keys as a field."""
    return field(default_factory=holder, metadata={"section": holder})


@cache
def members(holder: type[object]) -> Mapping[str, Key[Any] | type[object]]:
    """The keys and sections declared directly in a section."""
    declared = {each.name: each.metadata for each in fields(cast("Any", holder))}
    found = {name: metadata.get("key") or metadata.get("section") for name, metadata in declared.items()}
    return MappingProxyType({name: member for name, member in found.items() if member is not None})


def all_keys(holder: type[object], prefix: str = "") -> Iterator[tuple[str, Key[Any]]]:
    """Every key below a section with its dotted name, in the order of declaration."""
    for name, member in members(holder).items():
        if isinstance(member, Key):
            yield prefix + name, member
        else:
            yield from all_keys(member, f"{prefix}{name}.")


def built(holder: type[object], values: Mapping[str, object], prefix: str = "") -> dict[str, Any]:
    """The fields of a section, its inner sections made, from values by dotted name."""
    return {
        name: values[prefix + name] if isinstance(member, Key) else member(**built(member, values, f"{prefix}{name}."))
        for name, member in members(holder).items()
    }
