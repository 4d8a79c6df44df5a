"""JSON objects after a marker, between tags, in a fence or bare: `{"name": …, "arguments": …}`, alone or in a list."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import NamedTuple, cast

from toolcrib.dialects.formats.spec import JsonBlock, Shape
from toolcrib.dialects.jsontext import Decoded, End, mend
from toolcrib.dialects.literals import PYTHON_QUOTES, NotLiteral, bracket_scanner, read_value
from toolcrib.dialects.parsed import Json
from toolcrib.dialects.reader import Block, Reader, visible_name
from toolcrib.dialects.source import Markers, read_to_any, skip_space, take

ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
NAME_KEYS = ("name", "tool_name", "function", "tool")
ID_KEYS = ("id", "tool_call_id", "call_id")
_JUNK = "}])\"'`,;"


def read(reader: Reader, spec: JsonBlock) -> Block:
    source = reader.source
    while (yield from take(source, spec.leads)):
        yield from skip_space(source)
    calls = 0
    listed = False
    while True:
        char = yield from skip_space(source)
        if char == "{":
            entered = yield from _read_object(reader, spec)
            if not entered:
                return calls > 0
            calls += 1
            reader.commit()
        elif char == "[" and not listed and not calls:
            listed = True
            source.pos += 1
        elif char and ((char == "]" and listed) or (char in ",;" and calls)):
            listed = listed and char != "]"
            source.pos += 1
        else:
            break
    if calls or char:
        yield from _read_close(reader, spec)
    return calls > 0


def _read_object(reader: Reader, spec: JsonBlock) -> Block:
    """Read one object and enter the calls in it. False when it is none."""
    start = reader.source.since_mark()
    end, decoded = yield from reader.json.read()
    if decoded is None and spec.bare and end is End.BROKEN:
        decoded = yield from _recover_bare(reader, start)
        if decoded is None:
            return False
    if decoded is None:
        decoded = yield from recover(reader, start, spec.closes, spec.opens)
    if decoded is None:
        return _enter_unreadable(reader, spec, reader.source.text()[start:], end)
    found = list(calls_in(decoded.value, spec))
    if not found or not all(reader.accepts(call.name) for call in found):
        reader.plain = reader.source.since_mark() if spec.bare else 0
        return False
    for call in found:
        _enter(reader, call, repaired=decoded.repaired)
    return True


class Found(NamedTuple):
    """A call in a JSON value, with arguments as they stand there."""

    name: str
    arguments: Json
    id: str | None


def calls_in(value: Json, spec: JsonBlock) -> Iterator[Found]:
    """Every call a JSON value describes; nothing when it describes none."""
    if isinstance(value, list):
        for item in value:
            yield from calls_in(item, spec)
        return
    if not isinstance(value, dict):
        return
    if isinstance(nested := value.get("tool_calls"), list):
        for item in nested:
            yield from calls_in(item, spec)
        return
    if isinstance(inner := value.get("function"), dict):
        value = {**inner, "id": value.get("id")}
    if spec.shape is Shape.KEYED and len(value) == 1:
        name, arguments = next(iter(value.items()))
        if isinstance(arguments, dict):
            yield Found(name, arguments, None)
            return
    name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), "")
    key = next((key for key in ARGUMENT_KEYS if key in value), None)
    if not name or (key is None and spec.bare):
        return
    id = next((str(value[key]) for key in ID_KEYS if isinstance(value.get(key), str | int)), None)
    yield Found(cast("str", name), value[key] if key is not None else {}, id)


def _enter(reader: Reader, call: Found, *, repaired: bool) -> None:
    arguments = call.arguments
    if isinstance(arguments, str) and arguments.strip():
        decoded = reader.json.decode(arguments)
        if decoded is not None:
            arguments, repaired = decoded.value, repaired or decoded.repaired
    if arguments is None or arguments == "":
        arguments = {}
    if isinstance(arguments, dict):
        reader.enter(call.name, arguments, id=call.id, repaired=repaired)
    else:
        reader.enter_malformed(call.name, call.id)


def recover(
    reader: Reader, start: int, closes: tuple[str, ...], opens: tuple[str, ...]
) -> Generator[None, None, Decoded | None]:
    """Go back to where a broken value began and read it up to the first close, or to the next opening."""
    source = reader.source
    if not closes or not reader.allowance:
        return None
    reader.allowance = max(0, reader.allowance - source.since_mark() + start)
    source.rewind()
    source.mark()
    source.pos += start
    found = yield from read_to_any(source, Markers((*closes, *opens)))
    text = source.text()[start:]
    if found is None:
        return _whole_literal(text)
    source.pos -= len(found)
    return mend(text[: -len(found)].strip().removesuffix("```"))


def _whole_literal(text: str) -> Decoded | None:
    """A text that ran out may still be a whole Python literal; it must never be completed by guessing."""
    try:
        return Decoded(read_value(text.strip().removesuffix("```")), True)
    except NotLiteral:
        return None


def _recover_bare(reader: Reader, start: int) -> Generator[None, None, Decoded | None]:
    """A bare object that is no JSON may be a Python dictionary."""
    source = reader.source
    source.rewind()
    source.mark()
    source.pos += start
    if not reader.allowance or not (yield from _scan_python(source)):
        return None
    return _whole_literal(source.text()[start:])


_scan_python = bracket_scanner(PYTHON_QUOTES)


def _enter_unreadable(reader: Reader, spec: JsonBlock, text: str, end: End) -> bool:
    name = visible_name(text)
    if not (reader.tools.known and name in reader.tools.known if spec.bare else reader.accepts(name)):
        if reader.source.closed and not spec.bare:
            reader.note("incomplete_call", "the text ends before a call says its name")
        return False
    if end is End.CUT and reader.source.closed and reader.source.pos == len(reader.source.window):
        reader.enter_incomplete(name)
    else:
        reader.enter_malformed(name)
    return True


def _read_close(reader: Reader, spec: JsonBlock) -> Generator[None, None, None]:
    """Read the close, also behind a fence or a few stray brackets; a close that comes later is dropped there."""
    source = reader.source
    if spec.closes:
        for _ in range(8):
            if (yield from take(source, spec.closes)):
                return
            char = yield from skip_space(source)
            if not char or char not in _JUNK:
                break
            source.pos += 1
        reader.open_wraps.update(spec.closes)
    elif (yield from take(source, ("```",) if "```" in spec.opens else ())):
        return


def compact(value: Json) -> str:
    """JSON as the models were trained to write it."""
    return json.dumps(value, ensure_ascii=False)
