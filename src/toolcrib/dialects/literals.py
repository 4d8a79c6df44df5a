"""Values written as literals rather than JSON: Python's, and bare-key ones with their own string quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import NamedTuple

from toolcrib.dialects.parsed import Json
from toolcrib.dialects.source import Markers, Source

PYTHON_QUOTES = ('"""', "'''", '"', "'")
_CONSTANTS: dict[str, Json] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "none": None,
}
_DEPTH = 200


class NotLiteral(ValueError):
    """The text is no literal."""


class Invocation(NamedTuple):
    """`name(key=value, …)` as written."""

    name: str
    arguments: dict[str, Json]


def read_value(text: str, quotes: tuple[str, ...] = PYTHON_QUOTES) -> Json:
    """The value of a text that is one literal and nothing more."""
    reader = _Reader(text, quotes)
    value = reader.value(0)
    if reader.space() < len(text):
        raise NotLiteral(f"text after the value at {reader.pos}")
    return value


def read_arguments(text: str, quotes: tuple[str, ...] = PYTHON_QUOTES) -> dict[str, Json]:
    """The arguments of `(key=value, …)` or `{key:value, …}`, brackets included."""
    reader = _Reader(text, quotes)
    value = reader.pairs("=", ")", 0) if text[:1] == "(" else reader.value(0)
    if reader.space() < len(text) or not isinstance(value, dict):
        raise NotLiteral("no arguments")
    return value


_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d+)?)")
_WORD = re.compile(r"[^\W\d][\w.\-]*")
_PREFIX = re.compile(r"[rRbBuUfF]{1,2}(?=[\"'])")


class _Reader:
    """A recursive reader of one whole text."""

    def __init__(self, text: str, quotes: tuple[str, ...]) -> None:
        self.text = text
        self.quotes = quotes
        self.pos = 0
        self._escapes = '"' in quotes

    def space(self) -> int:
        match = _SPACE.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos
        return self.pos

    def value(self, depth: int) -> Json:
        if depth > _DEPTH:
            raise NotLiteral("nested too deeply")
        self.space()
        char = self.text[self.pos : self.pos + 1]
        if char == "{":
            return self.pairs(":", "}", depth)
        if char == "[" or char == "(":
            return self._items("]" if char == "[" else ")", depth)
        if self._quote():
            return self._strings()
        return self._scalar()

    def pairs(self, between: str, close: str, depth: int) -> dict[str, Json]:
        """`{key: value, …}` or `(key=value, …)`; a trailing comma is allowed."""
        self.pos += 1
        made: dict[str, Json] = {}
        while not self._ends(close):
            key = self._key()
            self.space()
            self._expect(between)
            made[key] = self.value(depth + 1)
            self._separate(close)
        return made

    def _items(self, close: str, depth: int) -> list[Json]:
        self.pos += 1
        made: list[Json] = []
        while not self._ends(close):
            made.append(self.value(depth + 1))
            self._separate(close)
        return made

    def _ends(self, close: str) -> bool:
        self.space()
        if self.text.startswith(close, self.pos):
            self.pos += 1
            return True
        if self.pos >= len(self.text):
            raise NotLiteral("cut")
        return False

    def _separate(self, close: str) -> None:
        self.space()
        if not self.text.startswith(close, self.pos):
            self._expect(",")

    def _expect(self, char: str) -> None:
        if not self.text.startswith(char, self.pos):
            raise NotLiteral(f"expected {char!r} at {self.pos}")
        self.pos += 1

    def _key(self) -> str:
        if self._quote():
            return self._strings()
        match = _WORD.match(self.text, self.pos) or _NUMBER.match(self.text, self.pos)
        if match is None:
            raise NotLiteral(f"no key at {self.pos}")
        self.pos = match.end()
        return match.group()

    def _quote(self) -> str:
        prefix = _PREFIX.match(self.text, self.pos) if self._escapes else None
        start = prefix.end() if prefix else self.pos
        return next((quote for quote in self.quotes if self.text.startswith(quote, start)), "")

    def _strings(self) -> str:
        """One string, or several side by side."""
        pieces: list[str] = []
        while quote := self._quote():
            prefix = _PREFIX.match(self.text, self.pos) if self._escapes else None
            start = (prefix.end() if prefix else self.pos) + len(quote)
            raw = prefix is not None and "r" in prefix.group().lower()
            end = _string_end(self.text, start, quote, escapes=self._escapes)
            piece = self.text[start:end]
            pieces.append(_unescape(piece) if self._escapes and not raw and "\\" in piece else piece)
            self.pos = end + len(quote)
            if self._escapes:
                self.space()
        return "".join(pieces)

    def _scalar(self) -> Json:
        word = _WORD.match(self.text, self.pos)
        if word is not None and word.group() in _CONSTANTS:
            self.pos = word.end()
            return _CONSTANTS[word.group()]
        number = _NUMBER.match(self.text, self.pos)
        if number is None:
            raise NotLiteral(f"no value at {self.pos}")
        self.pos = number.end()
        return _number(number.group())


def _number(text: str) -> Json:
    try:
        return int(text, 16) if "x" in text.lower() else int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise NotLiteral(text) from error


def _string_end(text: str, start: int, quote: str, *, escapes: bool) -> int:
    pos = start
    while True:
        end = text.find(quote, pos)
        if end < 0:
            raise NotLiteral("string without end")
        slash = text.find("\\", pos, end) if escapes else -1
        if slash < 0:
            return end
        pos = slash + 2


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))")
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "\n": ""} | {
    char: char for char in "\\'\"/"
}


def _unescape(text: str) -> str:
    made = _ESCAPE.sub(_character, text)
    if "\\u" in text.lower():  # two escapes may spell one character
        made = made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return made


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _NAMED.get(match[4], match[0])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"


def bracket_scanner(quotes: tuple[str, ...]) -> Callable[[Source], Generator[None, None, bool]]:
    """A reading that goes from an opening bracket to the one that closes it, stepping over strings."""
    markers = Markers((*quotes, *"()[]{}"))
    inside = {quote: Markers((quote, "\\") if '"' in quotes else (quote,)) for quote in quotes}

    def scan(source: Source) -> Generator[None, None, bool]:
        stack: list[str] = []
        while True:
            found = yield from _next(source, markers)
            if found in _CLOSING:
                if not stack or stack.pop() != found:
                    return False
                if not stack:
                    return True
            elif found in _CLOSERS:
                stack.append(_CLOSERS[found])
            elif not found or not (yield from string(source, found)):
                return False

    def string(source: Source, quote: str) -> Generator[None, None, bool]:
        while True:
            found = yield from _next(source, inside[quote])
            if found != "\\":
                return found == quote
            while source.pos == len(source.window):
                if source.closed:
                    return False
                yield
            source.pos += 1

    return scan


_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_CLOSERS.values())


def _next(source: Source, markers: Markers) -> Generator[None, None, str]:
    """Read past the next marker and return it, "" at the end."""
    while True:
        source.pos, found = markers.next(source.window, source.pos, closed=source.closed)
        if found or source.closed:
            source.pos += len(found)
            return found
        yield
