"""A bounded pool of daemon threads for handlers that block; a busy pool says so instead of queueing."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

Job = Callable[[], None]


@frozen
class Ended:
    """How a handler ended. The error is a value: a coroutine cannot be woken with every kind of exception."""

    value: object
    error: BaseException | None = None


class Threads:
    """At most `most` threads, kept for the next handler; a thread that never returns keeps its place."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._busy = 0
        self._alive = 0

    def submit(self, work: Callable[[], object]) -> asyncio.Future[Ended]:
        """Start the work now, or refuse with `worker_busy`."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Ended] = loop.create_future()
        context = contextvars.copy_context()
        with self._lock:
            if self._busy >= self._most:
                message = f"all {self._most} threads for blocking tools are busy; try again when one has finished"
                raise Refusal(Reason.WORKER_BUSY, message)
            self._busy += 1
            if self._alive < self._busy:
                self._alive += 1
                threading.Thread(target=self._serve, name="toolcrib-handler", daemon=True).start()
        self._jobs.put(lambda: self._perform(work, context, loop, future))
        return future

    def close(self) -> None:
        """Let idle threads end; a handler still at work ends with the process."""
        with self._lock:
            for _ in range(self._alive):
                self._jobs.put(None)

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        with self._lock:
            self._alive -= 1

    def _perform(
        self,
        work: Callable[[], object],
        context: contextvars.Context,
        loop: asyncio.AbstractEventLoop,
        future: asyncio.Future[Ended],
    ) -> None:
        try:
            ended = Ended(context.run(work))
        except BaseException as error:  # a handler's SystemExit must reach its caller, not end a pool thread
            ended = Ended(None, error)
        with self._lock:
            self._busy -= 1
        try:
            loop.call_soon_threadsafe(_resolve, future, ended)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more


def _resolve(future: asyncio.Future[Ended], ended: Ended) -> None:
    if not future.done():
        future.set_result(ended)
