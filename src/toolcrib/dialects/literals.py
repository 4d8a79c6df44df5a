"""Values written as literals rather than JSON: Python's, and bare-key ones with their own string quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from sys import intern
from typing import NamedTuple, TypeAlias

from toolcrib.dialects.source import Markers, Source, pending_literal, read_to
from toolcrib.values.json import Json

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
_PART = 4096


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


def read_arguments(
    text: str, start: int, end: int, quotes: tuple[str, ...] = PYTHON_QUOTES, *, words: bool = False
) -> dict[str, Json]:
    """The arguments of `(key=value, …)` or `{key:value, …}` between two places. `words`: strings need no quotes."""
    reader = _Reader(text, quotes, words=words)
    reader.pos = start
    value = reader.pairs("=", ")", 0) if text.startswith("(", start) else reader.value(0)
    if reader.pos != end or not isinstance(value, dict):
        raise NotLiteral("no arguments")
    return value


def plain_arguments(quotes: tuple[str, ...]) -> Callable[[str, int], tuple[dict[str, Json], int] | None]:
    """What reads `key=value, …)` from a place on as `read_arguments` would; None unless all is there and plain."""
    first, following = _plain_pair(quotes)
    escapes = '"' in quotes

    def read(text: str, pos: int) -> tuple[dict[str, Json], int] | None:
        made: dict[str, Json] = {}
        pair = first(text, pos)
        while pair is not None:
            key, quote, number = pair.groups()
            pos = pair.end()
            if quote:
                end = text.find(quote, pos)
                if end < 0:
                    return None
                value = text[pos:end]
                if escapes and "\\" in value:
                    written, value = value, value.replace("\\n", "\n")
                    if "\\" in value or "\\\\" in written:  # not every backslash began the escape of a line end
                        written = value = ""  # a large one should not be there three times
                        end = _plain_end(text, pos, quote)
                        if end < 0:
                            return None
                        value = _unescape(text, pos, end)
                made[intern(key)] = value
                pos = end + len(quote)
            elif key is None:
                return made, pos
            else:
                made[intern(key)] = int(number)
            pair = following(text, pos)
        return None

    return read


def _plain_end(text: str, start: int, quote: str) -> int:
    """Where a string ends: at the first quote that no odd number of backslashes escapes. -1 if it does not."""
    end = text.find(quote, start)
    while end > start and text[end - 1] == "\\":
        written = text[start:end]
        if (len(written) - len(written.rstrip("\\"))) % 2 == 0:
            break
        end = text.find(quote, end + 1)
    return end


def _plain_pair(quotes: tuple[str, ...]) -> tuple[_Match, _Match]:
    """How the first pair begins, up to its value's first character or whole number; how a later one, or the end."""
    if '"' in quotes:
        quote, between, close = "['\"]", "=", r"\)"
    else:
        quote, between, close = re.escape(quotes[0]), ":", r"\}"
    pair = rf"([A-Za-z_]\w*)\s*{between}\s*(?:({quote})|(-?\d{{1,18}})(?=\s*[,)}}]))"
    return re.compile(rf"\s*{pair}").match, re.compile(rf"\s*(?:,\s*{pair}|{close})").match


_Match: TypeAlias = "Callable[[str, int], re.Match[str] | None]"
_HEX_DIGITS = "0123456789abcdefABCDEF"
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d+)?)")
_WORD = re.compile(r"[^\W\d][\w.\-]*")
_BARE = re.compile(r"[^\s,(){}\[\]<>|\"'](?:[^,(){}\[\]<>|\"']*[^\s,(){}\[\]<>|\"'])?")
_PREFIX = re.compile(r"[rRbBuUfF]{1,2}(?=[\"'])")


class _Reader:
    """A recursive reader of one whole text."""

    def __init__(self, text: str, quotes: tuple[str, ...], *, words: bool = False) -> None:
        self._words = words
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
            end = _string_end(self.text, start, quote)
            plain = raw or quote not in _STOPS or self.text.find("\\", start, end) < 0
            pieces.append(self.text[start:end] if plain else _unescape(self.text, start, end))
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
        bare = _BARE.match(self.text, self.pos) if self._words else None
        if bare is not None and (number is None or number.end() < bare.end()):
            self.pos = bare.end()
            return bare.group()
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


def _string_end(text: str, start: int, quote: str) -> int:
    if quote not in _STOPS:
        end = text.find(quote, start)
        if end < 0:
            raise NotLiteral("string without end")
        return end
    stop = _STOPS[quote]
    while match := stop(text, start):
        if match.group() == quote:
            return match.start()
        start = match.end() + 1
    raise NotLiteral("string without end")


_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "\n": ""} | {
    char: char for char in "'\"/"
}
_CODES = {"x": 2, "u": 4, "U": 8}


def _unescape(text: str, start: int, end: int) -> str:
    """A stretch of text with its escapes replaced; unknown escapes stay as they are."""
    if end - start > _PART:
        made = "".join([_unescaped(part) for part in _parts(text, start, end)])
    else:
        made = _unescaped(text[start:end])
    if text.find("\\u", start, end) >= 0 or text.find("\\U", start, end) >= 0:  # two may spell one character
        made = made.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return made


def _parts(text: str, start: int, end: int) -> Iterator[str]:
    """The text in parts of moderate size, cut where no escape is: cut at every escape, it would take much memory."""
    while end - start > _PART:
        stop = start + _PART
        while stop < end and "\\" in text[stop - 12 : stop]:
            stop += 1
        yield text[start:stop]
        start = stop
    yield text[start:end]


def _unescaped(text: str) -> str:
    pieces = text.split("\\")
    made = [pieces[0]]
    rest = iter(pieces[1:])
    for piece in rest:
        head = piece[:1]
        if not head:  # two backslashes in a row
            made += ("\\", next(rest, ""))
        elif head in _NAMED:
            made += (_NAMED[head], piece[1:])
        else:
            made.append(_coded(piece))
    return "".join(made)


def _coded(piece: str) -> str:
    size = _CODES.get(piece[0], 0)
    code = piece[1 : 1 + size]
    if not size or len(code) < size or not all(char in _HEX_DIGITS for char in code) or int(code, 16) > 0x10FFFF:
        return "\\" + piece
    return chr(int(code, 16)) + piece[1 + size :]


def bracket_scanner(quotes: tuple[str, ...]) -> Callable[[Source], Generator[None, None, bool]]:
    """A reading that goes from an opening bracket to the one that closes it, stepping over strings."""
    markers = Markers((*quotes, *"()[]{}"))
    escapes = '"' in quotes

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
            elif not found or not (yield from (_skip_string if escapes else read_to)(source, found)):
                return False

    return scan


def _skip_string(source: Source, quote: str) -> Generator[None, None, bool]:
    """Read past the end of a string with escapes."""
    stop = _STOPS[quote]
    while True:
        match = stop(source.window, source.pos)
        if match is None:
            source.pos = len(source.window) - (0 if source.closed else _partial(source, quote))
        elif match.group() == quote:
            source.pos = match.end()
            return True
        elif match.end() < len(source.window):
            source.pos = match.end() + 1
            continue
        else:
            source.pos = match.start()
        if source.closed:
            source.pos = len(source.window)
            return False
        yield


def _partial(source: Source, quote: str) -> int:
    """How many characters at the end of the window may begin a closing quote of three."""
    if len(quote) == 1:
        return 0
    return len(source.window) - pending_literal(source.window, source.pos, quote)


_STOPS = {quote: re.compile(rf"[{quote}\\]" if len(quote) == 1 else rf"{quote}|\\").search for quote in PYTHON_QUOTES}
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
