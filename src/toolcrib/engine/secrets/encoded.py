"""Secrets inside base64: the text is decoded and looked at with the same rules."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable

from toolcrib.engine.secrets.find import LOOK, Find, stop_at

# Three groups of four letters that stand for ASCII: 24 letters of this shape are nearly always encoded text.
HEAD = rb"(?:[CDI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){6}"

_STEP = 1536
_RUN = re.compile(rb"(?:[A-Za-z0-9+/_-]++(?:\r?\n[ \t]{0,16}+|\\n)?)++={0,2}")
_BEFORE = re.compile(rb"[A-Za-z0-9+/_-]{0,8}\Z")
_STOP = stop_at(rb"[^A-Za-z0-9+/=_\r\n-]")
_NEWLINES = re.compile(rb"\s+|\\n")
_STANDARD = bytes.maketrans(b"-_", b"+/")


def find_encoded(text: bytes, start: int, has_secret: Callable[[bytes], bool]) -> Find | int:
    """The encoded text at `start`, when `has_secret` says so of what it decodes to; else where to go on looking."""
    run = _RUN.match(text, start, start + LOOK)
    if run is None:
        return start + 24
    before = _BEFORE.search(text, max(0, start - 8), start)
    begin = start - (0 if before is None else (start - before.start()) // 4 * 4)
    end = run.end()
    if has_secret(_decoded(text[begin:end])):
        return Find(begin, end, "encoded_secret", _STOP if end >= start + LOOK else None)
    return min(end, start + _STEP)


def _decoded(letters: bytes) -> bytes:
    if b"\n" in letters or b"\\" in letters:
        letters = _NEWLINES.sub(b"", letters)
    letters = letters.rstrip(b"=").translate(_STANDARD)
    whole = len(letters) - (len(letters) % 4 == 1)
    return binascii.a2b_base64(letters[:whole] + b"=" * (-whole % 4))
