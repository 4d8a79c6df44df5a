"""JSON objects after a marker, between tags, in a fence or bare: `{"name": …, "arguments": …}`, alone or in a list."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import NamedTuple, cast

from toolcrib.dialects.families.json_whole import head as head
from toolcrib.dialects.families.json_whole import in_list, plain
from toolcrib.dialects.families.json_whole import taking as taking
from toolcrib.dialects.formats.spec import JsonBlock, Shape
from toolcrib.dialects.jsontext import Decoded, End, mend
from toolcrib.dialects.literals import PYTHON_QUOTES, NotLiteral, bracket_scanner, read_value
from toolcrib.dialects.reader import Block, Reader, visible_name
from toolcrib.dialects.row import take_row
from toolcrib.dialects.source import Source, markers, read_to_any, skip_space, take
from toolcrib.values.json import Json

ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
NAME_KEYS = ("name", "tool_name", "function", "tool")
ID_KEYS = ("id", "tool_call_id", "call_id")
_USUAL: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
_MEMBERS_LIMIT = 400
_JUNK = "}])\"'`,;"


def read(reader: Reader, spec: JsonBlock) -> Block:
    source = reader.source
    calls = 0
    listed = wrapped = False
    while lead := (yield from take(source, spec.leads)):
        listed = wrapped = lead.endswith("[")
        yield from skip_space(source)
    while True:
        char = source.peek() or (yield from skip_space(source))
        if char == "{":
            whole = reader.json.take()
            if not (
                _enter_calls(reader, spec, Decoded(whole, False))
                if whole is not None
                else (yield from _read_object(reader, spec))
            ):
                return calls > 0
            calls += 1
            reader.commit()
            take_row(reader, in_list(spec))
            source.mark()
        elif char == "[" and not listed and not calls:
            listed = True
            source.pos += 1
        elif char == "," and wrapped and not listed:
            yield from _read_members(source)
            wrapped = False
        elif char and ((char == "]" and listed) or (char in ",;" and calls)):
            listed = listed and char != "]"
            source.pos += 1
        elif char == "}" and wrapped and not listed:
            wrapped = False
            source.pos += 1
        else:
            break
    if calls or char:
        yield from _read_close(reader, spec)
    return calls > 0


def _read_members(source: Source) -> Generator[None, None, None]:
    """Read what else an object says behind its list of calls, if that is simple."""
    if (yield from read_to_any(source, markers("{", "}"), _MEMBERS_LIMIT)) == "{":
        source.back(1)


def _read_object(reader: Reader, spec: JsonBlock) -> Block:
    """Read an object that is not simply there, and enter the calls in it. False when it holds none."""
    start = reader.source.since_mark()
    end, decoded = yield from reader.json.scan()
    if decoded is None and spec.bare and end is End.BROKEN:
        decoded = yield from _recover_bare(reader, start)
        if decoded is None:
            return False
    if decoded is None:
        opens = () if spec.bare else spec.opens
        decoded = yield from recover(reader, start, spec.closes, opens, spec)
    if decoded is None:
        return _enter_unreadable(reader, spec, reader.source.text()[start:], end)
    return _enter_calls(reader, spec, decoded)


def _enter_calls(reader: Reader, spec: JsonBlock, decoded: Decoded) -> bool:
    whole = plain(spec)(decoded.value, reader) if not decoded.repaired else None
    if whole is not None:
        reader.enter_call(whole)
        return True
    found = list(calls_in(decoded.value, spec))
    if not found or not all(reader.accepts(call.name) for call in found):
        reader.plain = reader.source.since_mark() if spec.bare else 0
        if reader.ledger.owned > reader.opened:  # it stands behind calls, and is text
            reader.seek(0)
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
        name, id = inner.get("name"), value.get("id")
        if isinstance(name, str) and name and "arguments" in inner and isinstance(id, str) and spec.keys == _USUAL:
            yield Found(name, inner["arguments"], id)
            return
        value = {**inner, "id": value.get("id")}
    if spec.shape is Shape.KEYED and len(value) == 1:
        name, arguments = next(iter(value.items()))
        if isinstance(arguments, dict):
            yield Found(name, arguments, None)
            return
    name = next((value[key] for key in (*spec.keys[0], *NAME_KEYS) if isinstance(value.get(key), str)), "")
    key = next((key for key in (*spec.keys[1], *ARGUMENT_KEYS) if key in value), None)
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
    reader: Reader, start: int, closes: tuple[str, ...], opens: tuple[str, ...], spec: JsonBlock | None = None
) -> Generator[None, None, Decoded | None]:
    """Go back to where a broken value began and mend it, up to the next call, close or opening, whichever is first."""
    source = reader.source
    if reader.is_spent:
        return None
    reader.seek(start)
    found = yield from read_to_any(source, markers(*closes, *opens))
    text = source.text()[start:]
    body = text[: len(text) - len(found or "")]
    reader.spend(2 * len(text))
    following = _next_call(reader, body, spec) if spec is not None else None
    if following is not None:
        reader.seek(start + following)
        return mend(body[:following].rstrip(" \n\r\t,;"))
    if found is not None:
        source.back(len(found))
        return mend(_unfenced(body))
    whole = _whole_literal(body)
    if whole is None:
        reader.seek(start)
        if (yield from _scan_python(source)):
            return mend(source.text()[start:])
        source.pos = len(source.window)
    return whole


_scan_python = bracket_scanner(PYTHON_QUOTES)
_OBJECT = re.compile(r"[,;]\s*(\{\s*\")")
_CANDIDATES = 32


def _next_call(reader: Reader, text: str, spec: JsonBlock) -> int | None:
    """Where, behind a broken object, the next one begins that certainly is a call of a tool that exists."""
    for _, match in zip(range(_CANDIDATES), _OBJECT.finditer(text), strict=False):
        try:
            value, _ = _DECODER.raw_decode(text, match.start(1))
        except (ValueError, RecursionError):
            continue
        calls = list(calls_in(cast("Json", value), spec))
        if calls and reader.tools.known and all(call.name in reader.tools.known for call in calls):
            return match.start(1)
    return None


_DECODER = json.JSONDecoder(strict=False)


def _unfenced(text: str) -> str:
    return text.strip().removesuffix("```")


def _whole_literal(text: str) -> Decoded | None:
    """A text that ran out may still be a whole Python literal; it must never be completed by guessing."""
    try:
        return Decoded(read_value(_unfenced(text)), True)
    except NotLiteral:
        return None


def _recover_bare(reader: Reader, start: int) -> Generator[None, None, Decoded | None]:
    """A bare object that is no JSON may be a Python dictionary."""
    reader.seek(start)
    if reader.is_spent or not (yield from _scan_python(reader.source)):
        return None
    return _whole_literal(reader.source.text()[start:])


def _enter_unreadable(reader: Reader, spec: JsonBlock, text: str, end: End) -> bool:
    name = visible_name(text, spec.shape)
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
            char = source.peek() or (yield from skip_space(source))
            if not char or char not in _JUNK:
                break
            source.pos += 1
        reader.open_wraps.update(spec.closes)
        reader.in_fence = "```" in spec.closes
    elif (yield from take(source, ("```",) if "```" in spec.opens else ())):
        return


def compact(value: Json) -> str:
    """JSON as the models were trained to write it."""
    return json.dumps(value, ensure_ascii=False)
