"""One keeper per server: it makes, watches and ends the connection in one task; callers only borrow it.

A server that is dead, hung, slow or speaks garbage is this keeper's trouble and nobody else's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from enum import StrEnum
from typing import Any, TypeVar, cast

from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    Implementation,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import RootModel

from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.lane import Lane, Raw, ServerDown, Tell
from toolcrib.sources.mcp.pipe import Link
from toolcrib.values.json import Json

logging.getLogger("mcp").addHandler(logging.NullHandler())  # else what a server does wrong is on everybody's terminal
T = TypeVar("T")
Transport = AbstractAsyncContextManager[tuple[Any, Any]]
_FIRST_DELAY, _LAST_DELAY = 0.2, 30.0
_REST_SECONDS, _MOMENT_SECONDS = 1.0, 2.5
_STEADY_SECONDS = 10.0
_PAGES = 100
_HOPELESS = 2
_DEBOUNCE_SECONDS, _LONGEST_DEBOUNCE_SECONDS = 0.1, 5.0
_ENDED = ("Connection closed", "SSE stream ")  # servers use the same code for troubles of their own
_OURSELVES = Implementation(name="toolcrib", version="1")


class State(StrEnum):
    NEW = "new"
    CONNECTING = "connecting"
    UP = "up"
    DOWN = "down"
    CLOSED = "closed"


class Keeper:
    """Keeps one server's connection. `listed` holds its tools as they were last listed."""

    def __init__(
        self,
        name: str,
        connect: Callable[[Link], Transport],
        *,
        connect_timeout: float,
        note: Callable[[str, str], None],
        changed: Callable[[Keeper, Client], Awaitable[None]],
    ) -> None:
        self.name = name
        self.state = State.NEW
        self.why = ""
        self.listed: list[Tool] = []
        self.cleaner = Cleaner(note)
        self.client: Client | None = None
        self.is_untried = True
        """Whether nobody knows yet if the server can be reached."""
        self._plain = False
        self._connect = connect
        self._connect_timeout = connect_timeout
        self._note = note
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        self._settled = asyncio.Event()
        self._lost = asyncio.Event()
        self._wanted = asyncio.Event()
        self._stale = asyncio.Event()
        self._listing = False
        self._relisted = asyncio.Event()
        self._link = Link(self.cleaner, Lane(), self.lost, self._stale.set)

    async def ready(self, timeout: float) -> Client:
        """The live connection; starts it at first need and waits for it no longer than `timeout`.

        A server that was there a moment ago is waited for; one that failed again and again only for a moment.
        """
        if self._task is None and self.state is not State.CLOSED:
            self._task = asyncio.create_task(self._keep())
        if self.client is None or self._lost.is_set():
            self._wanted.set()
            timeout = timeout if self._failures < _HOPELESS else min(timeout, _MOMENT_SECONDS)
            try:
                async with asyncio.timeout(timeout):
                    await self._next_attempt()
            except TimeoutError:
                self.why = self.why or f"it did not answer within {timeout:g} s"
        if self.client is None or self._lost.is_set():
            raise ServerDown(f"the MCP server {self.name!r} is not available: {self.why or self.state.value}")
        return self.client

    async def _next_attempt(self) -> None:
        """Until the connection is there, or an attempt to make it has failed."""
        failures = self._failures
        while (self.client is None or self._lost.is_set()) and self._failures == failures and not self._is_closed():
            self._settled.clear()
            await self._settled.wait()

    async def ask(self, question: Callable[[Client], Awaitable[T]], timeout: float) -> T:
        """Put a question to the server; when the connection breaks meanwhile, that question fails and no other."""
        client = self.client
        if client is None or self._lost.is_set():
            client = await self.ready(min(timeout, self._connect_timeout))
        try:
            return await question(client)
        except ServerDown as error:
            raise self._gone("") from error
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and error.message.startswith(_ENDED):
                raise self._gone(error.message) from error
            raise

    @property
    def is_changing(self) -> bool:
        """Whether the server has said that its tools changed, and what they are now is not known yet."""
        return self._listing or self._stale.is_set()

    async def listed_anew(self, timeout: float) -> None:
        """Wait until it is known what the server's tools are now, but no longer than this."""
        try:
            async with asyncio.timeout(timeout):
                while self.is_changing and not self._lost.is_set():
                    self._relisted.clear()
                    await self._relisted.wait()
        except TimeoutError:
            return

    def _gone(self, words: str) -> ServerDown:
        self._lost.set()
        return ServerDown(f"the MCP server {self.name!r} went away during the call" + (words and f" ({words})"))

    async def call(self, name: str, arguments: dict[str, Json], tell: Tell, timeout: float) -> Raw:
        """One tool call: over the lane where the connection has one, through the protocol's library elsewhere."""

        def question(client: Client) -> Awaitable[Raw]:
            lane = self._link.lane
            if self._plain and lane.is_open:
                return lane.call(name, arguments, tell)
            return _call(client, name, arguments, tell)

        return await self.ask(question, timeout)

    def lost(self) -> None:
        """The transport has ended."""
        self._lost.set()

    async def close(self) -> None:
        self.state = State.CLOSED
        self._settled.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        delay = _FIRST_DELAY
        while self.state is not State.CLOSED:
            began = loop.time()
            self.state = State.CONNECTING
            try:
                await self._once()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if self._is_closed() or task is None:
                    raise
                task.uncancel()  # a dying HTTP connection cancels the task that owns it
                self.why = "the connection broke"
            except Exception as error:
                self.why = reason_of(error)
            was_up, self.client = self.client is not None, None
            if self._is_closed():
                return
            self.state = State.DOWN
            self._failures = 0 if was_up else self._failures + 1
            self._note("mcp_server_down", self.why)
            self._settle()
            delay = _FIRST_DELAY if was_up and loop.time() - began > _STEADY_SECONDS else delay
            await self._rest(delay)
            delay = min(delay * 2, _LAST_DELAY)

    async def _rest(self, seconds: float) -> None:
        """Wait before the next attempt; when somebody wants the server meanwhile, not for long."""
        self._wanted.clear()
        await asyncio.sleep(min(seconds, _REST_SECONDS))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), max(seconds - _REST_SECONDS, 0))

    async def _once(self) -> None:
        """One connection, from its making to its end."""
        self._lost.clear()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._connect_timeout):
                client = await stack.enter_async_context(self._new_client())
                stack.push_async_callback(_ended, await self._listening(client))
                await self._list(client)
            self._plain = client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
            await self._changed(self, client)
            self.client, self.state, self.why = client, State.UP, "the connection ended"
            self._failures = 0
            self._settle()
            self._note("mcp_server_up", f"{len(self.listed)} tools")
            try:
                await self._watch(client)
            finally:
                self._lost.set()

    def _new_client(self) -> Client:
        transport = self._connect(self._link)
        return Client(transport, message_handler=self._receive, client_info=_OURSELVES, cache=None)

    async def _watch(self, client: Client) -> None:
        """Until the connection is lost: list again whenever the server says that its tools changed.

        A storm of changes is one change; a server that goes on and on is listed less and less often.
        """
        lost = asyncio.create_task(self._lost.wait())
        pause = _DEBOUNCE_SECONDS
        try:
            while not self._lost.is_set():
                began = asyncio.get_running_loop().time()
                stale = asyncio.create_task(self._stale.wait())
                await asyncio.wait({lost, stale}, return_when=asyncio.FIRST_COMPLETED)
                stale.cancel()
                quiet = asyncio.get_running_loop().time() - began > _STEADY_SECONDS
                pause = _DEBOUNCE_SECONDS if quiet else pause
                await asyncio.wait({lost}, timeout=pause)
                pause = min(pause * 2, _LONGEST_DEBOUNCE_SECONDS)
                if not self._lost.is_set():
                    await self._list_again(client)
        finally:
            lost.cancel()

    async def _list_again(self, client: Client) -> None:
        self._listing = True
        self._stale.clear()
        try:
            async with asyncio.timeout(self._connect_timeout):
                await self._list(client)
            await self._changed(self, client)
        finally:
            self._listing = False
            self._relisted.set()

    async def _listening(self, client: Client) -> asyncio.Task[None]:
        """Listen for changes before the tools are listed, so that no change falls between the two."""
        heard = asyncio.Event()
        task = asyncio.create_task(self._listen(client, heard))
        task.add_done_callback(lambda _: heard.set())
        await heard.wait()
        return task

    async def _listen(self, client: Client, heard: asyncio.Event) -> None:
        """Newer servers tell of changes only to those who asked; an older one sends a notification instead."""
        try:
            async with client.listen(tools_list_changed=True) as changes:
                heard.set()
                async for _ in changes:
                    self._stale.set()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return

    async def _receive(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._stale.set()  # from a server that is reached over HTTP

    async def _list(self, client: Client) -> None:
        tools: list[Tool] = []
        cursors: set[str] = set()
        cursor: str | None = None
        self.cleaner.begin_list()
        while len(cursors) < _PAGES and self.cleaner.has_room:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
            if cursor in cursors:
                self._note("tool_set_aside", "its list of tools goes round in a circle; what came first was kept")
                break
            cursors.add(cursor)
        self.listed = tools

    def _settle(self) -> None:
        self.is_untried = False
        self._settled.set()

    def _is_closed(self) -> bool:
        return self.state is State.CLOSED


class _Raw(RootModel[Raw]):
    """A result as the server sent it."""


async def _call(client: Client, name: str, arguments: dict[str, Json], tell: Tell) -> Raw:
    """The raw result; what its output schema says of it is checked where all results are."""
    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
    try:
        return (await client.session.send_request(request, _Raw, progress_callback=tell)).root
    except MCPError as error:
        if error.code != HEADER_MISMATCH:
            raise
        await client.list_tools()  # the session learns anew which arguments belong into headers
        return (await client.session.send_request(request, _Raw, progress_callback=tell)).root


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def reason_of(error: BaseException) -> str:
    """What went wrong, dug out of the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, MCPError):
        return error.message[:300]
    if isinstance(error, FileNotFoundError):
        return f"{error.filename or 'its command'} was not found"
    return f"{type(error).__name__}: {error}"[:300]
