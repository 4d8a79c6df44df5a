"""One keeper per server: it makes, watches and ends the connection in one task; callers only borrow it.

A server that is dead, hung, slow or speaks garbage is this keeper's trouble and nobody else's.
"""

from __future__ import annotations

import asyncio
import logging
import math
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

from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.lane import Lane, Raw, ServerDown, Tell
from toolcrib.sources.mcp.pages import RawResult, is_same, listed_page
from toolcrib.sources.mcp.pipe import Link
from toolcrib.sources.mcp.traffic import Side
from toolcrib.values.json import Json
from toolcrib.values.turn import Turn

logging.getLogger("mcp").addHandler(logging.NullHandler())  # else what a server does wrong is on everybody's terminal
T = TypeVar("T")
Transport = AbstractAsyncContextManager[tuple[Any, Any]]
_FIRST_DELAY, _LAST_DELAY = 0.2, 30.0
_REST_SECONDS, _MOMENT_SECONDS = 1.0, 2.5
_STEADY_SECONDS = 10.0
_PAGES = 100
_HOPELESS = 2
_DEBOUNCE_SECONDS, _LONGEST_DEBOUNCE_SECONDS = 0.1, 5.0
CHANGE_SECONDS = 2.0
RECHECK_SECONDS = 30.0
"""How old the list of a server's tools may be when one of them is called; not every server says that it changed."""
_ENDED = ("Connection closed", "SSE stream ")  # servers use the same code for troubles of their own
_OURSELVES = Implementation(name="toolcrib", version="1")


class ToolChanged(Exception):
    """A tool is not, or may not be, what it was when it was listed; the message goes on after its name."""


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
        side: Side,
    ) -> None:
        self.name = name
        self.state = State.NEW
        self.why = ""
        self.listed: list[Tool] = []
        self._current: dict[str, Tool] = {}
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
        self._announced_at = self._listed_at = -math.inf
        self.side = side
        self._relisted = asyncio.Event()
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        self._link = Link(self.cleaner, Lane(), side, self.lost, self._outdated)

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
    def needs_listing(self) -> bool:
        """Whether what is known of the server's tools is not to be relied on: it said that they changed, or it has
        been long since it was asked. While calls are under way it is not asked: it may do one thing at a time."""
        if self._announced_at >= self._listed_at:
            return True
        return not self.side.calls and _now() - self._listed_at > RECHECK_SECONDS

    async def list_anew(self, timeout: float) -> None:
        """Ask the server what its tools are now. One that said that they changed must answer within the timeout; to
        one that only was not asked for long the call goes anyway, and its answer counts when it comes."""
        asked = _now()
        self._stale.set()
        self._news.set()
        self._hurry.set()
        try:
            async with asyncio.timeout(timeout):
                while self._listed_at < asked and not self._lost.is_set():
                    self._relisted.clear()
                    await self._relisted.wait()
        except TimeoutError:
            if self._announced_at >= self._listed_at:
                raise ToolChanged("may have changed: its server said that its tools did, but not how") from None

    def _gone(self, words: str) -> ServerDown:
        self.lost()
        words = self.cleaner.trouble or words
        return ServerDown(f"the MCP server {self.name!r} went away during the call" + (words and f" ({words})"))

    async def call(self, listed: Tool, arguments: dict[str, Json], tell: Tell, timeout: float) -> Raw:
        """One tool call: over the lane where the connection has one, through the protocol's library elsewhere.

        The tool must be as it was listed, also when the connection had to be made anew for this call.
        """
        if self.needs_listing and self.client is not None:
            await self.list_anew(CHANGE_SECONDS)

        def question(client: Client) -> Awaitable[Raw]:
            if self._current.get(listed.name) is not listed:
                raise ToolChanged("changed a moment ago")
            lane = self._link.lane
            if self._plain and lane.is_open:
                return lane.call(listed.name, arguments, tell)
            return _call(client, listed.name, arguments, tell)

        self.side.begin()
        try:
            return await self.ask(question, timeout)
        finally:
            self.side.end()

    def lost(self) -> None:
        """The transport has ended."""
        self._lost.set()
        self._news.set()
        self._hurry.set()

    def _outdated(self) -> None:
        """The server says that its tools changed."""
        self._announced_at = _now()
        self._stale.set()
        self._news.set()

    async def close(self) -> None:
        self.state = State.CLOSED
        self._settled.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self.listed, self._current = [], {}  # a keeper is found by the collector only, and would hold them until then

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
            self.why = self.cleaner.trouble or self.why
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
        self._stale.clear()
        self.cleaner.begin()
        self._announced_at = -math.inf
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

        A storm of changes is one change; a server that goes on and on is listed less and less often, unless somebody
        waits for it with a call.
        """
        pause = _DEBOUNCE_SECONDS
        while not self._lost.is_set():
            began = _now()
            await self._news.wait()
            self._news.clear()
            quiet = _now() - began > _STEADY_SECONDS
            pause = _DEBOUNCE_SECONDS if quiet else pause
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), pause)
            self._hurry.clear()
            pause = min(pause * 2, _LONGEST_DEBOUNCE_SECONDS)
            if self._stale.is_set() and not self._lost.is_set():
                await self._list_again(client)

    async def _list_again(self, client: Client) -> None:
        self._stale.clear()
        try:
            async with asyncio.timeout(self._connect_timeout):
                await self._list(client)
            await self._changed(self, client)
        except TimeoutError:
            if not self.side.calls:
                raise
            self._stale.set()  # one that does one thing at a time answers when its call is over
            self._news.set()
        finally:
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
                    self._outdated()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            return

    async def _receive(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._outdated()  # from a server that is reached over HTTP

    async def _list(self, client: Client) -> None:
        tools: list[Tool] = []
        cursors: set[str] = set()
        cursor: str | None = None
        began, turn = _now(), Turn(self.side)
        self.cleaner.begin_list()
        while len(cursors) < _PAGES and self.cleaner.has_room:
            page, cursor = await listed_page(client, cursor, self.cleaner, turn)
            tools += page
            if not cursor:
                break
            if cursor in cursors:
                self._note("tool_set_aside", "its list of tools goes round in a circle; what came first was kept")
                break
            cursors.add(cursor)
        before, listed, current = self._current, list[Tool](), dict[str, Tool]()
        for tool in tools:
            known = before.get(tool.name)
            listed.append(known if known is not None and is_same(known, tool) else tool)
            current.setdefault(tool.name, listed[-1])
            await turn.pass_on()
        self.listed, self._current, self._listed_at = listed, current, began

    def _settle(self) -> None:
        self.is_untried = False
        self._settled.set()

    def _is_closed(self) -> bool:
        return self.state is State.CLOSED


async def _call(client: Client, name: str, arguments: dict[str, Json], tell: Tell) -> Raw:
    """The raw result; what its output schema says of it is checked where all results are."""
    request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=arguments))
    try:
        return (await client.session.send_request(request, RawResult, progress_callback=tell)).root
    except MCPError as error:
        if error.code != HEADER_MISMATCH:
            raise
        await client.list_tools()  # the session learns anew which arguments belong into headers
        return (await client.session.send_request(request, RawResult, progress_callback=tell)).root


def _now() -> float:
    return asyncio.get_running_loop().time()


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
