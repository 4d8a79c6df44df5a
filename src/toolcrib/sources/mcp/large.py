"""A large message, read in short turns and only as far as is reasonable: nobody waits for it, and it cannot fill the
memory.

What is read is cut into pieces of a few thousand bytes at places where a value ends, and its marks are counted on the
way.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

import orjson

from toolcrib.sources.mcp.marks import MOST_MARKS, TooDense
from toolcrib.values.turn import Turn

_DEEPEST = 500
_GAP, _TEXT = 8, 16_384
_STEPS = 32
_MARK = re.compile(rb'["{}\[\]]')
_LETTERS = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_PASSED, _PASSED_DEPTH = 2_048, 5
_COLON = re.compile(rb"[ \t\r\n]*+:")
_CLOSERS = {ord("{"): ord("}"), ord("["): ord("]")}
_QUOTE, _OBJECT = ord('"'), ord("{")
_TOOLS = ["result", "tools"]


async def read_large(line: bytes | bytearray, most_tools: int, turn: Turn) -> object:
    """The message as if it were parsed at once; of the list `result.tools` not more than this and a few."""
    reading = Reading(line, most_tools)
    while not reading.is_over:
        reading.step()
        await turn.pass_on()
    return reading.made


class Open:
    """An object or a list that has begun and not ended."""

    __slots__ = ("at", "is_first", "is_object", "key", "made", "member", "piece")

    def __init__(self, at: int, member: int, is_object: bool) -> None:
        self.at = at
        self.member = member
        """Where it begins together with its name, if it is a member of an object."""
        self.is_object = is_object
        self.piece = at + 1
        """From here on it has not been made yet."""
        self.is_first = True
        self.made: dict[str, Any] | list[Any] | None = None
        """What it holds so far, once it was seen to be too large to be read at once."""
        self.key = ""
        """The name of its member that is too large to be read at once."""


class Reading:
    """How far a message has been read.

    Pieces are parsed by what parses small messages, so that whatever is no JSON there is none here.
    """

    def __init__(self, line: bytes | bytearray, most_tools: int, piece: int = 2_048, long: int = 65_536) -> None:
        self._line = line
        self._most_tools = most_tools
        self._piece = piece
        self._long = long
        self._at = self._text_at = self._named_at = self._marks = 0
        self._in_text = False
        self._enough: Open | None = None
        """The list of tools, once it has as many as there may be: what else is in it is passed over."""
        self._stack: list[Open] = []
        self.made: object = None
        self.is_over = False

    def step(self) -> None:
        """Read on for a moment."""
        for _ in range(_STEPS if self._enough is None else 1):
            if self._in_text or self.is_over:
                break
            if self._enough is not None and (passed := _whole_values().match(self._line, self._at, self._at + _PASSED)):
                self._at = passed.end()
            found = _MARK.search(self._line, self._at)
            if found is None:
                raise ValueError("it ends before what it began")
            at = found.start()
            if at - self._at > _GAP:
                self._pass_scalars(at)
            self._count(1)
            self._mark(at, self._line[at])
        if self._in_text:
            self._read_text()

    def _mark(self, at: int, mark: int) -> None:
        if mark == _QUOTE:
            self._named_at, self._text_at = self._text_at, at
            self._in_text, self._at = True, at + 1
            self._read_text()
        elif mark in _CLOSERS:
            in_object = bool(self._stack) and self._stack[-1].is_object
            self._stack.append(Open(at, self._text_at if in_object else at, mark == _OBJECT))
            self._at = at + 1
            if len(self._stack) > _DEEPEST:
                raise ValueError("it is nested too deeply")
        else:
            self._close(at, mark)

    def _read_text(self) -> None:
        found = _LETTERS.match(self._line, self._at, self._at + _TEXT)
        end = found.end() if found else self._at
        if end >= len(self._line) or (end == self._at and self._line[end] != _QUOTE):
            raise ValueError("a text does not end")
        self._at = end
        if self._line[end] == _QUOTE:
            self._in_text, self._at = False, end + 1
            self._text_ended()

    def _text_ended(self) -> None:
        top = self._stack[-1] if self._stack else None
        if top is None or self._enough is not None or self._at - top.piece < self._piece:
            return
        if not _COLON.match(self._line, self._at):
            self._long_text(top) if self._at - self._text_at > self._long else self._cut(top, self._at)
        elif self._text_at - top.piece >= self._piece:  # the name of a member: what is before it has ended
            self._cut(top, self._comma_before(top, self._text_at))

    def _long_text(self, top: Open) -> None:
        """A text that is to be made where it stands, because it is too long to be copied for nothing."""
        text = Open(self._text_at, self._named_at if top.is_object else self._text_at, is_object=False)
        self._make(text)
        _put(top, orjson.loads(memoryview(self._line)[self._text_at : self._at]))
        top.piece, top.is_first = self._at, False

    def _pass_scalars(self, until: int) -> None:
        """Numbers and the like, up to the next mark."""
        self._count(self._line.count(b",", self._at, until))
        while self._stack and self._enough is None and until - self._at > self._piece:
            comma = self._line.find(b",", self._at + self._piece, until)
            if comma < 0:
                return
            self._at = comma
            self._cut(self._stack[-1], comma)

    def _close(self, at: int, mark: int) -> None:
        if not self._stack or _CLOSERS[self._line[self._stack[-1].at]] != mark:
            raise ValueError("its brackets do not match")
        self._at = at + 1
        closed = self._stack[-1]
        if closed.made is not None:
            self._take(closed, at)
        self._stack.pop()
        if closed is self._enough:
            self._enough = None
        if not self._stack:
            self._end(closed)
            return
        top = self._stack[-1]
        if closed.made is not None:
            _put(top, closed.made)
            top.piece, top.is_first = self._at, False
        elif self._at - top.piece >= self._piece and self._enough in (None, top):
            self._cut(top, self._at)

    def _end(self, closed: Open) -> None:
        if self._line[: closed.at].strip() or self._line[self._at :].strip():
            raise ValueError("there is something beside the message")
        self.made = orjson.loads(self._line) if closed.made is None else closed.made
        self.is_over = True

    def _cut(self, top: Open, end: int) -> None:
        """Make what the innermost one holds up to here, where a value has ended."""
        self._make(None)
        self._take(top, end)

    def _make(self, inner: Open | None) -> None:
        """Have all that is open made piece by piece from now on, and what is before the one inside it."""
        for outer, each in zip([None, *self._stack], [*self._stack, inner], strict=True):
            if each is None or each.made is not None:
                continue
            each.made = {} if each.is_object else []
            if outer is not None:
                self._enter(outer, each)

    def _enter(self, outer: Open, inner: Open) -> None:
        """Make what is before something large, and keep its name."""
        self._take(outer, self._comma_before(outer, inner.member))
        if outer.is_object:
            named = orjson.loads(b"{%b0}" % self._line[inner.member : inner.at])
            outer.key = next(iter(named))

    def _comma_before(self, top: Open, end: int) -> int:
        comma = self._line.rfind(b",", top.piece, end)
        if self._line[max(comma + 1, top.piece) : end].strip() or (comma < 0 and not top.is_first):
            raise ValueError("a comma is missing")
        return max(comma, top.piece)

    def _take(self, top: Open, end: int) -> None:
        """Make the members from the last cut to here; what is made later begins with a comma."""
        if not (text := self._line[top.piece : end].strip()):
            return
        if not top.is_first and not (text.startswith(b",") and (text := text[1:]).strip()):
            raise ValueError("a comma is missing, or too much")
        top.piece, top.is_first = end, False
        if isinstance(top.made, dict):
            top.made.update(orjson.loads(b"{%b}" % text))
        elif top.made is not None and self._enough is None:
            top.made.extend(orjson.loads(b"[%b]" % text))
            if len(top.made) > self._most_tools and [each.key for each in self._stack[:-1]] == _TOOLS:
                self._enough = top

    def _count(self, marks: int) -> None:
        self._marks += marks
        if self._marks > MOST_MARKS:
            raise TooDense


def _put(top: Open, made: object) -> None:
    if isinstance(top.made, dict):
        top.made[top.key] = made
    else:
        cast("list[Any]", top.made).append(made)


@cache
def _whole_values() -> re.Pattern[bytes]:
    """What passes over all that ends before a place, as far as it is nested no deeper than tools are."""
    return re.compile(_wholes(_PASSED_DEPTH), re.DOTALL)


def _wholes(depth: int) -> bytes:
    """A pattern for values that end, nested this deep at most, one after the other."""
    within = _wholes(depth - 1) if depth else b""
    deeper = rb"|\{%b\}|\[%b\]" % (within, within) if depth else b""
    return rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"%b)*+' % deeper
