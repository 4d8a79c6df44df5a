"""Messages that hold half a character, as of a text that was cut: no JSON, and yet plain what they say."""

from __future__ import annotations

import re

from toolcrib.values.turn import Turn

_MOST = 1 << 20
_PIECE, _FAR = 1_024, 256
_HALVES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""An escaped backslash, a whole pair of surrogates, or (alone in its group) one without the other."""
_BREAK = re.compile(rb"[^\\0-9a-fA-Fu\x80-\xff]|(?=[\xc2-\xf4])")
"""What ends every character before it, or begins one: there a message may be cut."""


async def mended(line: bytes | bytearray, turn: Turn) -> bytes | None:
    """The message with a sign in the place of each half; None where it is too long, or no message."""
    if len(line) > _MOST or not line.lstrip().startswith(b"{"):
        return None
    pieces: list[bytes] = []
    at = 0
    while at < len(line):
        end = at + _PIECE
        found = _BREAK.search(line, end, end + _FAR)
        if found is None and end + _FAR < len(line):
            return None
        end = found.end() if found else len(line)
        pieces.append(_mended(line[at:end]))
        at = end
        await turn.pass_on()
    return b"".join(pieces)


def _mended(piece: bytes | bytearray) -> bytes:
    whole = piece.decode("utf-8", "replace").encode()
    return _HALVES.sub(lambda found: rb"\ufffd" if found[1] else found[0], whole)
