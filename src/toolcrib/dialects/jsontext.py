"""JSON inside a model's text: find where a value ends whatever its strings contain, then decode it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable
from enum import Enum
from typing import Any, NamedTuple, cast

from toolcrib.dialects import literals
from toolcrib.dialects.source import Source
from toolcrib.values.json import Json

REPAIR_LIMIT = 32_768
MAX_DEPTH = 200
_FAST_FAILURES = 8
_FAST_MINIMUM = 24


class End(Enum):
    """How the reading of a value ended."""

    BALANCED = "balanced"
    BROKEN = "broken"
    CUT = "cut"


class Decoded(NamedTuple):
    """A value, and whether the text had to be mended to get it."""

    value: Json
    repaired: bool


class JsonText:
    """Reads JSON values from a source. One per stream: it counts duplicate keys and gives up shortcuts that fail."""

    __slots__ = ("_decoder", "_failures", "_scan_once", "_source", "duplicates")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._failures = 0
        self.duplicates: list[str] = []
        self._decoder = json.JSONDecoder(
            strict=False, object_pairs_hook=_object(self.duplicates), parse_constant=_no_constant
        )
        self._scan_once = cast("Callable[[str, int], tuple[Any, int]]", vars(self._decoder)["scan_once"])

    def take(self) -> dict[str, Json] | list[Json] | None:
        """The object or array that stands whole in the window, read and decoded; None leaves it to `read`."""
        source = self._source
        window, begin = source.window, source.pos
        if self._failures >= _FAST_FAILURES or len(window) - begin < _FAST_MINIMUM:
            return None
        if self.duplicates:
            self.duplicates.clear()
        try:
            value, end = self._scan_once(window, begin)
        except (StopIteration, ValueError, RecursionError):
            self._failures += 1
            self.duplicates.clear()
            return None
        if end - begin > MAX_DEPTH or window.find("\\u", begin, end) >= 0:
            decoded = _decoded(value, window, begin, end)
            if decoded is None:
                return None
            value = cast("dict[str, Json] | list[Json]", decoded.value)
        source.pos = end
        return value

    def read(self) -> Generator[None, None, tuple[End, Decoded | None]]:
        """Read one object or array and decode it. A broken or cut value is left read as far as it was understood."""
        if (value := self.take()) is not None:
            return End.BALANCED, Decoded(value, False)
        return (yield from self.scan())

    def scan(self) -> Generator[None, None, tuple[End, Decoded | None]]:
        """`read` for a value that may be cut or broken."""
        source = self._source
        self.duplicates.clear()
        start = source.since_mark()
        end = yield from scan(source)
        return end, self._decode_from(source.text(), start) if end is End.BALANCED else None

    def _decode_from(self, text: str, start: int) -> Decoded | None:
        """The value that begins at `start` and ends with the text; not sliced, since it may be large."""
        try:
            value, end = self._scan_once(text, start)
            return _decoded(value, text, start, end)
        except (StopIteration, ValueError, RecursionError):
            self.duplicates.clear()
            return mend(text[start:])

    def object_in(self, text: str) -> dict[str, Json] | None:
        """The object that a text is, to the letter and without a doubt; None if it is anything else."""
        before = len(self.duplicates)
        try:
            value, end = self._scan_once(text, 0)
        except (StopIteration, ValueError, RecursionError):
            value, end = None, -1
        decoded = _decoded(value, text, 0, end) if end == len(text) and type(value) is dict else None
        if decoded is not None and len(self.duplicates) == before:
            return cast("dict[str, Json]", decoded.value)
        del self.duplicates[before:]
        return None

    def decode(self, text: str) -> Decoded | None:
        """The value of a whole JSON text, or of one with a single sensible reading."""
        before = len(self.duplicates)
        try:
            return _decoded(self._decoder.decode(text), text, 0, len(text))
        except (ValueError, RecursionError):
            del self.duplicates[before:]
            return mend(text)


def _object(duplicates: list[str]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """What makes an object of its members, and writes down the keys that were there already."""

    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            duplicates.extend(key for key, _ in pairs if key in seen or seen.add(key))
        return made

    return make


def _decoded(value: Any, text: str, start: int, end: int) -> Decoded | None:
    """A value just decoded, unless it is nested too deeply for those who will walk through it."""
    brackets = text.count("[", start, end) + text.count("{", start, end)
    if brackets > MAX_DEPTH and _is_deep(value):
        return None
    return Decoded(_clean(value) if text.find("\\u", start, end) >= 0 else value, False)


def _is_deep(value: Any) -> bool:
    """Whether objects and arrays are nested too deeply, looked at layer by layer."""
    layer: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        layer = [inner for outer in layer for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not layer:
            return False
    return True


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def mend(text: str) -> Decoded | None:
    """Read Python-style literals, or close what is open; failing that, let json-repair guess. None if nothing helps."""
    brackets = _brackets(text, 0, len(text))
    if brackets.deepest > MAX_DEPTH:
        return None
    try:
        return Decoded(literals.read_value(text), True)
    except literals.NotLiteral:
        pass
    try:
        completed = text + brackets.missing
        return Decoded(_clean(json.loads(completed, strict=False, parse_constant=_no_constant)), True)
    except (ValueError, RecursionError):
        pass
    if len(text) > REPAIR_LIMIT:
        return None
    try:
        import json_repair  # slow to import and needed for broken JSON only
    except ImportError:
        return None
    try:
        value = cast("Json", json_repair.loads(text, skip_json_loads=True))
    except ValueError:
        return None
    return Decoded(_clean(value), True) if isinstance(value, dict | list) and value else None


def is_open(text: str) -> bool:
    """Whether brackets are open at the end of a text."""
    return bool(_brackets(text, 0, len(text)).missing)


class _Brackets(NamedTuple):
    """How deeply a text is nested, and what would close what is open at its end."""

    deepest: int
    missing: str


def _brackets(text: str, pos: int, end: int) -> _Brackets:
    missing: list[str] = []
    deepest = 0
    while match := _BRACKET_OR_QUOTE(text, pos, end):
        pos = match.end()
        char = match.group()
        if char == '"':
            while (stop := _STRING_STOP(text, pos, end)) and stop.group() != '"':
                pos = stop.end() + 1
            pos = stop.end() if stop else end
        elif char in "{[":
            missing.append("}" if char == "{" else "]")
            deepest = max(deepest, len(missing))
        elif missing:
            missing.pop()
    return _Brackets(deepest, "".join(reversed(missing)))


def _clean(value: Any) -> Json:
    """JSON can spell half of a surrogate pair; such a string could never be sent anywhere."""
    if isinstance(value, str):
        return value if value.isascii() or not _SURROGATE.search(value) else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {cast("str", _clean(key)): _clean(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


_SURROGATE = re.compile("[\ud800-\udfff]")


def _no_constant(text: str) -> Json:
    raise ValueError(f"{text} is not JSON")


_BRACKET_OR_QUOTE = re.compile(r'["{}\[\]]').search
_STRING_STOP = re.compile(r'["\\]').search
_WORD = re.compile(r"[-+.\w]*").match
_SPACE = re.compile(r"[ \t\r\n]*").match
_VALUE, _AFTER, _KEY, _COLON, _IN_WORD = range(5)


def scan(source: Source) -> Generator[None, None, End]:
    """Read one object or array by its brackets and strings, checking only what a cut or a missing quote would break."""
    state = _VALUE
    stack: list[str] = []
    while True:
        if state == _IN_WORD:
            source.pos = _end(_WORD, source)
            state = _AFTER if source.pos < len(source.window) else _IN_WORD
        pos = _end(_SPACE, source)
        if pos == len(source.window):
            if pos > source.pos and state == _IN_WORD:
                state = _AFTER
            source.pos = pos
            if source.closed:
                return End.CUT
            yield
            continue
        char = source.window[pos]
        source.pos = pos + 1
        if char == '"' and state in (_VALUE, _KEY):
            if not (yield from _scan_string(source)):
                return End.CUT
            state = _COLON if state == _KEY else _AFTER
            continue
        state = _next_state(char, state, stack)
        if state < 0:
            source.pos = pos
            return End.BROKEN
        if not stack:
            return End.BALANCED


def _end(pattern: Callable[[str, int], re.Match[str] | None], source: Source) -> int:
    match = pattern(source.window, source.pos)
    return match.end() if match else source.pos


def _next_state(char: str, state: int, stack: list[str]) -> int:
    """The state after a character outside strings, with `stack` changed by brackets; -1 where it may not stand."""
    if char == "," and state == _AFTER:
        return _KEY if stack[-1] == "{" else _VALUE
    if char == ":" and state == _COLON:
        return _VALUE
    if char in "{[" and state == _VALUE:
        stack.append(char)
        return _KEY if char == "{" else _VALUE
    if char in "}]" and stack and stack[-1] == ("{" if char == "}" else "["):
        if state == _AFTER or state == (_KEY if char == "}" else _VALUE):
            stack.pop()
            return _AFTER
        return -1
    return _IN_WORD if state == _VALUE and stack and (char.isalnum() or char in "-+._") else -1


def _scan_string(source: Source) -> Generator[None, None, bool]:
    """Read to the end of a string whose opening quote was read."""
    while True:
        match = _STRING_STOP(source.window, source.pos)
        if match is None:
            source.pos = len(source.window)
        elif match.group() == '"':
            source.pos = match.end()
            return True
        elif match.end() < len(source.window):
            source.pos = match.end() + 1
            continue
        else:
            source.pos = match.start()
        if source.closed:
            return False
        yield
