"""Calls written like code: `name(key=value, …)` or `call:name{key:value, …}`."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from functools import lru_cache
from sys import intern
from typing import cast

from toolcrib.dialects.coerce import fit
from toolcrib.dialects.formats.spec import Invoked
from toolcrib.dialects.literals import (
    PYTHON_QUOTES,
    NotLiteral,
    bracket_scanner,
    plain_arguments,
    read_arguments,
    read_value,
)
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.reader import Block, Reader, Take
from toolcrib.dialects.row import Row, take_row, with_close
from toolcrib.dialects.source import Markers, Source, markers, read_to_any, skip_space, take
from toolcrib.values.json import Json

_HEAD_LIMIT = 256
_NAME = re.compile(r"\s*(?P<name>[^\W\d][\w.\-/:]*)\s*")
_scanner = lru_cache(maxsize=16)(bracket_scanner)


def read(reader: Reader, spec: Invoked) -> Block:
    source = reader.source
    listed = (source.peek() or (yield from skip_space(source))) == "[" and spec.bracket == "("
    source.pos += listed
    calls = 0
    while True:
        char = source.peek() or (yield from skip_space(source))
        if char and char in ",;" and calls:
            source.pos += 1
        elif char == "]" and listed:
            source.pos += 1
            listed = False
            break
        elif not char or (calls and not listed and not (char.isalpha() or char == "_")):
            break
        elif (yield from _read_call(reader, spec, alone=spec.bare and not listed)):
            calls += 1
            reader.commit()
            if listed or spec.closes:
                take_row(reader, _list(spec))
                source.mark()
        else:
            reader.seek(0)
            break
        if not spec.closes and not listed:
            break
    if calls:
        yield from _read_close(reader, spec)
    return calls > 0


def _ends_line(source: Source) -> Block:
    """Whether nothing follows on the line: a bare call in the middle of a sentence is being talked about."""
    while source.pos == len(source.window) and not source.closed:
        yield
    return source.window[source.pos : source.pos + 1] in ("", "\n", "\r", ";", "<")


def head(spec: Invoked) -> str:
    """The name and the bracket behind it."""
    return rf"{re.escape(spec.prefix)}(?P<name>[A-Za-z_][\w.\-/:]*){re.escape(spec.bracket)}"


@lru_cache(maxsize=64)
def taking(spec: Invoked) -> Take:
    """What takes a call of a known tool with plain values, close and all; without a close, up to any character."""
    return with_close(_list(spec).take, spec.closes, r"(?=\S)")


@lru_cache(maxsize=64)
def _list(spec: Invoked) -> Row:
    """A call of a known tool with plain values behind another in a list."""
    arguments_of, text_values = plain_arguments(spec.quotes), spec.text_values

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        name, source, known = head["name"].removesuffix(".call"), reader.source, reader.tools.known
        plain = arguments_of(source.window, head.end()) if known is not None and name in known else None
        if plain is None:
            return None
        arguments, source.pos = plain
        return ParsedCall(intern(name), _typed(reader, name, arguments) if text_values else arguments)

    return Row(re.compile(rf"(?P<call>)\s*(?:[,;]\s*)?{head(spec)}").match, take)


def _read_call(reader: Reader, spec: Invoked, *, alone: bool) -> Block:
    source = reader.source
    yield from take(source, (spec.prefix,) if spec.prefix else ())
    start = source.since_mark()
    found = yield from read_to_any(source, _ends(spec), _HEAD_LIMIT)
    text = source.text()[start:]
    head = _NAME.fullmatch(text[: -len(found)] if found else text)
    name = head["name"].removesuffix(".call") if head is not None else ""
    if not reader.accepts(name) or (found is not None and found != spec.bracket):
        return False
    if found is None:
        return _enter_cut(reader, spec, name)
    source.back(1)
    start = source.since_mark()
    if not (yield from _scanner(spec.quotes)(source)):
        return (yield from _enter_broken(reader, spec, name, start))
    if alone and not (yield from _ends_line(source)):
        return False
    return _enter(reader, spec, name, start)


@lru_cache(maxsize=64)
def _ends(spec: Invoked) -> Markers:
    return Markers((spec.bracket, ")", "]", "}", "<", "\n\n"))


def _enter(reader: Reader, spec: Invoked, name: str, start: int) -> bool:
    text, mark = reader.source.view()
    end = mark + reader.source.since_mark()
    try:
        arguments = read_arguments(text, mark + start, end, spec.quotes)
    except NotLiteral:
        arguments = _loose(reader, name, text[mark + start : end], spec)
        if arguments is None:
            if not spec.bare:
                reader.enter_malformed(name)
            return not spec.bare
        reader.enter(name, arguments, repaired=True)
        return True
    reader.enter(name, _typed(reader, name, arguments) if spec.text_values else arguments)
    return True


def _typed(reader: Reader, name: str, arguments: dict[str, Json]) -> dict[str, Json]:
    """Arguments with the types of the schema, for formats that write every value as text."""
    members = reader.tools.members(name)
    return {
        key: fit(value, types) if isinstance(value, str) and (types := members[key].types) else value
        for key, value in arguments.items()
    }


def _loose(reader: Reader, name: str, text: str, spec: Invoked) -> dict[str, Json] | None:
    """Arguments with other quotes than the format's own, or given by position in the order of the schema."""
    if spec.bracket != "(":
        try:
            return read_arguments(text, 0, len(text), (*spec.quotes, *PYTHON_QUOTES), words=True)
        except NotLiteral:
            return None
    properties = reader.tools.schema(name).get("properties")
    if not isinstance(properties, Mapping):
        return None
    try:
        values = read_value(text, spec.quotes)
    except NotLiteral:
        return None
    keys = list(cast("Mapping[str, object]", properties))
    return dict(zip(keys, values, strict=False)) if isinstance(values, list) and len(values) <= len(keys) else None


def _enter_broken(reader: Reader, spec: Invoked, name: str, start: int) -> Block:
    """The brackets never close: the call ends where the next one begins, or at the close of the format."""
    source = reader.source
    if spec.bare or reader.is_spent:
        return _enter_cut(reader, spec, name)
    reader.spend(2 * source.since_mark())
    reader.seek(start)
    found = yield from read_to_any(source, markers(*spec.closes, *spec.opens))
    body = source.text()[start : -len(found)] if found else source.text()[start:]
    known = reader.tools.known or frozenset[str]()
    following = next((match.end(1) for match in _CALL.finditer(body) if match[2] in known), None)
    if following is None and found is None:
        return _enter_cut(reader, spec, name)
    reader.seek(start + (len(body) if following is None else following))
    reader.enter_malformed(name)
    return True


_CALL = re.compile(r"([,\s]\s*)([^\W\d][\w.\-/:]*)\s*[({]")


def _enter_cut(reader: Reader, spec: Invoked, name: str) -> bool:
    """The text ended inside the call, or a bracket was closed that was never opened."""
    source = reader.source
    if spec.bare and not reader.tools.known:
        return False
    if source.closed and source.pos == len(source.window):
        reader.enter_incomplete(name)
    elif spec.bare:
        return False
    else:
        reader.enter_malformed(name)
    return True


def _read_close(reader: Reader, spec: Invoked) -> Generator[None, None, None]:
    yield from skip_space(reader.source)
    if spec.closes and not (yield from take(reader.source, spec.closes)):
        reader.open_wraps.update(spec.closes)
