"""The text as it arrives: a small window, a mark to go back to, and searches that survive any cut.

Reading functions are generators: they `yield` when they need more text and go on where they stopped. Nothing here
knows about calls.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from functools import lru_cache

_FEW = 512
Reading = Generator[None, None, None]


class Pieces:
    """Text that grows by small pieces. Joined now and then: a million tiny strings take many times their length."""

    __slots__ = ("_few", "_joined", "size")

    def __init__(self) -> None:
        self._few: list[str] = []
        self._joined: list[str] = []
        self.size = 0

    def write(self, text: str) -> None:
        few = self._few
        few.append(text)
        self.size += len(text)
        if len(few) >= _FEW:
            self._joined.append("".join(few))
            few.clear()

    def text(self) -> str:
        """Everything written so far."""
        if self._few or len(self._joined) > 1:
            self._joined = ["".join((*self._joined, *self._few))]
            self._few.clear()
        return self._joined[0] if self._joined else ""

    def cut(self, count: int) -> None:
        """Take the last `count` characters away."""
        self._joined = [self.text()[:-count]]
        self.size -= count


class Source:
    """The unread end of the text, plus what was read since the mark."""

    __slots__ = ("_kept", "_marked_at", "base", "closed", "marked", "pos", "window")

    def __init__(self) -> None:
        self.window = ""
        self.pos = 0
        self.base = 0
        self.closed = False
        self.marked = False
        self._marked_at = 0
        self._kept: Pieces | None = None

    @property
    def position(self) -> int:
        """Characters read so far."""
        return self.base + self.pos

    def refill(self, chunk: str) -> None:
        window, pos = self.window, self.pos
        if self.marked:
            if self._kept is None:
                self._kept = Pieces()
            self._kept.write(window[self._marked_at : pos])
            self._marked_at = 0
        self.base += pos
        self.pos = 0
        self.window = window[pos:] + chunk if pos < len(window) else chunk

    def mark(self) -> None:
        """Keep everything from here on, so that it can be had as text or read again."""
        self.marked = True
        self._marked_at = self.pos
        self._kept = None

    def peek(self) -> str:
        """Read white space; return the character after it if it is there already, else ""."""
        window, pos, size = self.window, self.pos, len(self.window)
        while pos < size and window[pos].isspace():
            pos += 1
        self.pos = pos
        return window[pos] if pos < size else ""

    def stands(self, literals: tuple[str, ...]) -> str:
        """The first of `literals` that stands whole in the window here, or ""."""
        window, pos = self.window, self.pos
        for literal in literals:
            if window.startswith(literal, pos):
                return literal
        return ""

    def since_mark(self) -> int:
        """Characters read since the mark."""
        kept = 0 if self._kept is None else self._kept.size
        return kept + self.pos - self._marked_at

    def text(self) -> str:
        """Everything read since the mark."""
        here = self.window[self._marked_at : self.pos]
        if self._kept is None:
            return here
        if here:  # moved, not added: a large text should not be there twice
            self._kept.write(here)
            self._marked_at = self.pos
        return self._kept.text()

    def view(self) -> tuple[str, int]:
        """A text that holds everything read since the mark, and where in it the mark is. Makes no copy if it can."""
        return (self.window, self._marked_at) if self._kept is None else (self.text(), 0)

    def back(self, count: int) -> None:
        """Unread the last `count` characters."""
        self.pos -= count
        if self._kept is not None and self.pos < self._marked_at:
            self._kept.cut(self._marked_at - self.pos)
            self._marked_at = self.pos

    def release(self) -> None:
        self.marked = False
        self._kept = None

    def rewind(self) -> None:
        """Go back to the mark."""
        if self._kept is None:
            self.pos = self._marked_at
        else:
            text = self.text()
            self.base += self.pos - len(text)
            self.window = text + self.window[self.pos :]
            self.pos = 0
        self.release()

    def unread(self, text: str) -> None:
        """Put text that was read before back in front of the unread text."""
        self.base += self.pos - len(text)
        self.window = text + self.window[self.pos :]
        self.pos = 0


class Markers:
    """A set of literal strings to look for at once. `ahead` are patterns that must follow some of them."""

    __slots__ = ("_first", "_longest", "_prefixes", "literals", "search")

    def __init__(self, literals: Iterable[str], ahead: Mapping[str, str] | None = None) -> None:
        self.literals = tuple(sorted(set(literals), key=len, reverse=True))
        patterns = (
            f"{re.escape(it)}(?={ahead[it]})" if ahead and it in ahead else re.escape(it) for it in self.literals
        )
        self.search = re.compile("|".join(patterns) or r"(?!)").search
        self._prefixes = {literal[:size] for literal in self.literals for size in range(1, len(literal))}
        self._first = {literal[0] for literal in self.literals}
        self._longest = max(map(len, self.literals), default=1)

    def next(self, window: str, pos: int, *, closed: bool) -> tuple[int, str]:
        """Where certain text ends, and the marker that stands there or "".

        A marker is only certain when no longer one can begin before or with it.
        """
        match = self.search(window, pos)
        if match is not None:
            start = match.start()
            if closed or start <= len(window) - self._longest or start < self.pending(window, pos):
                return start, match.group()
        return (len(window) if closed else self.pending(window, pos)), ""

    def pending(self, window: str, pos: int) -> int:
        """Where the text ends that is certainly no marker: what follows may be the beginning of one."""
        size = len(window)
        first, prefixes = self._first, self._prefixes
        for start in range(max(pos, size - self._longest + 1), size):
            if window[start] in first and window[start:] in prefixes:
                return start
        return size


def pending_literal(window: str, pos: int, literal: str) -> int:
    """Like `Markers.pending` for one literal."""
    size = len(window)
    start = window.find(literal[0], max(pos, size - len(literal) + 1))
    while start >= 0:
        if literal.startswith(window[start:]):
            return start
        start = window.find(literal[0], start + 1)
    return size


def read_to(source: Source, literal: str) -> Generator[None, None, bool]:
    """Read past the next `literal`. False when the text ends without it."""
    while True:
        found = source.window.find(literal, source.pos)
        if found >= 0:
            source.pos = found + len(literal)
            return True
        if source.closed:
            source.pos = len(source.window)
            return False
        source.pos = pending_literal(source.window, source.pos, literal)
        yield


def read_to_any(source: Source, markers: Markers, within: int = 1 << 60) -> Generator[None, None, str | None]:
    """Read past the next marker and return it. None when the text, or the first `within` characters, end without it."""
    limit = source.position + within
    while True:
        source.pos, found = markers.next(source.window, source.pos, closed=source.closed)
        if source.position > limit:
            return None
        if found:
            source.pos += len(found)
            return found
        if source.closed:
            return None
        yield


@lru_cache(maxsize=512)
def markers(*literals: str) -> Markers:
    """The set of these literals, made once."""
    return Markers(literals)


@lru_cache(maxsize=512)
def _longest_first(literals: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(literals, key=len, reverse=True))


_SPACES = re.compile(r"\s*")


def skip_space(source: Source) -> Generator[None, None, str]:
    """Read white space; return the character after it, unread, or "" at the end of the text."""
    while True:
        window = source.window
        if source.pos < len(window) and window[source.pos].isspace():
            match = _SPACES.match(window, source.pos)
            source.pos = match.end() if match else source.pos
        if source.pos < len(window):
            return window[source.pos]
        if source.closed:
            return ""
        yield


def starts_with(source: Source, literal: str) -> Generator[None, None, bool]:
    """Whether the unread text begins with `literal`. Reads nothing."""
    while True:
        here = source.window[source.pos : source.pos + len(literal)]
        if len(here) == len(literal) or source.closed or not literal.startswith(here):
            return here == literal
        yield


def take(source: Source, literals: tuple[str, ...]) -> Generator[None, None, str]:
    """Read the one of `literals` that comes next; return it, or "" when none does."""
    for literal in _longest_first(literals):
        while not source.window.startswith(literal, source.pos):
            here = source.window[source.pos : source.pos + len(literal)]
            if source.closed or not literal.startswith(here):
                break
            yield
        else:
            source.pos += len(literal)
            return literal
    return ""
