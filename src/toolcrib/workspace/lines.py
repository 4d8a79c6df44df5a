"""Windows of lines: any part of a file of any size, in bounded memory, quickly the second time."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from toolcrib.values.noun import frozen
from toolcrib.workspace.text import HASHED, HEAD, LineEnd, Text, content_hash, line_end_of, refuse_binary, stat_hash

LINE_BYTES = 4_096
BLOCK = 256 * 1024
INDEXES = 64
_SPARSE = 24


@frozen
class Span:
    """Which lines are wanted: at most `count` from `start` (the first is 1), and at most `characters` of text."""

    start: int
    count: int
    characters: int


@frozen
class Window:
    """Lines of a file, without their ends. `total` is None while a large file was not read to its end."""

    start: int
    lines: tuple[str, ...]
    cut: tuple[int, ...]
    more: bool
    total: int | None
    size: int
    hash: str
    encoding: str
    line_end: LineEnd

    @property
    def end(self) -> int:
        """The number of the last line of the window."""
        return self.start + len(self.lines) - 1

    @property
    def next(self) -> int | None:
        return self.end + 1 if self.more else None


@dataclass(slots=True)
class LineIndex:
    """How many lines have ended by the end of each block that was read so far."""

    ended: array[int] = field(default_factory=lambda: array("Q"))
    complete: bool = False

    def extend(self, descriptor: int, lines: int) -> None:
        """Read on until this many lines have ended, or to the end of the file."""
        total = self.ended[-1] if self.ended else 0
        average = 0
        while total < lines and not self.complete:
            block = os.pread(descriptor, BLOCK, len(self.ended) * BLOCK)
            if not block:
                self.complete = True
                return
            found = _count_lines(block, average)
            average = len(block) // (found + 1)
            total += found
            self.ended.append(total)

    def block_of(self, line: int) -> int:
        """The block in which a line (the first is 0) begins."""
        return bisect_left(self.ended, line)

    def before(self, block: int) -> int:
        return self.ended[block - 1] if block else 0


class LineIndexes:
    """The indexes of the large files that were read last; a file that changed is another file."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, LineIndex] = OrderedDict()
        self._lock = Lock()

    def window(self, descriptor: int, span: Span, shown: str) -> Window:
        """Lines of an open file, whatever its size."""
        status = os.fstat(descriptor)
        if status.st_size > HASHED:
            return self._indexed(descriptor, status, span, shown)
        body = read_whole(descriptor, HASHED)
        if len(body) > HASHED:
            return self._indexed(descriptor, status, span, shown)
        return window_of(Text.decode(body, shown), span, len(body), content_hash(body))

    def _indexed(self, descriptor: int, status: os.stat_result, span: Span, shown: str) -> Window:
        head = os.pread(descriptor, HEAD, 0)
        refuse_binary(head, status.st_size, shown)
        key = stat_hash(status)
        with self._lock:
            index = self._known.setdefault(key, LineIndex())
            self._known.move_to_end(key)
            while len(self._known) > INDEXES:
                self._known.popitem(last=False)
            index.extend(descriptor, span.start + span.count)
        raw, cut, more = _read_lines(descriptor, index, span)
        decoded = [_decode(line) for line in raw]
        encoding = "utf-8" if all(name == "utf-8" for _, name in decoded) else "latin-1"
        ends = line_end_of(head.decode("latin-1"))
        total = _total(descriptor, index, status.st_size) if index.complete else None
        lines = tuple(text for text, _ in decoded)
        return Window(span.start, lines, cut, more, total, status.st_size, key, encoding, ends)


def window_of(text: Text, span: Span, size: int, digest: str) -> Window:
    """Lines of a text that is in memory."""
    lines = text.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    shown: list[str] = []
    cut: list[int] = []
    room = span.characters
    for number, line in enumerate(lines[span.start - 1 : span.start - 1 + span.count], span.start):
        line = line.removesuffix("\r")
        if len(line) * 4 > LINE_BYTES and len(encoded := line.encode("utf-8")) > LINE_BYTES:
            line = encoded[:LINE_BYTES].decode("utf-8", "ignore")
            cut.append(number)
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(line)
    cut = [number for number in cut if number < span.start + len(shown)]
    more = span.start - 1 + len(shown) < len(lines)
    return Window(span.start, tuple(shown), tuple(cut), more, len(lines), size, digest, text.name, text.line_end)


def read_whole(descriptor: int, most: int) -> bytes:
    """Everything in an open file from its start on, up to one byte more than the limit; some files never end."""
    chunks: list[bytes] = []
    position = 0
    while position <= most and (chunk := os.pread(descriptor, min(1 << 20, most + 1 - position), position)):
        chunks.append(chunk)
        position += len(chunk)
    return b"".join(chunks)


def _read_lines(descriptor: int, index: LineIndex, span: Span) -> tuple[list[bytes], tuple[int, ...], bool]:
    """The lines of a span, each at most LINE_BYTES long; the rest of a longer one is skipped by the index."""
    block = index.block_of(span.start - 1)
    skip = span.start - 1 - index.before(block)
    lines: list[bytes] = []
    cut: list[int] = []
    room, line, position = span.characters, b"", block * BLOCK
    while piece := os.pread(descriptor, BLOCK, position):
        position += len(piece)
        if skip:
            parts = piece.split(b"\n", skip)
            if len(parts) <= skip:
                return lines, tuple(cut), False
            piece, skip = parts[-1], 0
        *ends, rest = piece.split(b"\n", span.count - len(lines) + 1)
        for end in ends:
            if len(lines) == span.count or (lines and room < 0):
                return lines, tuple(cut), True
            room -= _add(lines, cut, line + end, span.start)
            line = b""
        line = (line + rest)[: LINE_BYTES + 1]
        if len(line) > LINE_BYTES:
            position = max(position, index.block_of(span.start + len(lines)) * BLOCK)
    if line and len(lines) < span.count:
        _add(lines, cut, line, span.start)
        return lines, tuple(cut), False
    return lines, tuple(cut), bool(line)


def _add(lines: list[bytes], cut: list[int], line: bytes, start: int) -> int:
    line = line.removesuffix(b"\r")
    if len(line) > LINE_BYTES:
        cut.append(start + len(lines))
        line = line[:LINE_BYTES]
        while line and line[-1] & 0xC0 == 0x80:
            line = line[:-1]
        line = line[:-1] if line and line[-1] >= 0xC0 else line
    lines.append(line)
    return len(line) + 1


def _decode(line: bytes) -> tuple[str, str]:
    try:
        return line.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return line.decode("latin-1"), "latin-1"


def _total(descriptor: int, index: LineIndex, size: int) -> int:
    ended = index.ended[-1] if index.ended else 0
    return ended if os.pread(descriptor, 1, max(size - 1, 0)) == b"\n" else ended + 1


def _count_lines(block: bytes, average: int) -> int:
    """Newlines in a block. Deleting them is faster than counting where lines are long, and slower where short."""
    if average > _SPARSE:
        return len(block) - len(block.replace(b"\n", b""))
    return block.count(b"\n")
