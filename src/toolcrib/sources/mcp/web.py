"""A server reached over streamable HTTP: bounded answers, no redirects to elsewhere, the same cleaning as a pipe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.pipe import MESSAGE_LIMIT

_CONNECT_SECONDS, _READ_SECONDS = 10.0, 300.0


@asynccontextmanager
async def reached(url: str, headers: Mapping[str, str], cleaner: Cleaner) -> AsyncGenerator[tuple[Any, Any], None]:
    """The streams the protocol's client wants, over HTTP."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    transport = Bounded(httpx2.AsyncHTTPTransport())
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, transport=transport, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MESSAGE_LIMIT) as (theirs, ours),
    ):
        incoming, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def receive() -> None:
            async with incoming:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async for message in theirs:
                        await incoming.send(_cleaned(message, cleaner))

        async def send() -> None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for message in outgoing:
                    if isinstance(message.message, JSONRPCRequest):
                        cleaner.sent({"id": message.message.id, "method": message.message.method})
                    await ours.send(message)

        tasks = [asyncio.create_task(receive()), asyncio.create_task(send())]
        try:
            yield reading, writing
        finally:
            for task in tasks:
                task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait(tasks)
            for stream in (incoming, reading, writing, outgoing):
                stream.close()


def _cleaned(message: SessionMessage | Exception, cleaner: Cleaner) -> SessionMessage | Exception:
    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse):
        cleaner.received({"id": message.message.id, "result": message.message.result})
    return message


class Bounded(httpx2.AsyncBaseTransport):
    """A transport whose plain answers may not be larger than one message; streams are bounded event by event."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if "text/event-stream" not in response.headers.get("content-type", ""):
            response.stream = _BoundedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MESSAGE_LIMIT:
                raise httpx2.ReadError(f"the server sent more than {MESSAGE_LIMIT // 1024 // 1024} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
