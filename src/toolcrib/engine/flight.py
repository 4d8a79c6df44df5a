"""One call in the air: how far it got, and the one way to stop it from outside."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from toolcrib.policy.verdict import Decision
from toolcrib.values.call import Invocation, ToolCall
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot


class Flight:
    """What `settle` knows of one call so far. Abort and time limits stop it by cancelling its task, once."""

    __slots__ = (
        "ask", "began", "call", "call_id", "closed", "context", "invocation", "slot", "stage", "started", "stop", "task",
    )  # fmt: skip

    def __init__(self, call: ToolCall, call_id: str, began: float) -> None:
        self.call = call
        self.call_id = call_id
        self.began = began
        self.task = asyncio.current_task()
        self.slot: Slot | None = None
        self.invocation: Invocation | None = None
        self.context: ToolContext | None = None
        self.started = False
        self.closed = False
        self.stop: Refusal | None = None
        self.stage: str | None = None
        self.ask: Decision | None = None

    def interrupt(self, reason: Reason, message: str) -> None:
        """Stop the call wherever it waits; the first reason stands, and a finished call is left alone."""
        if self.closed or self.stop is not None or self.task is None:
            return
        self.stop = Refusal(reason, message)
        self.task.cancel()

    def overtime(self, seconds: float) -> None:
        """The time limit of the stage this call is in has passed; a slow hook is a denial."""
        if self.stage is None:
            self.interrupt(Reason.TIMEOUT, f"{self.call.name} took longer than its limit of {seconds:g} s")
        else:
            self.interrupt(
                Reason.PERMISSION_DENIED,
                f"the hook {self.stage} did not answer within {seconds:g} s, so the call is denied",
            )

    async def land(self) -> None:
        """Close the flight; a cancellation that came too late to matter is taken back."""
        self.closed = True
        if self.stop is None or self.task is None:
            return
        if self.task.cancelling():
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
            self.task.uncancel()


class Timed(Protocol):
    """Something whose time can run out."""

    def overtime(self, seconds: float) -> None: ...


class Watch:
    """Time limits of many calls on one timer per duration, instead of one timer object per call."""

    __slots__ = ("_loop", "_queues", "_timers")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queues: dict[float, dict[Timed, float]] = {}
        self._timers: dict[float, asyncio.TimerHandle] = {}

    def start(self, timed: Timed, seconds: float) -> None:
        """Call `overtime` when the time is over, unless `done` comes first."""
        queue = self._queues.get(seconds)
        if queue is None:
            queue = self._queues[seconds] = {}
        queue[timed] = when = self._loop.time() + seconds
        if seconds not in self._timers:
            self._timers[seconds] = self._loop.call_at(when, self._ring, seconds)

    def done(self, timed: Timed, seconds: float) -> None:
        if (queue := self._queues.get(seconds)) is not None:
            queue.pop(timed, None)

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._queues.clear()

    def _ring(self, seconds: float) -> None:
        del self._timers[seconds]
        queue = self._queues[seconds]
        now = self._loop.time()
        while queue:
            timed, when = next(iter(queue.items()))
            if when > now:
                self._timers[seconds] = self._loop.call_at(when, self._ring, seconds)
                return
            del queue[timed]
            timed.overtime(seconds)
        del self._queues[seconds]
