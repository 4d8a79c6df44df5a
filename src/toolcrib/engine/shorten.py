"""Shorten a text to its head and tail, cutting where a reader would: between lines, never inside a character."""

from __future__ import annotations

import unicodedata

from toolcrib.values.marker import MARKER_START
from toolcrib.values.noun import frozen

_NEAR = 200  # a line end this near is where to cut
_FAR = 64  # a cluster of characters longer than this may be parted
_VIRAMA = 9  # the combining class of marks that join a letter to the next


@frozen
class Room:
    """How much may stay."""

    characters: int
    bytes: int
    lines: int


@frozen
class Shortened:
    """The head and tail of a text, and how much is missing between them."""

    head: str
    tail: str
    characters: int
    total: int

    def joined(self, where: str) -> str:
        """Head, a line that says what is missing and where it is, tail."""
        note = f"[… {self.characters:,} of {self.total:,} characters left out; {where} …]"
        before = "" if not self.head or self.head.endswith("\n") else "\n"
        after = "" if not self.tail or self.tail.startswith("\n") else "\n"
        return f"{self.head}{before}{note}{after}{self.tail}"


def shorten(text: str, room: Room) -> Shortened:
    """Two thirds of the room for the head, one third for the tail."""
    end = _head_end(text, Room(room.characters * 2 // 3, room.bytes * 2 // 3, room.lines * 2 // 3))
    start = _tail_start(text, Room(room.characters // 3, room.bytes // 3, room.lines // 3), end)
    return Shortened(text[:end], text[start:], start - end, len(text))


def _head_end(text: str, room: Room) -> int:
    end = min(room.characters, len(text))
    while end and not text.isascii() and (size := len(text[:end].encode("utf-8", "replace"))) > room.bytes:
        end = min(end - 1, end * room.bytes // size)
    end = min(end, _line_start(text, room.lines), room.bytes)
    near = text.rfind("\n", max(0, end - _NEAR), end)
    return near + 1 if near >= 0 else _boundary(text, end, -1)


def _tail_start(text: str, room: Room, low: int) -> int:
    start = max(low, len(text) - min(room.characters, room.bytes))
    while (
        start < len(text) and not text.isascii() and (size := len(text[start:].encode("utf-8", "replace"))) > room.bytes
    ):
        start += max(1, (len(text) - start) * (size - room.bytes) // size)
    for _ in range(text.count("\n", start) - room.lines):
        start = text.index("\n", start) + 1
    near = text.find("\n", start, start + _NEAR)
    return near + 1 if near >= 0 else _boundary(text, start, 1)


def _line_start(text: str, number: int) -> int:
    """Where the line after `number` lines begins; the end of the text when it has no more."""
    at = 0
    for _ in range(number):
        newline = text.find("\n", at)
        if newline < 0:
            return len(text)
        at = newline + 1
    return at


def _boundary(text: str, at: int, step: int) -> int:
    """The nearest place in that direction where a cut parts neither a character as it is read nor a marker."""
    marker = text.rfind(MARKER_START, max(0, at - _FAR), at + len(MARKER_START) - 1)
    if 0 <= marker < at and (close := text.find("]", marker, marker + _FAR)) >= at:
        at = marker if step < 0 else close + 1
    for moved in range(_FAR):
        place = at + moved * step
        if not _parts(text, place):
            return place
    return at if not _parts_pair(text, at) else at + step


def _parts(text: str, at: int) -> bool:
    """Whether a cut at `at` would part what is read as one character."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        _parts_pair(text, at)
        or "\u200d" in (before, after)
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or unicodedata.combining(before) == _VIRAMA
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U000e0020" <= after <= "\U000e007f"
        or ("\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\u11ff")
        or _parts_flag(text, at)
    )


def _parts_pair(text: str, at: int) -> bool:
    return 0 < at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"


def _parts_flag(text: str, at: int) -> bool:
    """Flags are pairs of regional letters: an odd number of them before the cut means that it parts one."""
    if not _is_regional(text[at]):
        return False
    first = at
    while first > 0 and _is_regional(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
