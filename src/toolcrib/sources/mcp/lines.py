"""Messages out of what a server writes: line by line, bounded, and never in one long turn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

import orjson

from toolcrib.sources.mcp.clean import MOST_TOOLS, Cleaner
from toolcrib.sources.mcp.halves import mended
from toolcrib.sources.mcp.large import read_large
from toolcrib.sources.mcp.marks import MESSAGE_LIMIT, TooDense, TooLong
from toolcrib.values.turn import Turn

_AT_ONCE = 16 * 1024
_HEAD = 4_096
_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")\s*,\s*"result"')
Line = bytes | bytearray
Message = dict[str, Any]


class TooLarge(Exception):
    """A message that is too long, or of too many values; `answer` is an error for the request that it answers."""

    def __init__(self, head: Line, words: str) -> None:
        super().__init__(words)
        self.answer = _answer(bytes(head[:_HEAD]), words)


class Lines:
    """Lines out of chunks, in time linear in the bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> Iterable[Line]:
        *ended, rest = chunk.split(b"\n")
        if ended and self._rest:
            yield self._taken(ended.pop(0))
        yield from filter(None, ended)
        self._rest += rest

    def check(self) -> None:
        """A message whose end has not come yet may be too long already."""
        if len(self._rest) > MESSAGE_LIMIT:
            raise too_long(self._rest)

    def trim(self, limit: int) -> None:
        """Of a line whose end has not come yet keep only the head."""
        del self._rest[limit:]

    def _taken(self, part: bytes) -> bytearray:
        line, self._rest = self._rest, bytearray()
        line += part
        return line


async def decoded(line: Line, cleaner: Cleaner, turn: Turn) -> Message | None:
    """A line as a message; noise that is no JSON at all is passed over, because servers print banners.

    One that begins as an answer becomes an error for whoever waits for it.
    """
    if len(line) <= _AT_ONCE and not line.strip():
        return None
    message = await _loaded(line, turn)
    if not isinstance(message, dict):
        cleaner.noise(line[:200].decode("utf-8", "replace"))
        failed = _answer(bytes(line[:_HEAD]), "the server's answer is no JSON")
        return None if failed["id"] is None else failed
    cleaner.heard()
    return cast("Message", message)


async def _loaded(line: Line, turn: Turn) -> object:
    """What a line says, as far as that can be told; without what is mended here its call would wait in vain."""
    try:
        return await _parsed(line, turn)
    except ValueError:
        whole = await mended(line, turn)
    try:
        return None if whole is None else await _parsed(whole, turn)
    except ValueError:
        return None


async def _parsed(line: Line, turn: Turn) -> object:
    if len(line) <= _AT_ONCE:
        return orjson.loads(line)
    if len(line) > MESSAGE_LIMIT:
        raise too_long(line)
    try:
        return await read_large(line, MOST_TOOLS, turn)
    except TooDense as error:
        raise TooLarge(line, str(error)) from error


def too_long(line: Line) -> TooLarge:
    return TooLarge(line, str(TooLong()))


def _answer(head: bytes, words: str) -> Message:
    """Whom it answers is known only where that stands first: further on it may be part of what a server made up."""
    found = _ID.match(head)
    error = {"code": -32603, "message": words}
    return {"jsonrpc": "2.0", "id": orjson.loads(found[1]) if found else None, "error": error}
