"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time

_WORK, _REST = 0.0005, 0.001


class Turn:
    """Whoever works through much calls `pass_on` after each piece; now and then everybody else gets a turn.

    The rest is longer than the work: whoever passes on and comes back at once has the loop nearly to itself, because
    what others do takes them several turns.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def pass_on(self) -> None:
        if time.monotonic() - self._began > _WORK:
            await asyncio.sleep(_REST)
            self._began = time.monotonic()
