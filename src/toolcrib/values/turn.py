"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time

_WORK, _IDLE = 0.0001, 0.00002
_MOST_TURNS = 20


class Turn:
    """Whoever works through much calls `pass_on` after each piece; every now and then everybody else gets a turn.

    What others do takes them several turns, and whoever came back after each would have most of the loop to itself: so
    they get turns until nobody takes one. Such a turn is over as soon as the shortest that there was.
    """

    __slots__ = ("_began", "_idle")

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._idle = _IDLE

    async def pass_on(self) -> None:
        passed = time.perf_counter()
        if passed - self._began <= _WORK:
            return
        for _ in range(_MOST_TURNS):
            await asyncio.sleep(0)
            self._began = time.perf_counter()
            spent, passed = self._began - passed, self._began
            self._idle = min(self._idle, spent)
            if spent < 2 * self._idle:
                return
