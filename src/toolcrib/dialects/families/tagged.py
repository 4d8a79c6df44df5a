"""A tag with the tool's name, then one tag per argument; the text between a pair of argument tags is the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import NamedTuple, cast

from toolcrib.dialects.families.tagged_values import CDATA, plain, typed
from toolcrib.dialects.families.tagged_whole import head as head
from toolcrib.dialects.families.tagged_whole import taking as taking
from toolcrib.dialects.formats.spec import LETTER, Tagged, Text
from toolcrib.dialects.reader import Block, Reader
from toolcrib.dialects.source import Markers, Source, markers, read_to, read_to_any, skip_space, take
from toolcrib.values.json import Json

_HEAD_LIMIT = 512
_JUNK_LIMIT = 200


class Value(NamedTuple):
    """Where an argument's text stands, counted from the mark."""

    key: str
    type: str | None
    start: int
    end: int


@dataclass(slots=True)
class Progress:
    """A call whose arguments are being read."""

    name: str
    text: Text
    values: list[Value] = field(default_factory=list[Value])
    repaired: bool = False


def read(reader: Reader, spec: Tagged) -> Block:
    source = reader.source
    begin = source.pos
    opened = _opening(spec)(source.window, begin)
    whole = taking(spec)(reader, opened) if opened is not None else None
    if whole is not None:
        reader.enter_call(whole)
        return True
    source.pos = begin
    start = source.since_mark()
    found = yield from read_to_any(source, _markers(spec).head, _HEAD_LIMIT)
    text = source.text()[start:]
    head = re.fullmatch(spec.head, text[: len(text) - len(found)] if found else text)
    if head is None or not reader.accepts(head["name"].strip()):
        return False
    call = Progress(head["name"].strip(), spec.text)
    if found and found not in spec.head_ends:
        source.back(len(found))
    if not found:
        return _enter_cut(reader, call)
    position = source.position
    if (source.peek() or (yield from skip_space(source))) == "{":
        return (yield from _read_json(reader, spec, call))
    if reader.grammar.detecting and spec.text is Text.LINES and source.position == position:
        call.text = Text.VERBATIM
    return (yield from _read_values(reader, spec, call))


@lru_cache(maxsize=64)
def _opening(spec: Tagged) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(head(spec)).match


class _Markers(NamedTuple):
    head: Markers
    boundary: tuple[str, ...]


@lru_cache(maxsize=64)
def _markers(spec: Tagged) -> _Markers:
    head = (*spec.head_ends, *spec.parameter_opens, *spec.closes) if spec.value_close else spec.head_ends
    if spec.starts == LETTER:
        head += ("{",)
    wraps = (token for pair in spec.wraps for token in pair)
    return _Markers(Markers(head), tuple({*spec.opens, *wraps} - {"", "<>"}))


def _read_values(reader: Reader, spec: Tagged, call: Progress) -> Block:
    source = reader.source
    boundary = _markers(spec).boundary
    closes = spec.closes or (f"</{call.name}>",)
    while True:
        char = source.peek() or (yield from skip_space(source))
        if not char:
            return _enter_cut(reader, call)
        if (yield from take(source, closes)):
            break
        if (yield from take(source, spec.parameter_opens)):
            if not (yield from _read_value(reader, spec, call, closes)):
                return _enter_cut(reader, call)
            continue
        if source.closed and _is_cut(source, (*closes, *spec.parameter_opens, *boundary)):
            return _enter_cut(reader, call)
        here = yield from take(source, boundary)
        source.pos -= len(here)
        if not here and (yield from _skip_junk(reader, spec, call)):
            continue
        if not here or not call.values:
            return False
        reader.note("missing_close", f"the call of {call.name} was not closed")
        call.repaired = True
        break
    _enter(reader, spec, call)
    return True


def _is_cut(source: Source, tokens: tuple[str, ...]) -> bool:
    """Whether the text ends inside one of the tokens."""
    rest = source.window[source.pos :]
    return any(token != rest and token.startswith(rest) for token in tokens)


def _skip_junk(reader: Reader, spec: Tagged, call: Progress) -> Block:
    """Read a little text that has no business between argument tags, if one comes after it."""
    if not spec.value_close or not reader.tools.knows(call.name):
        return False
    source = reader.source
    closes = spec.closes if call.values else ()
    ahead = markers(*spec.parameter_opens, *closes, *_markers(spec).boundary)
    found = yield from read_to_any(source, ahead, _JUNK_LIMIT)
    if found is None or found in _markers(spec).boundary:
        return False
    source.pos -= len(found)
    call.repaired = True
    reader.note("unexpected_text", f"text between the arguments of {call.name} was left out")
    return True


def _read_value(reader: Reader, spec: Tagged, call: Progress, closes: tuple[str, ...]) -> Block:
    """Read one argument. Inside a value only its own close means anything."""
    source = reader.source
    start = source.since_mark()
    found = yield from read_to_any(source, markers(*spec.parameter_ends), _HEAD_LIMIT)
    if found is None:
        return False
    key = re.fullmatch(spec.key, source.text()[start : -len(found)], re.DOTALL)
    if key is None:
        return False
    name = key["key"].strip().strip("\"'")
    start = source.since_mark()
    close = spec.value_close or f"</{name}>"
    if (yield from _read_to_close(reader, close, call.text)):
        call.values.append(Value(name, key.groupdict().get("type"), start, source.since_mark() - len(close)))
        return True
    return (yield from _recover_value(reader, call, Value(name, key.groupdict().get("type"), start, 0), closes))


