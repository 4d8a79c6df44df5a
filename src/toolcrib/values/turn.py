"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

_WORK, _IDLE, _REST = 0.00005, 0.00002, 0.001
_BURST, _STRETCH = 0.005, 0.0002
_MOST_TURNS = 20


class Others(Protocol):
    """Those who use the same loop and notice when it is taken."""

    def is_awaited(self) -> bool:
        """Whether one of them waits for something outside of this process at this moment."""
        ...

    def is_lively(self) -> bool:
        """Whether one of them comes now and then."""
        ...


class Turn:
    """Whoever works through much calls `pass_on` after each piece; every now and then everybody else gets a turn.

    What others do takes them several turns, and whoever came back after each would have most of the loop to itself: so
    they get turns until nobody takes one. Such a turn is over as soon as the shortest that there was. Others who wait
    for something outside of this process take no turns meanwhile, and must not find the loop taken when it comes:
    while there are such, the work rests after each piece. Work that is longer than a burst rests after each stretch as
    long as others are lively, so that they mostly find the loop free when they come.
    """

    __slots__ = ("_began", "_idle", "_left", "_others")

    def __init__(self, others: Others) -> None:
        self._began = time.perf_counter()
        self._idle = _IDLE
        self._others = others
        self._left = _BURST

    async def pass_on(self) -> None:
        passed = time.perf_counter()
        worked = passed - self._began
        if worked <= _WORK:
            return
        self._left -= worked
        if self._others.is_awaited() or (self._left < 0 and self._others.is_lively()):
            await asyncio.sleep(_REST)
            self._left = max(self._left, _STRETCH)
            self._began = time.perf_counter()
            return
        for _ in range(_MOST_TURNS):
            await asyncio.sleep(0)
            self._began = time.perf_counter()
            spent, passed = self._began - passed, self._began
            self._idle = min(self._idle, spent)
            if spent < 2 * self._idle:
                return
