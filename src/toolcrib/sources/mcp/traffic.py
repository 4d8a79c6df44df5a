"""The calls that are under way on all servers of a crib, and how fast each server is read beside them."""

from __future__ import annotations

import asyncio
import math
import time

_FRESH_SECONDS, _LIVELY_SECONDS = 0.02, 0.1
"""A call that takes longer than the first does not notice the pieces of work that are done meanwhile; where none began
within the second, there is nobody to be slow for."""
_REST_SECONDS, _MOST_RESTS = 0.001, 10
_BURST, _PER_SECOND = 256 * 1024, 5 * 1024 * 1024
"""How many bytes of a server are read at once, and how many in a second after them, while others are called."""
_A_LOOK = 32 * 1024


class Traffic:
    """The calls of all servers; each server has its side of it."""

    def __init__(self) -> None:
        self.calls = 0
        self.last: Side | None = None
        self.last_at = self.before_at = -math.inf

    def side(self) -> Side:
        return Side(self)


class Side:
    """One server's part of the traffic."""

    __slots__ = ("_all", "calls")

    def __init__(self, traffic: Traffic) -> None:
        self._all = traffic
        self.calls = 0

    def begin(self) -> None:
        every = self._all
        if every.last is not self:
            every.last, every.before_at = self, every.last_at
        every.last_at = time.monotonic()
        every.calls += 1
        self.calls += 1

    def end(self) -> None:
        self._all.calls -= 1
        self.calls -= 1

    def is_awaited(self) -> bool:
        """Whether a call of another server began a moment ago and is not over."""
        return self._all.calls != self.calls and self._since_others() < _FRESH_SECONDS

    def is_lively(self) -> bool:
        """Whether other servers are called now and then."""
        return self._since_others() < _LIVELY_SECONDS

    def _since_others(self) -> float:
        every = self._all
        return time.monotonic() - (every.before_at if every.last is self else every.last_at)

    async def stand_aside(self) -> None:
        """Wait for such calls to be over, but not for ever: there may always be one."""
        for _ in range(_MOST_RESTS):
            if not self.is_awaited():
                return
            await asyncio.sleep(_REST_SECONDS)


class Pace:
    """How fast one stream of a server is read: what is small at once, and a flood no faster than others can bear.

    What is not read stays in the pipe, and whoever writes more into it than that sleeps until there is room. Every
    look at the pipe costs as much as reading a good deal: so meanwhile it is not looked at, and one that shows nothing
    that anybody waits for is charged for as if it had shown more.
    """

    __slots__ = ("_at", "_left", "_pipe", "_side")

    def __init__(self, side: Side, pipe: asyncio.ReadTransport | None = None) -> None:
        self._side = side
        self._pipe = pipe
        self._left: float = _BURST
        self._at = time.monotonic()

    async def after(self, size: int) -> None:
        """Wait as long as it takes until these bytes were not too many."""
        now = time.monotonic()
        self._left = min(self._left + (now - self._at) * _PER_SECOND, _BURST) - size
        self._at = now
        if self._left < 0 and self._side.is_lively():
            await self._rest(-self._left / _PER_SECOND)

    async def after_talk(self, size: int) -> None:
        """The same for bytes that nobody had waited for."""
        await self.after(max(size, _A_LOOK))

    async def _rest(self, seconds: float) -> None:
        if self._pipe is not None:
            self._pipe.pause_reading()
        try:
            await asyncio.sleep(seconds)
            await self._side.stand_aside()
        finally:
            if self._pipe is not None:
                self._pipe.resume_reading()
