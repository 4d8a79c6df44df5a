"""A server as a child process: one JSON message per line, bounded, and the whole process group gone at the end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from toolcrib.sources.mcp.beside import heard
from toolcrib.sources.mcp.clean import Cleaner
from toolcrib.sources.mcp.lane import Lane, Wire
from toolcrib.sources.mcp.lines import Line, Lines, Message, TooLarge, decoded
from toolcrib.sources.mcp.traffic import Pace, Side
from toolcrib.values.noun import frozen
from toolcrib.values.turn import Turn

_CHUNK = 64 * 1024
_CHANGED = "notifications/tools/list_changed"
_GRACE, _ROUNDS = 1.0, 3

Incoming = MemoryObjectSendStream["SessionMessage | Exception"]


@frozen
class Link:
    """Whom a transport serves besides the protocol's library: who cleans, which calls wait, who hears its end."""

    cleaner: Cleaner
    lane: Lane
    side: Side
    lost: Callable[[], None]
    stale: Callable[[], None]
    """The server says that its tools changed."""

    def ended(self) -> None:
        self.lane.shut()
        self.lost()


@frozen
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
    async with heard(spawn.log, link.side) as stderr:
        process = await asyncio.create_subprocess_exec(
            *spawn.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=dict(spawn.env),
            cwd=spawn.cwd,
            start_new_session=True,
            limit=_CHUNK,
        )
        async with _joined(process, spawn, link) as streams:
            yield streams


@asynccontextmanager
async def _joined(
    process: asyncio.subprocess.Process, spawn: Spawn, link: Link
) -> AsyncGenerator[tuple[Any, Any], None]:
    incoming, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(process, incoming, link)),
        asyncio.create_task(_write(process, outgoing, incoming, link.cleaner)),
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
    stdout, cleaner, lane = process.stdout, link.cleaner, link.lane
    if stdout is None:
        return
    lines, pace = Lines(), Pace(link.side, _pipe_of(process))
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async with incoming:
            try:
                while cleaner.is_worth_reading and (chunk := await stdout.read(_CHUNK)):
                    answers = lane.answers
                    await _read_lines(lines.feed(chunk), incoming, link)
                    lines.check()
                    await (pace.after_talk if lane.answers == answers else pace.after)(len(chunk))
            except TooLarge as error:
                cleaner.trouble = str(error)
                await delivered(error.answer, incoming, link)


def _pipe_of(process: asyncio.subprocess.Process) -> asyncio.ReadTransport | None:
    """What reads the child's output; only the transport of all its pipes knows it."""
    pipes = getattr(process, "_transport", None)
    return None if pipes is None else pipes.get_pipe_transport(1)


async def _read_lines(lines: Iterable[Line], incoming: Incoming, link: Link) -> None:
    turn = Turn(link.side)
    for line in lines:
        if (found := await decoded(line, link.cleaner, turn)) is not None:
            await delivered(found, incoming, link)
        await turn.pass_on()


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


def _checked(message: Message, cleaner: Cleaner) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(cleaner.received(message), by_name=False))
    except ValueError as error:
        return error


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
