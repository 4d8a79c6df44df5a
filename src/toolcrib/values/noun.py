"""How a value is declared when millions of it are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def noun(cls: type[T]) -> type[T]:
    """A slotted dataclass that the type checker holds to be frozen.

    Only for the values that every call makes: `frozen=True` makes construction six times as dear, and that was more
    than half of a governed call. All other values are frozen at run time too.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
