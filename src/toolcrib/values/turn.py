"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_WORK, _IDLE, _REST = 0.00005, 0.00002, 0.001
_MOST_TURNS = 20


class Turn:
    """Whoever works through much calls `pass_on` after each piece; every now and then everybody else gets a turn.

    What others do takes them several turns, and whoever came back after each would have most of the loop to itself: so
    they get turns until nobody takes one. Such a turn is over as soon as the shortest that there was. Others who wait
    for something outside of this process take no turns meanwhile, and must not find the loop taken when it comes:
    while `is_awaited` says that there are such, the work rests after each piece.
    """

    __slots__ = ("_began", "_idle", "_is_awaited")

    def __init__(self, is_awaited: Callable[[], bool] | None = None) -> None:
        self._began = time.perf_counter()
        self._idle = _IDLE
        self._is_awaited = is_awaited

    async def pass_on(self) -> None:
        passed = time.perf_counter()
        if passed - self._began <= _WORK:
            return
        if self._is_awaited is not None and self._is_awaited():
            await asyncio.sleep(_REST)
            self._began = time.perf_counter()
            return
        for _ in range(_MOST_TURNS):
            await asyncio.sleep(0)
            self._began = time.perf_counter()
            spent, passed = self._began - passed, self._began
            self._idle = min(self._idle, spent)
            if spent < 2 * self._idle:
                return
