"""Tool calls over a pipe, past the protocol's library, which spends more on a call than all that is done to it here.

The library still makes the connection, lists tools and hears notifications. Only calls go this way, under ids that it
never uses, and only on connections whose protocol asks for nothing else in a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, cast

import orjson
from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import INTERNAL_ERROR

from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen

Tell = ProgressFnT
Raw = dict[str, Any]


class ServerDown(Exception):
    """The server cannot be reached now; the message says why."""


@frozen
class Wire:
    """How a transport takes a line: at once, and then until there is room for the next."""

    write: Callable[[bytes], None]
    drain: Callable[[], Awaitable[None]]


class Lane:
    """The calls that wait on one connection. A call that is given up is cancelled on the server."""

    def __init__(self) -> None:
        self._wire: Wire | None = None
        self._next = count(1).__next__
        self._waiting: dict[str, tuple[asyncio.Future[Raw], Tell]] = {}
        self.answers = 0
        """How many calls were answered here."""

    @property
    def is_open(self) -> bool:
        return self._wire is not None

    def open(self, wire: Wire) -> None:
        self._wire = wire

    def shut(self) -> None:
        """The connection ended: whoever waits for an answer learns that none will come."""
        self._wire = None
        waiting, self._waiting = self._waiting, {}
        for answer, _ in waiting.values():
            if not answer.done():
                answer.set_exception(ServerDown("the server went away during the call"))

    async def call(self, name: str, arguments: dict[str, Json], tell: Tell) -> Raw:
        """One tool call; its raw result, or the error that the server gave."""
        wire = self._wire
        if wire is None:
            raise ServerDown("the server went away before the call")
        id = f"call-{self._next()}"
        answer: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._waiting[id] = (answer, tell)
        params: Raw = {"name": name, "arguments": arguments, "_meta": {"progressToken": id}}
        try:
            wire.write(line_of({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            await wire.drain()
            return await answer
        except asyncio.CancelledError:
            if self._wire is wire:
                wire.write(line_of({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": _given_up(id)}))
            raise
        except OSError as error:
            raise ServerDown("the server went away during the call") from error
        finally:
            self._waiting.pop(id, None)

    async def took(self, message: Raw, cleaner: Cleaner) -> bool:
        """Whether a message belongs to a call of ours; then it has been dealt with."""
        if "method" not in message:
            id = message.get("id")
            if type(id) is not str or not id.startswith("call-"):
                return False
            if (found := self._waiting.get(id)) is not None and not found[0].done():
                _settle(found[0], message, cleaner)
                self.answers += 1
            return True  # an answer that nobody waits for any more reaches nobody
        if message["method"] != "notifications/progress":
            return False
        return await self._progressed(message.get("params"))

    async def _progressed(self, params: object) -> bool:
        said = cast("Raw", params) if isinstance(params, dict) else {}
        found = self._waiting.get(str(said.get("progressToken")))
        if found is None:
            return False
        done, total, words = said.get("progress"), said.get("total"), said.get("message")
        if isinstance(done, int | float):
            whole = total if isinstance(total, int | float) else None
            await found[1](done, whole, words if isinstance(words, str) else None)
        return True


def line_of(message: Raw) -> bytes:
    return orjson.dumps(message) + b"\n"


def _settle(answer: asyncio.Future[Raw], message: Raw, cleaner: Cleaner) -> None:
    result, error = message.get("result"), message.get("error")
    if isinstance(result, dict):
        found = cast("Raw", result)
        cleaner.clean("tools/call", found)
        answer.set_result(found)
        return
    said = cast("Raw", error) if isinstance(error, dict) else {}
    code = said.get("code")
    words = str(said.get("message") or "the server's answer has neither a result nor an error")
    answer.set_exception(MCPError(code if isinstance(code, int) else INTERNAL_ERROR, words))


def _given_up(id: str) -> Raw:
    return {"requestId": id, "reason": "the call was given up"}
