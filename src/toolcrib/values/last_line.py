"""The last line of an output that comes in pieces."""

from __future__ import annotations

LONGEST = 2_000


class LastLine:
    """Knows the last line that was whole. Parts of lines are never told: where a line is cut, a secret may be too, and
    half of one is no longer recognised. A line that is too long is left out."""

    __slots__ = ("_begun", "_line")

    def __init__(self) -> None:
        self._begun: bytes | None = b""
        self._line = b""

    def take(self, piece: bytes) -> None:
        end = _last_break(piece) + 1
        if end:
            whole = piece[:end].rstrip(b"\r\n")
            start = _last_break(whole) + 1
            line = whole[start:] if start else _joined(self._begun, whole)
            self._line = line or b""
            self._begun = b""
        self._begun = _joined(self._begun, piece[end:])

    def told(self) -> str:
        """The line, once; then nothing until there is another."""
        line, self._line = self._line, b""
        return line.decode(errors="replace")


def _last_break(text: bytes) -> int:
    return max(text.rfind(b"\n"), text.rfind(b"\r"))


def _joined(begun: bytes | None, piece: bytes) -> bytes | None:
    """None where that is too long."""
    return None if begun is None or len(begun) + len(piece) > LONGEST else begun + piece
