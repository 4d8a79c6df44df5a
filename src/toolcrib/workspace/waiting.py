"""Waiting for a disk without holding up the event loop: looks may be given up, changes are seen through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def looking(act: Callable[[], T]) -> T:
    """Run something that changes nothing in a thread; when the call is cancelled, what it finds is not wanted."""
    return await asyncio.get_running_loop().run_in_executor(None, act)


async def changing(act: Callable[[], T]) -> T:
    """Run a change in a thread and wait for its end, cancelled or not.

    A change that has begun cannot be called back. So a cancellation that comes meanwhile is dropped: the call ends
    with what was done and its record, instead of being reported as aborted while the disk still changes.
    """
    future = asyncio.get_running_loop().run_in_executor(None, act)
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            if future.cancelled():
                raise
        except Exception:
            break  # told by `result` below
    return future.result()
