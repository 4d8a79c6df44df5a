"""A server as a child process: one JSON message per line, bounded, and the whole process group gone at the end."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

import anyio
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.lane import Lane, Wire

MESSAGE_LIMIT = 16 * 1024 * 1024
_CHUNK = 256 * 1024
_HEAD = 4_096
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')
_CHANGED = "notifications/tools/list_changed"
_LINE_LIMIT = 2_000
_GRACE, _ROUNDS = 1.0, 3

Incoming = MemoryObjectSendStream["SessionMessage | Exception"]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """Whom a transport serves besides the protocol's library: who cleans, which calls wait, who hears its end."""

    cleaner: Cleaner
    lane: Lane
    lost: Callable[[], None]
    stale: Callable[[], None]
    """The server says that its tools changed."""

    def ended(self) -> None:
        self.lane.shut()
        self.lost()


@dataclass(frozen=True, slots=True)
class Spawn:
    """How to start a server; nothing of the parent's environment comes along unless it is named here."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    log: Callable[[str], None]
    family: Callable[[int], list[int]]
    """Everything that came of a process, daemons included."""


@asynccontextmanager
async def piped(spawn: Spawn, link: Link) -> AsyncGenerator[tuple[Any, Any], None]:
    """The streams the protocol's client wants, over a child's standard input and output."""
    process = await asyncio.create_subprocess_exec(
        *spawn.argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(spawn.env),
        cwd=spawn.cwd,
        start_new_session=True,
        limit=_CHUNK,
    )
    incoming, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(process, incoming, link)),
        asyncio.create_task(_write(process, outgoing, incoming, link.cleaner)),
        asyncio.create_task(_listen(process, spawn.log)),
    ]
    tasks[0].add_done_callback(lambda _: link.ended())
    if process.stdin is not None:
        link.lane.open(Wire(process.stdin.write, process.stdin.drain))
    try:
        yield reading, writing
    finally:
        with anyio.CancelScope(shield=True):
            writing.close()
            link.ended()
            await _stop(process, spawn.family)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (incoming, reading, writing, outgoing):
                stream.close()


async def _read(process: asyncio.subprocess.Process, incoming: Incoming, link: Link) -> None:
    stdout, cleaner = process.stdout, link.cleaner
    if stdout is None:
        return
    lines = Lines()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with incoming:
            while cleaner.is_worth_reading and (chunk := await stdout.read(_CHUNK)):
                for line in lines.feed(chunk):
                    if (found := decoded(line, cleaner)) is not None:
                        await delivered(found, incoming, link)
                if lines.too_long is not None:
                    await delivered(_too_long(lines.too_long), incoming, link)
                    return


async def delivered(message: Message, incoming: Incoming, link: Link) -> None:
    """Hand a message to whoever waits for it: a call of ours, or the protocol's library."""
    if message.get("method") == _CHANGED:
        link.stale()  # here, because a storm of these is dear to whoever reads each
    elif not await link.lane.took(message, link.cleaner):
        await incoming.send(_checked(message, link.cleaner))


async def _write(
    process: asyncio.subprocess.Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: Incoming,
    cleaner: Cleaner,
) -> None:
    stdin = process.stdin
    if stdin is None:
        return
    try:
        async for sent in outgoing:
            message = sent.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            cleaner.sent(message)
            stdin.write(orjson.dumps(message) + b"\n")
            await stdin.drain()
    except (ConnectionError, OSError):
        await incoming.aclose()  # so that whoever waits for an answer learns that none will come
    finally:
        with suppress(ConnectionError, OSError):
            stdin.close()


async def _listen(process: asyncio.subprocess.Process, log: Callable[[str], None]) -> None:
    """What the server says beside the protocol, line by line and bounded."""
    stderr = process.stderr
    if stderr is None:
        return
    lines = Lines(_LINE_LIMIT)
    while chunk := await stderr.read(_CHUNK):
        for line in lines.feed(chunk):
            if text := bytes(line[:_LINE_LIMIT]).decode("utf-8", "replace").strip():
                log(text)


class Lines:
    """Lines out of chunks, in time linear in the bytes. Of a line that is too long only the head is kept."""

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.too_long: bytes | None = None

    def feed(self, chunk: bytes) -> Iterable[bytes]:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            parts, self._parts, self._size = self._parts, [], 0
            yield parts[0] if len(parts) == 1 else b"".join(parts)
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > self._limit:
            self.too_long = _head(self._parts)
            self._parts = [self.too_long]


def _head(parts: Iterable[bytes]) -> bytes:
    """The first bytes of a line in parts, without putting all of it together."""
    head = b""
    for part in parts:
        head += part[: _HEAD - len(head)]
        if len(head) == _HEAD:
            break
    return head


def decoded(line: bytes, cleaner: Cleaner) -> Message | None:
    """A line as a message; noise that is no JSON at all is passed over, because servers print banners."""
    if not line.strip():
        return None
    message = _loaded(line)
    if not isinstance(message, dict):
        cleaner.noise(line[:200].decode("utf-8", "replace"))
        return None
    cleaner.heard()
    return cast("Message", message)


def _loaded(line: bytes) -> object:
    """Thousands of objects at once make Python look through all it has for garbage: not while others wait."""
    collects = len(line) > _CHUNK and gc.isenabled()
    try:
        if collects:
            gc.disable()
        return orjson.loads(line)
    except ValueError:
        return None
    finally:
        if collects:
            gc.enable()


def _checked(message: Message, cleaner: Cleaner) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(cleaner.received(message), by_name=False))
    except ValueError as error:
        return error


def _too_long(head: bytes) -> Message:
    """An answer that is too large becomes an error for the request it answers, and nobody else suffers."""
    found = _ID.search(head)
    limit = f"the server sent a message of more than {MESSAGE_LIMIT // 1024 // 1024} MiB"
    error = {"code": -32603, "message": limit}
    if found is None or b'"method"' in head:
        return {"jsonrpc": "2.0", "id": None, "error": error}
    return {"jsonrpc": "2.0", "id": orjson.loads(found[1]), "error": error}


async def _stop(process: asyncio.subprocess.Process, family: Callable[[int], list[int]]) -> None:
    """Close its input, wait a moment, then end it and everything it started, in whatever group or session."""
    if process.stdin is not None:
        with suppress(ConnectionError, OSError):
            process.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), _GRACE)
    kin = await asyncio.to_thread(family, process.pid)  # it looks at every process of the machine
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            _signal(os.killpg, process.pid, sign)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)
    _signal(os.killpg, process.pid, signal.SIGKILL)
    for _ in range(_ROUNDS):  # one that forks while it is looked for is found the next time
        for pid in kin:
            _signal(os.kill, pid, signal.SIGKILL)
        if not (kin := await asyncio.to_thread(family, process.pid)):
            break
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()  # a survivor may hold the pipes open, and nobody reads them any more


def _signal(send: Callable[[int, int], None], pid: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        send(pid, sign)
