"""Output as it comes: read without blocking, kept within bounds, handed on to a sink that may be slow."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections import deque

from toolcrib.values.process import Captured, Sink

CHUNK = 256 * 1024
F_SETPIPE_SZ = 1031


class Stream:
    """One output of a process: the beginning and the end of it, and how much there was."""

    def __init__(self, descriptor: int, keep_head: int, keep_tail: int, sink: Sink | None) -> None:
        self.total = 0
        self._descriptor = descriptor
        self._sink = sink
        self._head = bytearray()
        self._keep_head = keep_head
        self._tail: deque[bytes] = deque()
        self._keep_tail = keep_tail
        self._tail_size = 0
        self._ready = asyncio.Event()
        os.set_blocking(descriptor, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, F_SETPIPE_SZ, 1024 * 1024)

    async def drain(self) -> None:
        """Read to the end; waits for the sink, so that a fast process cannot outrun it."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._ready.set)
        try:
            while (chunk := await self._next()) != b"":
                self._keep(chunk)
                if self._sink is not None:
                    await self._sink(chunk)
        finally:
            loop.remove_reader(self._descriptor)
            self.close()

    def close(self) -> None:
        """Let go of the stream; harmless when that was done."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def captured(self) -> Captured:
        """What is kept so far."""
        tail = b"".join(self._tail)[-self._keep_tail :] if self._keep_tail else b""
        return Captured(bytes(self._head), tail, self.total)

    async def _next(self) -> bytes:
        while True:
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except BlockingIOError:
                self._ready.clear()
                await self._ready.wait()
                continue
            await asyncio.sleep(0)
            return chunk

    def _keep(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._keep_head - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if not chunk:
            return
        self._tail.append(chunk[-self._keep_tail :] if self._keep_tail else b"")
        self._tail_size += len(self._tail[-1])
        while self._tail and self._tail_size - len(self._tail[0]) >= self._keep_tail:
            self._tail_size -= len(self._tail.popleft())


async def feed(descriptor: int, data: bytes) -> None:
    """Write all of the input; a reader that has seen enough ends it early."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    os.set_blocking(descriptor, False)
    loop.add_writer(descriptor, ready.set)
    view = memoryview(data)
    try:
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                ready.clear()
                await ready.wait()
            except BrokenPipeError:
                return
    finally:
        loop.remove_writer(descriptor)
