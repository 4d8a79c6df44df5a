"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time

_WORK, _NOBODY, _REST = 0.0001, 0.00003, 0.001


class Turn:
    """Whoever works through much calls `pass_on` after each piece; every now and then everybody else gets a turn.

    Where somebody took it, a rest follows that is longer than the work: what others do takes them several turns, and
    whoever came back at once would have most of the loop to itself. Where nobody did, the work goes on.
    """

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def pass_on(self) -> None:
        passed = time.monotonic()
        if passed - self._began <= _WORK:
            return
        await asyncio.sleep(0)
        if time.monotonic() - passed > _NOBODY:
            await asyncio.sleep(_REST)
        self._began = time.monotonic()
