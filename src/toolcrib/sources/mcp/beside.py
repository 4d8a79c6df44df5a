"""What a server says beside the protocol: heard line by line as long as it is little, let go unheard when it is much.

Whoever writes into a pipe that nobody reads stands still, so all of it is taken out; but only what may be recorded is
brought into this process.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

from toolcrib.sources.mcp.lines import Lines
from toolcrib.sources.mcp.traffic import Side
from toolcrib.values.turn import Turn

_CHUNK, _LAST_CHUNKS, _LINE_LIMIT = 4 * 1024, 8, 2_000
_BURST, _PER_SECOND, _LINE = 64 * 1024, 16 * 1024, 200
"""How many bytes are heard at once, and how many in a second after them; each line counts as so many more."""
_PIPE = 128 * 1024
_REST_SECONDS, _SHORT_REST_SECONDS = 0.02, 0.001
"""Between two looks at what is let go: a pipe that is full meanwhile slows its writer down, and wakes nobody."""


@asynccontextmanager
async def heard(log: Callable[[str], None], side: Side) -> AsyncGenerator[int, None]:
    """The end of a pipe for a server to write into."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    hearing = Hearing(reading, log)
    listening = asyncio.create_task(hearing.listen(side))
    try:
        yield writing
    finally:
        listening.cancel()
        await asyncio.wait({listening})
        hearing.close()
        os.close(writing)


class Hearing:
    """One server's pipe, and how much of it may still be heard."""

    def __init__(self, reading: int, log: Callable[[str], None]) -> None:
        self._reading = reading
        self._log = log
        self._lines = Lines()
        self._room: float = _BURST
        self._at = time.monotonic()
        self._unheard = 0
        self._nowhere = -1

    def close(self) -> None:
        for _ in range(_LAST_CHUNKS):  # the last words of one that died
            self.take()
        self._tell_unheard()
        os.close(self._reading)
        if self._nowhere >= 0:
            os.close(self._nowhere)

    async def listen(self, side: Side) -> None:
        turn = Turn(side)
        while True:
            await _readable(self._reading)
            if self._has_room():
                self.take()
                await turn.pass_on()
            else:
                await side.stand_aside()
                self._let_go()
                await asyncio.sleep(_REST_SECONDS if side.is_lively() else _SHORT_REST_SECONDS)

    def take(self) -> None:
        """Hear what is there, up to a few lines."""
        with suppress(BlockingIOError):
            chunk = os.read(self._reading, _CHUNK)
            self._room = max(self._room - len(chunk) - _LINE * chunk.count(b"\n"), -_PER_SECOND)
            self._tell_unheard()
            for line in self._lines.feed(chunk):
                if text := line[:_LINE_LIMIT].decode("utf-8", "replace").strip():
                    self._log(text)
            self._lines.trim(_LINE_LIMIT)

    def _tell_unheard(self) -> None:
        if self._unheard:
            self._log(f"({self._unheard:,} bytes at once: they were not read)")
            self._unheard = 0

    def _has_room(self) -> bool:
        now = time.monotonic()
        self._room = min(self._room + (now - self._at) * _PER_SECOND, _BURST)
        self._at = now
        return self._room > 0

    def _let_go(self) -> None:
        """Take out what is there without looking at it."""
        if not self._unheard:
            self._lines.trim(0)
            self._widen()
        with suppress(BlockingIOError):
            if sys.platform == "linux":
                self._unheard += os.splice(self._reading, self._nowhere, _PIPE, flags=os.SPLICE_F_NONBLOCK)
            else:
                self._unheard += len(os.read(self._reading, _PIPE))

    def _widen(self) -> None:
        if self._nowhere < 0 and sys.platform == "linux":
            self._nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            with suppress(OSError):  # what is not granted is not needed
                fcntl.fcntl(self._reading, fcntl.F_SETPIPE_SZ, _PIPE)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    there = loop.create_future()
    loop.add_reader(descriptor, _settle, there)
    try:
        await there
    finally:
        loop.remove_reader(descriptor)


def _settle(there: asyncio.Future[None]) -> None:
    if not there.done():
        there.set_result(None)
