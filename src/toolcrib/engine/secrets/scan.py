"""Look for secrets in a text, or in as much of it as has arrived, from left to right.

Each source of spans decides from a bounded window, so a text gives the same spans whole or in pieces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.engine.secrets.find import LEFT, LOOK, Find, Stop
from toolcrib.engine.secrets.linear import Regex

HEAD_WIDTH = 512  # no head is longer
LINE = 2048  # an operator's own pattern sees one line, and no more of it than this


Taken = tuple[tuple[Find, ...], int]
Take = Callable[[bytes, int, int], Taken]


@dataclass(slots=True)
class Span:
    """A part of the text that is hidden; `shown` once its marker is out."""

    start: int
    end: int
    label: str
    shown: bool = False

    def shift(self, by: int) -> None:
        self.start -= by
        self.end -= by


class Source:
    """Spans that begin with a head: `take` says what a head is worth and where to look for the next one."""

    def __init__(self, heads: Regex, take: Take) -> None:
        self._heads = heads
        self._take = take
        self._done: int = 0
        self._found: int = 0
        self._open: tuple[Span, Stop] | None = None

    @property
    def safe(self) -> int:
        """No span that is still to be found begins before this."""
        return max(self._found, self._done - LEFT)

    def scan(self, text: bytes, *, whole: bool) -> list[Span]:
        """The spans found since the last time; all of them when the text is whole."""
        spans: list[Span] = []
        size = len(text)
        while self._open is None or self._close(text, whole):
            match = self._heads.search(text, self._done, size)
            start, end = match.span() if match else (size, size)
            if start >= size or not (whole or start + LOOK <= size):
                self._done = size if whole else max(self._done, min(start, size - HEAD_WIDTH))
                break
            finds, next_start = self._take(text, start, end)
            self._done = max(next_start, start + 1)
            for find in finds:
                self._add(find, spans)
        return spans

    def shift(self, by: int) -> None:
        self._done -= by
        self._found -= by

    def _add(self, find: Find, spans: list[Span]) -> None:
        span = Span(max(find.start, self._found), find.end, find.label)
        spans.append(span)
        self._done = self._found = span.end
        if find.stop is not None:
            self._open = (span, find.stop)

    def _close(self, text: bytes, whole: bool) -> bool:
        """Lengthen the open span up to its stop; says whether that has arrived."""
        assert self._open is not None
        span, stop = self._open
        size = len(text)
        match = stop.pattern.search(text, span.end)
        if match is not None and (whole or match.start() + stop.width <= size):
            span.end = match.end() if "closing" in stop.pattern.groupindex and match["closing"] else match.start()
        else:
            span.end = size if whole else max(span.end, size - stop.width + 1)
        self._done = self._found = span.end
        if whole or (match is not None and match.start() + stop.width <= size):
            self._open = None
        return self._open is None


class Lines:
    """Spans of an operator's own patterns, which may be of any length within a line."""

    def __init__(self, patterns: tuple[Regex, ...]) -> None:
        self._patterns = patterns
        self.safe = 0

    def scan(self, text: bytes, *, whole: bool) -> list[Span]:
        spans: list[Span] = []
        size = len(text)
        while self.safe < size:
            newline = text.find(b"\n", self.safe, self.safe + LINE)
            end = newline + 1 if newline >= 0 else min(size, self.safe + LINE)
            if newline < 0 and not whole and size < self.safe + LINE:
                break
            for pattern in self._patterns:
                found = (match.span() for match in pattern.finditer(text[self.safe : end], 0, end - self.safe))
                spans += (Span(self.safe + low, self.safe + high, "own_pattern") for low, high in found if high > low)
            self.safe = end
        return spans

    def shift(self, by: int) -> None:
        self.safe -= by
