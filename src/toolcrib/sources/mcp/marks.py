"""How many values a message has, counted before anything is made of them.

A message of 16 MiB may be one long text, which is fine, or millions of small values, each of which takes many times the
bytes it is written with. So its marks are counted: brackets, texts, and the commas between.
"""

from __future__ import annotations

import re

MOST_MARKS = 400_000
"""So many marks become at most about 32 MiB of values."""
_BLOCK = 64 * 1024
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BLANK = re.compile(rb"\r?\n\r?\n")


class TooDense(Exception):
    """A message of more values than any answer needs."""

    def __init__(self) -> None:
        super().__init__("the server sent a message of too many values")


class Marks:
    """Counts the marks of messages that come in chunks, whatever their texts hold. A blank line ends a message."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size = 0
        self._marks = 0
        self._in_text = self._escaped = False

    def add(self, chunk: bytes) -> None:
        """What is shorter than a block is not worth counting."""
        self._waiting.append(chunk)
        self._size += len(chunk)
        if self._size < _BLOCK:
            return
        first, *others = _BLANK.split(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        self._count(first)
        for message in others:
            self._marks, self._in_text, self._escaped = 0, False, False
            self._count(message)

    def _count(self, block: bytes) -> None:
        block = block[1:] if self._escaped else block
        bare, texts = _TEXT.subn(b"", b'"' + block if self._in_text else block)
        bare, quote, begun = bare.partition(b'"')
        self._in_text = bool(quote)
        self._escaped = (len(begun) - len(begun.rstrip(b"\\"))) % 2 == 1
        self._marks += texts + sum(bare.count(mark) for mark in (b"{", b"[", b","))
        if self._marks > MOST_MARKS:
            raise TooDense
