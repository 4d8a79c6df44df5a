"""Regular expressions in linear time: the part of re2 that is used here, with types.

re2 is imported when the first pattern is compiled: it takes 20 ms, and most commands never need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol


class Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class Regex(Protocol):
    """One compiled pattern."""

    def search(self, text: bytes, pos: int, endpos: int) -> Match | None: ...
    def finditer(self, text: bytes, pos: int, endpos: int) -> Iterable[Match]: ...


class Hints(Protocol):
    """A set of patterns that a text is held against in one pass: the numbers of those that occur in it."""

    def Match(self, text: bytes) -> Sequence[int]: ...


def compile_one(pattern: bytes) -> Regex:
    """Compile a pattern over bytes."""
    return import_module("re2").compile(pattern, _options("LATIN1"))


def compile_text(pattern: str) -> Regex:
    """Compile a pattern over UTF-8; ValueError says what is wrong with it."""
    re2 = import_module("re2")
    try:
        return re2.compile(pattern.encode(), _options("UTF8"))
    except re2.error as error:
        raise ValueError(error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)) from None


def compile_set(patterns: Iterable[bytes]) -> Hints:
    hints = import_module("re2").Set.SearchSet(_options("LATIN1"))
    for pattern in patterns:
        hints.Add(pattern)
    hints.Compile()
    return hints


def _options(encoding: str) -> Any:
    re2 = import_module("re2")
    options = re2.Options()
    options.encoding = getattr(re2.Options.Encoding, encoding)
    options.log_errors = False
    return options
