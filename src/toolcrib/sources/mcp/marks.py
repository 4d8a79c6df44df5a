"""How many bytes and values a message has, counted before anything is made of them.

A message of 16 MiB may be one long text, which is fine, or millions of small values, each of which takes many times the
bytes it is written with. So its marks are counted: brackets, texts, and the commas between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MESSAGE_LIMIT = 16 * 1024 * 1024
MOST_MARKS = 400_000
"""So many marks become at most about 32 MiB of values."""
_SMALL, _PIECE = 64 * 1024, 8 * 1024
_BLANK = re.compile(rb"\n\r?\n")
_MARKS = b'"{[,'
_NO_MARK = bytes(set(range(256)) - set(_MARKS))


class TooMuch(Exception):
    """A message that is larger than any answer needs to be; the words say in which way."""


class TooLong(TooMuch):
    def __init__(self) -> None:
        super().__init__(f"the server sent a message of more than {MESSAGE_LIMIT // 1024 // 1024} MiB")


class TooDense(TooMuch):
    def __init__(self) -> None:
        super().__init__(f"the server sent a message of too many values, more than about {MOST_MARKS:,}")


class Marks:
    """Counts the bytes and marks of one message that comes in chunks, whatever its texts hold."""

    def __init__(self) -> None:
        self._waiting: list[bytes] | None = []
        self._size = self._marks = 0
        self._in_text = self._escaped = False

    def add(self, chunk: bytes) -> Iterator[None]:
        """Count on, a little at each step; the values of what is small are not worth counting."""
        self._size += len(chunk)
        if self._size > MESSAGE_LIMIT:
            raise TooLong
        if self._waiting is not None:
            self._waiting.append(chunk)
            if self._size < _SMALL:
                return
            chunk, self._waiting = b"".join(self._waiting), None
        for at in range(0, len(chunk), _PIECE):
            self._count(chunk[at : at + _PIECE])
            yield

    def _count(self, piece: bytes) -> None:
        if self._escaped or b"\\" in piece:
            piece = b"\\" + piece if self._escaped else piece
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
            self._escaped = piece.endswith(b"\\")
        parts = piece.translate(None, _NO_MARK).split(b'"')
        self._marks += sum(map(len, parts[self._in_text :: 2])) + len(parts) // 2
        self._in_text ^= len(parts) % 2 == 0
        if self._marks > MOST_MARKS:
            raise TooDense


class EventMarks:
    """The same for a stream of messages, where a blank line ends each; all of them together may be of any size."""

    def __init__(self) -> None:
        self._marks = Marks()
        self._rest = b""

    def add(self, chunk: bytes) -> Iterator[None]:
        chunk = self._rest + chunk
        end = len(chunk.rstrip(b"\r\n"))  # whether that is a blank line is seen when more comes
        first, *others = _BLANK.split(chunk[:end])
        self._rest = chunk[end:][-4:]
        yield from self._marks.add(first)
        for message in others:
            self._marks = Marks()
            yield from self._marks.add(message)
