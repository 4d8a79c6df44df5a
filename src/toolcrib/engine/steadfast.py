"""Waiting for a record whatever happens to the one who waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Generic, TypeVar

T = TypeVar("T")


async def unstoppable(future: asyncio.Future[T]) -> bool:
    """Wait for a record to its end; says whether a cancellation came meanwhile."""
    cancelled = False
    while not future.done():
        try:
            await _Steadfast(future)
        except asyncio.CancelledError:
            if future.cancelled():
                raise
            cancelled = True
        except Exception:
            break
    future.result()
    return cancelled


class _Steadfast(Generic[T]):
    """A future as the task that waits for it sees it, except that cancelling the task does not cancel the future.

    The task hears of the cancellation when the future is done. `asyncio.shield` does the same with a second future and
    one more turn of the loop, which doubles what it costs to be woken.
    """

    __slots__ = ("_asyncio_future_blocking", "_future")

    def __init__(self, future: asyncio.Future[T]) -> None:
        self._future = future
        self._asyncio_future_blocking = True  # how asyncio knows a future, whatever its class

    def __await__(self) -> Generator[object, None, None]:
        yield self

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._future.get_loop()

    def add_done_callback(self, wake: Callable[[asyncio.Future[T]], object], *, context: Context | None = None) -> None:
        self._future.add_done_callback(wake, context=context)

    def cancel(self, msg: object = None) -> bool:
        return False
