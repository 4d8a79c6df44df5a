"""A turn on the event loop: long work that is to be done on it is done in pieces."""

from __future__ import annotations

import asyncio
import time

_LONGEST = 0.002


class Turn:
    """Whoever works through much calls `pass_on` after each piece; now and then everybody else gets a turn."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def pass_on(self) -> None:
        if time.monotonic() - self._began > _LONGEST:
            await asyncio.sleep(0)
            self._began = time.monotonic()