def _read_to_close(reader: Reader, close: str, meaning: Text) -> Block:
    """Read past the close of a value; in XML one inside a CDATA section is text."""
    source = reader.source
    if meaning is not Text.XML:
        return (yield from read_to(source, close))
    while found := (yield from read_to_any(source, markers(close, CDATA))):
        if found == close:
            return True
        if not (yield from read_to(source, "]]>")):
            return False
    return False


def _recover_value(reader: Reader, call: Progress, value: Value, closes: tuple[str, ...]) -> Block:
    """The value was never closed: it ends where the call does, if the call does."""
    source = reader.source
    source.rewind()
    source.mark()
    source.pos += value.start
    found = yield from read_to_any(source, markers(*closes))
    if found is None:
        return False
    source.pos -= len(found)
    call.values.append(value._replace(end=source.since_mark()))
    call.repaired = True
    reader.note("missing_close", f"the value of {value.key!r} was not closed")
    return True


def _enter(reader: Reader, spec: Tagged, call: Progress) -> None:
    if call.values:
        _mend_values(reader, spec, call)
    text, mark = reader.source.view()
    members, arguments = reader.tools.members(call.name), dict[str, Json]()
    for value in call.values:
        if value.key in arguments:
            reader.note("duplicate_key", f"{value.key!r} was given twice; the last value counts")
        raw = plain(text, mark + value.start, mark + value.end, call.text)
        arguments[intern(value.key)] = typed(raw, value.type, members[value.key].types)
    reader.enter(call.name, arguments, repaired=call.repaired)


def _mend_values(reader: Reader, spec: Tagged, call: Progress) -> None:
    """Look among the values for markup that would not be there if each had been closed; mostly there is none."""
    text, mark = reader.source.view()
    start, end = mark + call.values[0].start, mark + call.values[-1].end
    if any(text.find(close, start, end) >= 0 for close in spec.closes):
        _give_back(reader, spec, call)
        text, mark = reader.source.view()
        start, end = mark + call.values[0].start, mark + call.values[-1].end
    if spec.value_close and text.count(spec.parameter_opens[0], start, end) >= len(call.values):
        _part(reader, text, mark, spec, call)


def _give_back(reader: Reader, spec: Tagged, call: Progress) -> None:
    """A value that holds the end of a call and the beginning of another was not closed: give the other call back.

    Text that quotes two calls in a row would also quote the close of their values, and so would have ended before.
    """
    text, mark = reader.source.view()
    for number, value in enumerate(call.values):
        start, end = mark + value.start, mark + value.end
        boundary = _boundary(spec).search(text, start, end) if not reader.is_spent else None
        if boundary is not None and text.find(CDATA, start, end) < 0:
            reader.spend(end - boundary.start())
            del call.values[number + 1 :]
            call.values[number] = value._replace(end=boundary.start() - mark)
            call.repaired = True
            reader.seek(boundary.end(1) - mark)
            reader.note("missing_close", f"the value of {value.key!r} was not closed")
            return


@lru_cache(maxsize=64)
def _boundary(spec: Tagged) -> re.Pattern[str]:
    """The close of a call and the opening of another, with nothing but layout between."""
    between = {token for pair in spec.wraps for token in pair} | set(spec.drops)
    frames = [f"{re.escape(opening)}[^<]{{0,200}}{re.escape(close)}" for opening, close in spec.frames]
    layout = "|".join([r"\s", *map(re.escape, sorted(between)), *frames])
    closes = "|".join(map(re.escape, spec.closes)) or "(?!)"
    opens = "|".join(re.escape(opening) for opening in spec.opens if opening not in ("", "<>")) or "(?!)"
    return re.compile(f"((?:{closes}))(?:{layout})*(?:{opens})")


def _part(reader: Reader, text: str, mark: int, spec: Tagged, call: Progress) -> None:
    """A value that holds the opening of an argument the tool has and the call lacks was not closed: part the two."""
    properties = reader.tools.schema(call.name).get("properties")
    missing = set(cast("Mapping[str, object]", properties)) if isinstance(properties, Mapping) else set[str]()
    missing.difference_update(value.key for value in call.values)
    parted: list[Value] = []
    for value in call.values:
        for opened in _opened(spec).finditer(text, mark + value.start, mark + value.end):
            key = re.fullmatch(spec.key, opened[1], re.DOTALL)
            if key is not None and key["key"].strip() in missing:
                missing.discard(key["key"].strip())
                parted.append(value._replace(end=opened.start() - mark))
                value = Value(key["key"].strip(), key.groupdict().get("type"), opened.end() - mark, value.end)
                call.repaired = True
                reader.note("missing_close", f"the value of {parted[-1].key!r} was not closed")
        parted.append(value)
    call.values = parted


@lru_cache(maxsize=64)
def _opened(spec: Tagged) -> re.Pattern[str]:
    """The tag or tags before a value, with the key."""
    opens, ends = ("|".join(map(re.escape, tokens)) for tokens in (spec.parameter_opens, spec.parameter_ends))
    return re.compile(f"(?:{opens})([\\s\\S]{{1,200}}?)(?:{ends})")


def _enter_cut(reader: Reader, call: Progress) -> bool:
    if not reader.source.closed:
        return False
    reader.source.pos = len(reader.source.window)
    reader.enter_incomplete(call.name)
    return True


def _read_json(reader: Reader, spec: Tagged, call: Progress) -> Block:
    """Some models put one JSON object where the argument tags belong."""
    _, decoded = yield from reader.json.read()
    if decoded is None or not isinstance(decoded.value, dict):
        return _enter_cut(reader, call)
    yield from _read_end(reader, spec)
    reader.enter(call.name, decoded.value, repaired=decoded.repaired)
    return True


def _read_end(reader: Reader, spec: Tagged) -> Generator[None, None, None]:
    yield from skip_space(reader.source)
    yield from take(reader.source, spec.closes)
