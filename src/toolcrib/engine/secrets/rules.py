"""The rules of one redactor: the shipped ones, the values known to be secret, the operator's own patterns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property

from toolcrib.engine.secrets import assignments, encoded, places, tokens
from toolcrib.engine.secrets.find import Find
from toolcrib.engine.secrets.known import Known
from toolcrib.engine.secrets.linear import Hints, Regex, compile_one, compile_set, compile_text
from toolcrib.engine.secrets.scan import Lines, Source, Taken
from toolcrib.values.refusal import ConfigError


class Rules:
    """Compiled when the first text is looked at: most commands never redact, and re2 takes 20 ms to load."""

    def __init__(self, values: Iterable[str], patterns: Iterable[str]) -> None:
        self._values = tuple(values)
        self._own = tuple(_own(pattern) for pattern in patterns)

    def sources(self) -> tuple[Source | Lines, ...]:
        """Fresh sources for one text."""
        shipped = (Source(self._heads, self._take), Source(_encoded_heads(), self._take_encoded))
        return (*shipped, Lines(self._own)) if self._own else shipped

    @cached_property
    def hints(self) -> Hints:
        """Says of a text, in one pass, whether any source would find a head in it."""
        return compile_set((_all_heads(self._known), encoded.HEAD))

    def own_occurs(self, text: bytes) -> bool:
        """Whether one of the operator's own patterns occurs in a text."""
        return any(pattern.search(text, 0, len(text)) for pattern in self._own)

    @cached_property
    def _known(self) -> Known:
        return Known.of(self._values)

    @cached_property
    def _heads(self) -> Regex:
        return compile_one(_all_heads(self._known)) if self._known.forms else _shipped_heads()

    def _take(self, text: bytes, start: int, end: int) -> Taken:
        """What the head at `start` is worth; the first byte says which rules it can belong to."""
        first = text[start]
        if self._known.forms and (finds := self._known.find(text, start)):
            return finds, end
        if first in places.FIRST and (finds := places.find_place(text, start)):
            return finds, end
        resume = start + 1
        if first in assignments.FIRST:
            assigned = assignments.find_assignment(text, start)
            if not isinstance(assigned, int):
                return assigned, end
            if assigned > resume and not text.startswith(b"secret_", start):
                return (), assigned
        found = tokens.find_token(text, start)
        return ((), found) if isinstance(found, int) else (found, end)

    def _take_encoded(self, text: bytes, start: int, end: int) -> Taken:
        found = encoded.find_encoded(text, start, self._has_secret)
        return ((found,), end) if isinstance(found, Find) else ((), found)

    def _has_secret(self, decoded: bytes) -> bool:
        """Whether a decoded text holds a secret; what it may hold encoded again is not looked at."""
        return bool(Source(self._heads, self._take).scan(decoded, whole=True))


def _all_heads(known: Known) -> bytes:
    return b"|".join((*known.heads(), tokens.heads(), places.HEAD, assignments.HEAD))


@cache
def _shipped_heads() -> Regex:
    return compile_one(_all_heads(Known({})))


@cache
def _encoded_heads() -> Regex:
    return compile_one(encoded.HEAD)


def _own(pattern: str) -> Regex:
    try:
        return compile_text(pattern)
    except ValueError as error:
        raise ConfigError(f"the redaction pattern {pattern!r} is not an RE2 expression: {error}") from None
