"""Messages on named channels (harmony): reasoning, prose and calls are told apart by the header of the message."""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern

from toolcrib.dialects.families.json_block import recover
from toolcrib.dialects.formats.spec import Channels
from toolcrib.dialects.jsontext import End
from toolcrib.dialects.parsed import Kind, ParsedCall
from toolcrib.dialects.reader import Block, Reader, Take
from toolcrib.dialects.source import Markers, markers, read_to_any, skip_space, starts_with, take

START, CHANNEL = "<|start|>", "<|channel|>"
_HEAD_LIMIT = 300
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?([^\s<]+)")
_CHANNEL = re.compile(r"\s*(\w*)")


def read(reader: Reader, spec: Channels) -> Block:
    """Read a header; then a call, a stretch of reasoning, or nothing more (what follows is prose)."""
    source = reader.source
    head = ""
    if source.text().startswith(START):
        yield from take(source, ("assistant", "commentary", "analysis", "final"))
        addressed = yield from starts_with(source, " to=")
        if not addressed and not (yield from starts_with(source, CHANNEL)):
            yield from take(source, (spec.message,))
            return True
    if CHANNEL in spec.opens:
        start = source.since_mark()
        found = yield from read_to_any(source, markers(spec.message), _HEAD_LIMIT)
        head = source.text()[start:]
        if found is None:
            return _enter_headless(reader, head)
    recipient = _RECIPIENT.search(head)
    if recipient is not None:
        return (yield from _read_call(reader, spec, recipient[1]))
    channel = _CHANNEL.match(head.partition(CHANNEL)[2] or head)
    if channel is not None and channel[1] in spec.reasoning_channels:
        yield from _read_reasoning(reader, spec)
    return True


def head(spec: Channels) -> str:
    """Nothing: what takes a call looks for the recipient up to the message."""
    return ""


@lru_cache(maxsize=8)
def taking(spec: Channels) -> Take:
    """What takes a call behind its header's channel, end and all."""
    message, tail = spec.message, re.compile(rf"\s*(?:{'|'.join(map(re.escape, spec.ends))})").match

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        source, begin = reader.source, head.end()
        window = source.window
        body = window.find(message, begin, begin + _HEAD_LIMIT)
        recipient = _RECIPIENT.search(window, begin, body) if body >= 0 else None
        if recipient is None or not reader.accepts(recipient[1]):
            return None
        source.pos = body + len(message)
        arguments = reader.json.take() if source.peek() == "{" else None
        end = tail(window, source.pos) if type(arguments) is dict else None
        if type(arguments) is not dict or end is None or reader.json.duplicates:
            return None
        source.pos = end.end()
        return ParsedCall(intern(recipient[1]), arguments)

    return take


def _enter_headless(reader: Reader, head: str) -> bool:
    recipient = _RECIPIENT.search(head)
    if recipient is None or not reader.source.closed or not reader.accepts(recipient[1]):
        return False
    reader.enter_incomplete(recipient[1])
    return True


def _read_call(reader: Reader, spec: Channels, name: str) -> Block:
    source = reader.source
    if not reader.accepts(name):
        return False
    char = source.peek() or (yield from skip_space(source))
    if char == "<" and not (yield from _ends_here(reader, spec)):
        return True
    if char == "{":
        start = source.since_mark()
        end, decoded = yield from reader.json.read()
        if decoded is None:
            decoded = yield from recover(reader, start, spec.ends, (START, CHANNEL))
        if decoded is not None and isinstance(decoded.value, dict):
            reader.enter(name, decoded.value, repaired=decoded.repaired)
        elif end is End.CUT and source.pos == len(source.window):
            reader.enter_incomplete(name)
        else:
            reader.enter_malformed(name)
    elif (yield from take(source, spec.ends)):
        reader.enter(name, {})
        return True
    elif source.closed:
        reader.enter_incomplete(name)
    else:
        reader.enter_malformed(name)
    yield from skip_space(source)
    yield from take(source, spec.ends)
    return True


def _ends_here(reader: Reader, spec: Channels) -> Block:
    for end in spec.ends:
        if (yield from starts_with(reader.source, end)):
            return True
    return False


@lru_cache(maxsize=8)
def _reasoning_ends(spec: Channels) -> Markers:
    return Markers((*spec.ends, START, CHANNEL))


def _read_reasoning(reader: Reader, spec: Channels) -> Block:
    """Read text up to the end of the message; the next header stays unread."""
    source, ledger = reader.source, reader.ledger
    markers = _reasoning_ends(spec)
    ledger.own(Kind.MARKUP, source.position)
    source.release()
    while True:
        match = markers.search(source.window, source.pos)
        end = match.start() if match else len(source.window)
        if not match and not source.closed:
            end = markers.pending(source.window, source.pos)
        if end > source.pos:
            ledger.reasoning(source.window[source.pos : end])
            source.pos = end
        if match or source.closed:
            break
        yield
    ledger.own(Kind.REASONING, source.position)
    source.mark()
    yield from take(source, spec.ends)
    return True
