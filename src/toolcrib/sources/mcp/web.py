"""A server reached over streamable HTTP: bounded answers, no redirects to elsewhere, the same cleaning as a pipe."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCRequest, JSONRPCResponse

from toolcrib.network import Reach
from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.marks import MESSAGE_LIMIT, EventMarks, Marks, TooLong, TooMuch
from toolcrib.sources.mcp.pinned import Pinned
from toolcrib.sources.mcp.pipe import Link
from toolcrib.sources.mcp.traffic import Pace, Side
from toolcrib.values.turn import Turn

_CONNECT_SECONDS, _READ_SECONDS, _NOTIFICATION_SECONDS = 10.0, 300.0, 5.0
_SAID = 4_096
SESSION = "mcp-session-id"


@asynccontextmanager
async def reached(
    url: str, headers: Mapping[str, str], link: Link, trust: Trust, reach: Reach
) -> AsyncGenerator[tuple[Any, Any], None]:
    """The streams the protocol's client wants, over HTTP."""
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    pinned = Pinned(url, reach, httpx2.AsyncHTTPTransport(verify=await trust.context(), trust_env=False))
    transport, cleaner = Bounded(pinned, link), link.cleaner
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout, transport=transport, trust_env=False) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MESSAGE_LIMIT) as (theirs, ours),
    ):
        yield _Heard(theirs, cleaner), _Said(ours, cleaner)


class _Heard:
    """What the server says, each message put right when it is taken; not handed on, which would cost a call 10 %."""

    def __init__(self, inner: Any, cleaner: Cleaner) -> None:
        self._inner = inner
        self._cleaner = cleaner

    @property
    def last_context(self) -> object:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _cleaned(await self._inner.receive(), self._cleaner)

    def __aiter__(self) -> _Heard:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _cleaned(await self._inner.__anext__(), self._cleaner)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _Heard:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._inner.__aexit__(*error)


class _Said:
    """What is said to the server; the cleaner has to know what each answer will be one to."""

    def __init__(self, inner: Any, cleaner: Cleaner) -> None:
        self._inner = inner
        self._cleaner = cleaner

    async def send(self, message: SessionMessage, /) -> None:
        if isinstance(message.message, JSONRPCRequest):
            self._cleaner.sent({"id": message.message.id, "method": message.message.method})
        await self._inner.send(message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> _Said:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._inner.__aexit__(*error)


class Trust:
    """Whom this machine trusts, read once for all servers: each reading would hold everybody up for 20 ms."""

    def __init__(self) -> None:
        self._reading: asyncio.Future[ssl.SSLContext] | None = None
        httpx2.create_ssl_context(verify=False)  # loads what the first connection would load while everybody waits

    async def context(self) -> ssl.SSLContext:
        if self._reading is None:
            self._reading = asyncio.ensure_future(asyncio.to_thread(httpx2.create_ssl_context))
        return await asyncio.shield(self._reading)


def _cleaned(message: SessionMessage | Exception, cleaner: Cleaner) -> SessionMessage | Exception:
    if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse):
        cleaner.received({"id": message.message.id, "result": message.message.result})
    return message


class Bounded(httpx2.AsyncBaseTransport):
    """Makes every trouble with one request the trouble of that request.

    The protocol's library ends the whole connection for a request that fails below HTTP, and waits for the answer to a
    notification before it sends anything else. Here such a failure becomes an answer that says what happened, a
    notification waits for seconds only, and an answer is no larger than one message.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, link: Link) -> None:
        self._inner = inner
        self._lost, self._side = link.lost, link.side

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return _bounded(await self._inner.handle_async_request(request), self._side)
        asks = b'"id":' in request.content.replace(b" ", b"")
        if not asks:
            limits: dict[str, float] = request.extensions.get("timeout", {})
            request.extensions["timeout"] = {**limits, "read": _NOTIFICATION_SECONDS}
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if isinstance(error, httpx2.ConnectError):
                self._lost()
            return _refused(request, _words(error)) if asks else httpx2.Response(202, request=request)
        if response.status_code >= 400:
            return await self._judged(request, response)
        if asks and int(response.headers.get("content-length") or 0) > MESSAGE_LIMIT:
            await response.aclose()
            return _refused(request, str(TooLong()))
        return _bounded(response, self._side)

    async def _judged(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """A refusal that says nothing in the protocol's own words gets words; one of a lost session is a lost link."""
        response = _bounded(response, self._side)
        try:
            body = await response.aread()
        except (httpx2.TransportError, httpx2.StreamError) as error:
            return _refused(request, _words(error))
        if SESSION in request.headers and (response.status_code == 404 or b"session" in body[:_SAID].lower()):
            self._lost()
            return _refused(request, "the server has forgotten the session; it is opened anew")
        if response.status_code == 404 or b'"jsonrpc"' in body[:_SAID]:
            return response
        later = response.headers.get("retry-after", "")[:40]
        wait = f"; it asks to wait ({later})" if later.isprintable() and later else ""
        return _refused(request, f"the server answered {response.status_code} {response.reason_phrase}{wait}")

    async def aclose(self) -> None:
        await self._inner.aclose()


def _bounded(response: httpx2.Response, side: Side) -> httpx2.Response:
    is_events = "text/event-stream" in response.headers.get("content-type", "").lower()
    response.stream = _BoundedStream(response.stream, EventMarks() if is_events else Marks(), side)
    return response


def _refused(request: httpx2.Request, words: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": INTERNAL_ERROR, "message": words}}
    return httpx2.Response(502, json=error, request=request)


def _words(error: Exception) -> str:
    said = " ".join(str(error).split())[:200] or type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"the server cannot be reached: {said}"
    if isinstance(error, httpx2.TimeoutException):
        return "the server did not answer in time"
    return f"the connection broke during the request: {said}"


class _BoundedStream(httpx2.AsyncByteStream):
    """What goes wrong below is said in the ways that the protocol's library takes for one answer's trouble."""

    def __init__(self, inner: Any, marks: Marks | EventMarks, side: Side) -> None:
        self._inner = inner
        self._marks = marks
        self._side = side

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pace, turn = Pace(self._side), Turn(self._side)
        try:
            async for chunk in self._inner:
                for _ in self._marks.add(chunk):
                    await turn.pass_on()
                yield chunk
                await pace.after(len(chunk))
        except httpx2.TransportError as error:
            raise httpx2.StreamError(_words(error)) from error
        except TooMuch as error:
            trouble = httpx2.SSEError if isinstance(self._marks, EventMarks) else httpx2.StreamError
            raise trouble(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()
