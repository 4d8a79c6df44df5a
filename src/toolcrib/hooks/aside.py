"""Blocking work in a thread of its own, which can be left behind: no pool runs dry because a hook hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """The result of a blocking function. When nobody waits any more, its thread ends by itself or with the program."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:  # whatever it was belongs to whoever waits
            failure = _plain(error)
            _tell(loop, future, lambda: future.set_exception(failure))
        else:
            _tell(loop, future, lambda: future.set_result(value))

    threading.Thread(target=run, name="toolcrib-hook", daemon=True).start()
    return await future


def _tell(loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], tell: Callable[[], None]) -> None:
    def unless_over() -> None:
        if not future.done():
            tell()

    if not loop.is_closed():
        loop.call_soon_threadsafe(unless_over)


def _plain(error: BaseException) -> Exception:
    """An error that a future can hold: SystemExit and its like would end the program from here."""
    return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
