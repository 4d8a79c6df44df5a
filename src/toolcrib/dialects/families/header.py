"""A header with the tool's name, then its arguments as one JSON object."""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from toolcrib.dialects.families.json_block import recover
from toolcrib.dialects.formats.spec import Header
from toolcrib.dialects.jsontext import End
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.reader import Block, Reader, Take
from toolcrib.dialects.source import Markers, read_to_any, skip_space, take
from toolcrib.values.json import Json

_HEAD_LIMIT = 512


def read(reader: Reader, spec: Header) -> Block:
    whole = _take_call(reader, spec)
    if whole is not None:
        reader.enter(whole.name, whole.arguments, id=whole.id)
        return (yield from _read_tail(reader, spec))
    source = reader.source
    start = source.since_mark()
    found = yield from read_to_any(source, _ends(spec), _HEAD_LIMIT)
    if found:
        source.pos -= len(found)
    text = source.text()[start:]
    head = _head(spec).fullmatch(text)
    name = _tool_name(reader, head)
    if head is None and source.closed and not found:
        return _enter_cut_head(reader, text)
    if head is None or (name == spec.prose_name and found):
        source.pos += len(found or "")
        return head is not None
    if not reader.accepts(name):
        return False
    id = head.groupdict().get("id")
    if not found:
        return _enter_headless(reader, name, id)
    if found in spec.ends and found != "{":
        source.pos += len(found)
        found = source.peek() or (yield from skip_space(source))
        if found != "{":
            return False
    if found == "{":
        yield from _read_arguments(reader, spec, name, id)
    else:
        reader.enter(name, {}, id=id)
    return (yield from _read_tail(reader, spec))


def _read_tail(reader: Reader, spec: Header) -> Block:
    """Read the end of a fence and the close, as far as they are there."""
    source = reader.source
    char = source.peek() or (yield from skip_space(source))
    if char == "`" and (yield from take(source, ("```",))):
        yield from skip_space(source)
    close = source.stands(spec.closes)
    source.pos += len(close)
    if not close and not (yield from take(source, spec.closes)):
        reader.open_wraps.update(spec.closes)
    return True


def head(spec: Header) -> str:
    """The header, up to the brace that opens the arguments."""
    ends = "|".join(re.escape(end) for end in spec.ends if end != "{")
    return rf"{spec.head}(?:{ends})\s*(?=\{{)" if ends else rf"{spec.head}(?=\{{)"


@lru_cache(maxsize=64)
def taking(spec: Header) -> Take:
    """What takes a call of a known tool, close and all; without a close, up to what is no fence."""
    closes = "|".join(map(re.escape, spec.closes)) or r"(?=[^\s`])"
    tail = re.compile(rf"\s*(?:```\s*)?(?:{closes})").match
    prose, has_id = spec.prose_name, "(?P<id>" in spec.head

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        source, known, name = reader.source, reader.tools.known, head["name"]
        if known is None or (name not in known and (name := name.removeprefix("functions.")) not in known):
            return None
        source.pos = pos = head.end()
        if name == prose or pos - head.end("call") > _HEAD_LIMIT:
            return None
        arguments = reader.json.take()
        if type(arguments) is not dict or reader.json.duplicates:
            return None
        end = tail(source.window, source.pos)
        if end is None:
            return None
        source.pos = end.end()
        return ParsedCall(intern(name), arguments, head["id"] if has_id else None)

    return take


class Whole(NamedTuple):
    """A call without doubt."""

    name: str
    arguments: dict[str, Json]
    id: str | None


def _take_call(reader: Reader, spec: Header) -> Whole | None:
    """A call of a known tool whose head and arguments stand whole in the window; None leaves it unread."""
    source = reader.source
    window, begin = source.window, source.pos
    end, found = _ends(spec).next(window, begin, closed=False)
    head = _head(spec).fullmatch(window, begin, end) if found in spec.ends and end - begin <= _HEAD_LIMIT else None
    name = _tool_name(reader, head)
    if head is None or name == spec.prose_name or not reader.accepts(name):
        return None
    source.pos = end
    if found != "{":
        source.pos += len(found)
        source.peek()
    arguments = reader.json.take() if window.startswith("{", source.pos) else None
    if not isinstance(arguments, dict):
        source.pos = begin
        return None
    return Whole(name, arguments, head["id"] if "id" in head.re.groupindex else None)


@lru_cache(maxsize=64)
def _head(spec: Header) -> re.Pattern[str]:
    return re.compile(spec.head)


@lru_cache(maxsize=64)
def _ends(spec: Header) -> Markers:
    return Markers((*spec.ends, *spec.closes, *(opening for opening in spec.opens if opening)))


def _tool_name(reader: Reader, head: re.Match[str] | None) -> str:
    if head is None:
        return ""
    name = head["name"]
    short = name.removeprefix("functions.")
    return name if reader.tools.known and name in reader.tools.known else short


def _enter_cut_head(reader: Reader, text: str) -> bool:
    """The text ends inside the header: it is a call if the header names a tool that exists."""
    words = (word.removeprefix("functions.") for word in _WORD.findall(text))
    name = next((word for word in words if reader.tools.known and word in reader.tools.known), None)
    if name is not None:
        reader.enter_incomplete(name)
    return name is not None


_WORD = re.compile(r"[^\s<>|｜:\[\]{}`\"']+")


def _enter_headless(reader: Reader, name: str, id: str | None) -> bool:
    if not reader.source.closed:
        return False
    reader.enter_incomplete(name, id)
    return True


def _read_arguments(reader: Reader, spec: Header, name: str, id: str | None) -> Block:
    start = reader.source.since_mark()
    end, decoded = yield from reader.json.read()
    if decoded is None:
        decoded = yield from recover(reader, start, spec.closes, tuple(filter(None, spec.opens)))
    if decoded is not None and isinstance(decoded.value, dict):
        reader.enter(name, decoded.value, id=id, repaired=decoded.repaired)
    elif end is End.CUT and reader.source.pos == len(reader.source.window):
        reader.enter_incomplete(name, id)
    else:
        reader.enter_malformed(name, id)
    return True
