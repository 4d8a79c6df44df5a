"""Waiting for something whatever happens to the one who waits."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from toolcrib.values.receipt import Receipt

T = TypeVar("T")


async def unstoppable(future: asyncio.Future[T]) -> bool:
    """Wait for a future to its end; says whether a cancellation came meanwhile.

    `asyncio.shield` does the same with a second future and one more turn of the loop.
    """
    cancelled = False
    if not future.done():
        end = Receipt(future.get_loop())
        future.add_done_callback(lambda _: end.say(0))
        try:
            await end
        except asyncio.CancelledError:
            cancelled = True
    future.result()
    return cancelled
