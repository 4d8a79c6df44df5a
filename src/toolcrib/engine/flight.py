"""One call on its way through the counter: how far it got, and the one way to stop it from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from toolcrib.policy.verdict import Decision
from toolcrib.ports import Hook, Question
from toolcrib.values.call import Permit, ToolCall
from toolcrib.values.context import ToolContext
from toolcrib.values.event import Draft
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

T = TypeVar("T")
_OVER = object()


@dataclass(slots=True, eq=False)
class Flight:
    """What is known of one call so far, and at the end its outcome: a value, or why there is none.

    A call can be stopped only while it waits. One that never waits is never registered, timed or stopped.
    """

    call: ToolCall
    call_id: str
    began: float
    run: Run
    task: asyncio.Task[object] | None = None
    slot: Slot | None = None
    permit: Permit | None = None
    context: ToolContext | None = None
    start: Draft | None = None
    value: object = None
    refusal: Refusal | None = None
    cancelled: bool = False
    closed: bool = False
    stop: Refusal | None = None
    stage: Slot | Hook | None = None
    """What it is busy with, where that has a time limit: a hook that was asked, or its tool."""
    ask: Decision | None = None
    parked: Question | None = None
    tries: int = 1
    counted: bool = False
    plain: bool = False
    """Whether its result is a number or nothing: short, and without secrets."""
    notice: str | None = None

    def resume(self, parked: Question) -> None:
        """Go on with a call that waited for a person: limits were charged when it came in, what it does counts now."""
        self.parked = parked
        self.call_id = parked.request.call_id
        self.counted = True

    async def wait(self, waiting: Waiting[None]) -> None:
        """See an attempt that waits to its end: from now on it can be stopped, and its start has to be on record."""
        run = self.run
        self.task = asyncio.current_task()
        run.flights.add(self)
        if self.start is not None:
            run.queue(self.start)
            self.start = None
        if self.stage is not None:
            run.runtime.watch.start(self, self.stage.timeout)
        if self.stop is not None and self.task is not None:
            self.task.cancel()
        try:
            await waiting
        finally:
            self.enter(None)
            run.flights.discard(self)

    def enter(self, stage: Slot | Hook | None) -> None:
        """Go on to something with a time limit of its own, or to something without one."""
        if self.task is not None:
            watch = self.run.runtime.watch
            if self.stage is not None:
                watch.done(self, self.stage.timeout)
            if stage is not None:
                watch.start(self, stage.timeout)
        self.stage = stage

    def overtime(self, seconds: float) -> None:
        """The time limit of the stage this call is in has passed; a slow hook is a denial."""
        if self.stage is None or self.stage is self.slot:
            self.interrupt(Reason.TIMEOUT, f"{self.call.name} took longer than its limit of {seconds:g} s")
        else:
            hook = cast("Hook", self.stage)
            denied = f"the hook {hook.name} did not answer within {seconds:g} s, so the call is denied"
            self.interrupt(Reason.PERMISSION_DENIED, denied)

    def interrupt(self, reason: Reason, message: str) -> None:
        """Stop the call wherever it waits; the first reason stands, and a finished call is left alone."""
        if self.closed or self.stop is not None:
            return
        self.stop = Refusal(reason, message)
        if self.task is not None:
            self.task.cancel()

    def stopped(self, stop: BaseException) -> None:
        """Keep why there is no value: refused, stopped by a limit or an abort, or cancelled from outside."""
        if isinstance(stop, Refusal):
            self.refusal = stop
        elif self.stop is not None:
            self.refusal = self.stop
        else:
            self.cancelled = True
            self.refusal = Refusal(Reason.CANCELLED, f"{self.call.name} was cancelled by its caller")

    async def take_back(self) -> None:
        """Take back a cancellation that came too late to matter, so that it hits nothing else."""
        if self.task is not None and self.task.cancelling():
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                pass
            self.task.uncancel()


def failure_of(error: BaseException, tool: Tool, flight: Flight) -> BaseException:
    """What a handler raised, as the counter goes on with it: its failure in the model's words, never a traceback."""
    if isinstance(error, (Refusal, KeyboardInterrupt)):
        return error
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if flight.stop is not None or task is None or task.cancelling():
            return error
        return Refusal(Reason.INTERNAL_ERROR, f"{tool.name} failed: it cancelled itself")
    text = str(error).strip()
    message = f"{tool.name} failed: {type(error).__name__}" + (f": {text[:2_000]}" if text else "")
    return Refusal(Reason.INTERNAL_ERROR, message, {"error_type": type(error).__name__})


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
        """Call `overtime` when the time is over, unless `done` comes first; 0 is no limit."""
        if not seconds:
            return
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


class Waiting(Generic[T]):
    """A coroutine that was begun and now waits for something; awaiting this goes on with it."""

    __slots__ = ("_for", "_work")

    def __init__(self, work: Generator[object, object, T], waits_for: object) -> None:
        self._work = work
        self._for = waits_for

    def __await__(self) -> Generator[object, object, T]:
        """What `yield from` would do from its second step on."""
        work, waiting = self._work, self._for
        while True:
            try:
                sent = yield waiting
            except BaseException as error:
                step = partial(work.throw, error)
            else:
                step = partial(work.send, sent)
            try:
                waiting = step()
            except StopIteration as done:
                value: T = done.value
                return value


def promptly(work: Coroutine[object, object, None]) -> Waiting[None] | None:
    """Run a coroutine as far as it goes without waiting; None when that was all of it."""
    steps = work.__await__()
    waits_for = next(steps, _OVER)  # dearer as `send` and `except StopIteration`: the exception has to be made
    return None if waits_for is _OVER else Waiting(steps, waits_for)
