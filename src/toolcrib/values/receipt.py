"""The word of a store that something is on record: to be awaited, and not to be stopped by whoever waits."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from contextvars import Context


class Receipt:
    """What becomes of a unit: the last sequence number it was given, or why it was not committed.

    To a task that awaits it this is a future, except that cancelling the task does not cancel what it waits for: the
    task hears of the cancellation when the receipt is there. And it wakes the task itself, from a callback of the
    loop, where a future would ask the loop for one more callback for each that waits.
    """

    __slots__ = ("_asyncio_future_blocking", "_context", "_others", "_wake", "loop", "said")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.said: int | Exception | None = None
        self._wake: Callable[[Receipt], object] | None = None
        self._asyncio_future_blocking: bool | None = None  # how asyncio knows what can be waited for

    def done(self) -> bool:
        """Whether it is known by now what became of the unit."""
        return self.said is not None

    def exception(self) -> Exception | None:
        """Why the unit was not committed, if it was not."""
        return self.said if isinstance(self.said, Exception) else None

    def result(self) -> int:
        """The last sequence number; raises Conflict, Fenced or StoreError."""
        said = self.said
        if type(said) is int:
            return said
        assert isinstance(said, Exception), "a receipt that is not there yet was asked what it says"
        raise said

    def __await__(self) -> Generator[Receipt, None, int]:
        if self.said is None:
            self._asyncio_future_blocking = True
            yield self
        said = self.said
        return said if type(said) is int else self.result()

    def say(self, outcome: int | Exception) -> None:
        """Tell those who wait, at once: on the loop, and never while one of its tasks is running."""
        self.said = outcome
        wake = self._wake
        if wake is not None:
            if self._context is None:
                wake(self)
            else:
                self._context.run(wake, self)
            if self._others:
                self._say_to_others()

    def say_soon(self, outcome: int | Exception) -> None:
        """Tell those who wait when the task that is running has had its turn."""
        self.said = outcome
        if self._wake is not None:
            self.loop.call_soon(self._wake, self, context=self._context)
            self._say_to_others()

    # What asyncio asks of whatever a task waits for.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self.loop

    def add_done_callback(self, wake: Callable[[Receipt], object], *, context: Context | None = None) -> None:
        """Call `wake` with this receipt, once, as soon as it is there."""
        if self.said is not None:
            self.loop.call_soon(wake, self, context=context)
        elif self._wake is None:  # as a rule one waits
            self._wake, self._context = wake, context
            self._others: tuple[tuple[Callable[[Receipt], object], Context | None], ...] = ()
        else:
            self._others = (*self._others, (wake, context))

    def _say_to_others(self) -> None:
        for wake, context in self._others:
            self.loop.call_soon(wake, self, context=context)

    def cancel(self, msg: object = None) -> bool:
        """Nothing is cancelled: what was handed in is committed or refused, whoever waits for it."""
        return False
