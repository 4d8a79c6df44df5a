"""Characters that are not seen, terminal colours and zero-width letters: taken out to look, put back to show."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

WIDTH = 64  # of a longer run of unseen characters the rest stays: it no longer reads as one word

_ZERO_WIDTH = rb"\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad"
_COLOUR = rb"\x1b(?:\[[0-9;:?]{0,24}[A-Za-z]|[()][A-Z0-9])"
_ONE = rb"%b|%b" % (_ZERO_WIDTH, _COLOUR)
_UNSEEN = re.compile(_ONE)
_RUN = re.compile(rb"(?:%b)++" % _ONE)
_LONGEST = 32


def may_hide(raw: bytes) -> bool:
    """Whether a text has unseen characters at all."""
    return b"\x1b" in raw or (not raw.isascii() and _UNSEEN.search(raw) is not None)


@dataclass(slots=True)
class Reading:
    """A text as it is read, piece by piece: without its unseen characters, but with their places."""

    text: bytes = b""
    unseen: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    _run: int = 0

    def add(self, raw: bytes) -> None:
        """Read on; `raw` does not end inside an escape sequence unless the text does."""
        if not may_hide(raw):
            self.text += raw
            self._run = 0 if raw else self._run
            return
        pieces = [self.text]
        at, size, trailing = 0, len(self.text), 0
        for match in _RUN.finditer(raw):
            start, end = match.span()
            run = self._run if start == 0 else 0
            trailing = run + end - start if end == len(raw) else 0
            end = start + _fitting(match[0], WIDTH - run)
            pieces.append(raw[at:start])
            size += start - at
            self.unseen.append((size, raw[start:end]))
            at = end
        self._run = trailing
        self.text = b"".join((*pieces, raw[at:]))

    def written(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end` as they were written."""
        pieces: list[bytes] = []
        for offset, removed in self.unseen[bisect_left(self.unseen, (start, b"")) :] if self.unseen else ():
            if offset >= end:
                break
            pieces += (self.text[start:offset], removed)
            start = offset
        return b"".join((*pieces, self.text[start:end]))

    def written_at(self, place: int) -> bytes:
        """The unseen characters right before `place`."""
        return b"".join(removed for offset, removed in self.unseen if offset == place)

    def character_start(self, place: int) -> int:
        """`place`, or where the character begins whose bytes it would part."""
        while 0 < place < len(self.text) and self.text[place] & 0xC0 == 0x80:
            place -= 1
        return place

    def forget(self, before: int) -> None:
        """Drop what has been dealt with."""
        self.text = self.text[before:]
        self.unseen = [(offset - before, removed) for offset, removed in self.unseen if offset >= before]


def _fitting(run: bytes, room: int) -> int:
    """How many bytes of a run of unseen characters fit into the room, without parting one."""
    if len(run) <= room:
        return len(run)
    end = 0
    while (match := _UNSEEN.match(run, end)) and match.end() <= room:
        end = match.end()
    return end


def complete(raw: bytes) -> int:
    """How much of the raw text does not end inside an escape sequence."""
    escape = raw.rfind(b"\x1b", max(0, len(raw) - _LONGEST))
    return len(raw) if escape < 0 or _UNSEEN.match(raw, escape) else escape
