"""Who commits: the calling thread where that is cheap and free, otherwise the writer thread, all that waits at once."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

from toolcrib.stores.sqlite.checkpoint import Checkpoint
from toolcrib.stores.sqlite.connection import Durability, explain, is_busy, is_untrustworthy, may_pass
from toolcrib.stores.sqlite.delivery import answer, answer_soon, deliver
from toolcrib.stores.sqlite.ledger import Ledger, Ticket
from toolcrib.values.refusal import StoreError

_MOST_AT_ONCE = 512
_MOST_ON_A_LOOP = 128  # a few milliseconds
_MOST_KEPT = 10_000
_CHECKPOINT_WEIGHT = 16 << 20  # bytes of log, roughly
_MOST_WEIGHT = 32 << 20  # beyond this, whoever commits waits for the copy
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02
_HELD_AT_MOST = 0.1  # seconds without a commit
_LONGEST_ON_A_LOOP = 0.001  # seconds that a commit may take which a loop waits for
_UNKNOWN = 1.0


class Writer:
    """Commits tickets in the order they came. Safe to use from any thread."""

    def __init__(
        self,
        path: Path,
        ledger: Ledger,
        durability: Durability,
        patience: float,
        checkpoint: Checkpoint,
        announce: Callable[[int], None],
    ) -> None:
        self._path = path
        self._ledger = ledger
        self._syncs = durability is Durability.FULL
        self._takes = _UNKNOWN if self._syncs else 0.0  # seconds of a commit; without a sync they need not be looked at
        self._patience = patience
        self._checkpoint = checkpoint
        self._announce = announce
        self._waiting: deque[Ticket] = deque()
        self._kept: list[Ticket] = []
        self._lock = threading.Lock()  # held by whoever uses the ledger
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._rung = False
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._refusing: StoreError | None = None
        self._copying = False
        self._gathering: asyncio.AbstractEventLoop | None = None
        self._followed = False
        self._resting: asyncio.AbstractEventLoop | None = None
        self._in_vain_until = 0.0

    def submit(self, ticket: Ticket) -> None:
        """Commit a ticket after everything that waits: now, or once all who are about to run have had their turn."""
        if self._closed:
            raise StoreError(f"the store {self._path} is closed")
        self._waiting.append(ticket)
        loop = ticket.loop
        # Whether others are about to run is asyncio's own knowledge; no public call tells it. Counting the appends of
        # one turn of the loop does not: a caller that is answered at once goes on without giving up its turn.
        # A loop that keeps no such list commits at once.
        if self._gathering is loop:
            return
        if getattr(loop, "_ready", ()):
            self._gather(loop)
        else:
            answer_soon(self._commit_or_ring(loop))

    def hold(self, ticket: Ticket) -> None:
        """Keep a ticket for the next commit."""
        if self._closed:
            raise StoreError(f"the store {self._path} is closed")
        if not ticket.awaited and len(self._waiting) + len(self._kept) > _MOST_KEPT:
            raise StoreError(f"more than {_MOST_KEPT} units wait for the store {self._path}, which does not take them")
        self._waiting.append(ticket)

    def flush(self, here: asyncio.AbstractEventLoop) -> None:
        """See that what waits is committed: a callback of the loop `here`."""
        self._answer(self._commit_or_ring(here), here)

    def _gather(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let everybody who is about to run hand in what they have before it is committed together."""
        if self._gathering is not loop:
            self._gathering = loop
            loop.call_soon(self._flush_gathered, loop)

    def _flush_gathered(self, here: asyncio.AbstractEventLoop) -> None:
        self._gathering = None
        self.flush(here)

    def _answer(self, tickets: Sequence[Ticket], here: asyncio.AbstractEventLoop) -> None:
        """Let those who wait on the loop `here` go on: all of them run before this returns."""
        if tickets:
            self._gather(here)
            answer(tickets)

    def _commit_or_ring(self, here: asyncio.AbstractEventLoop) -> Sequence[Ticket]:
        """Commit what waits or have it committed; returns what of it is to be answered on the loop `here`."""
        done: Sequence[Ticket] = ()
        if self._waiting and self._takes < _LONGEST_ON_A_LOOP and self._ledger.weight < _MOST_WEIGHT:
            done = self._commit_on(here)
        if self._waiting:
            self.ring()
        elif self._ledger.weight > _CHECKPOINT_WEIGHT and not self._copying:
            self._copying = True  # asked for once, not with every commit until it is done
            self.ring()
        return done

    def ring(self) -> None:
        """Let the writer thread commit what waits."""
        if self._thread is None:
            self._start()
        if not self._rung:
            self._rung = True
            self._bell.put(None)

    def close(self) -> None:
        """Commit what waits and stop the thread."""
        with self._starting:
            self._closed = True
        self._bell.put(None)
        if self._thread is not None:
            self._thread.join()
        self._commit_waiting()
        deliver(self._kept, None, self._answer)

    def _commit_on(self, here: asyncio.AbstractEventLoop) -> Sequence[Ticket]:
        """Commit on the calling thread, if nobody is at it and nothing goes wrong: the rest is the writer thread's."""
        if not self._lock.acquire(blocking=False):
            return ()
        try:
            batch = self._batch(_MOST_ON_A_LOOP)
            if self._attempt(batch) is not None:
                self._waiting.extendleft(reversed(batch))
                return ()
        finally:
            self._lock.release()
        self._followed = True
        if self._resting is None or self._resting.is_closed():
            self._resting = here
            here.call_later(_HELD_AT_MOST, self._rest, here)
        return deliver(batch, here, self._answer)

    def _rest(self, here: asyncio.AbstractEventLoop) -> None:
        """Let others start the log anew when no commit follows."""
        if self._followed:
            self._followed = False
            here.call_later(_HELD_AT_MOST, self._rest, here)
            return
        self._resting = None
        if self._lock.acquire(blocking=False):  # otherwise the writer thread is at it, which lets go itself
            self._ledger.let_go()
            self._lock.release()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="toolcrib-writer", daemon=True)
                self._thread.start()

    def _serve(self) -> None:
        while True:
            self._bell.get()
            self._rung = False  # before looking at what waits: whoever comes later rings again
            closed = self._closed
            self._commit_waiting()
            if self._ledger.weight > _CHECKPOINT_WEIGHT:
                self._copy_log()
            if closed:
                return

    def _commit_waiting(self) -> None:
        while self._waiting:
            with self._lock:
                batch = self._batch(_MOST_AT_ONCE)
                self._commit_patiently(batch)
                self._ledger.let_go()
            deliver(batch, None, self._answer)

    def _commit_patiently(self, batch: list[Ticket]) -> None:
        """Commit a batch, or find out which of its tickets cannot be."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        # Whoever was refused because of a lock has more to record (that it was refused), and must not wait again.
        patience = _LONGEST_PAUSE if began < self._in_vain_until else self._patience
        while (error := self._attempt(batch)) is not None:
            if not is_busy(error):
                self._give_up(batch, error)
                return
            if (now := time.monotonic()) > began + patience:
                self._in_vain_until = now + self._patience
                self._postpone(batch, error)
                return
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _batch(self, most: int) -> list[Ticket]:
        batch, self._kept = self._kept, []
        waiting = self._waiting
        while waiting and len(batch) < most:
            batch.append(waiting.popleft())
        return batch

    def _attempt(self, batch: list[Ticket]) -> Exception | None:
        if not batch:
            return None
        if self._refusing is not None:
            _fail(batch, self._refusing)
            return None
        began = time.perf_counter() if self._syncs else 0.0
        try:
            self._ledger.commit(batch)
        except Exception as error:  # whatever it is: no caller may wait for ever because of it
            return error
        if self._syncs:
            spent = time.perf_counter() - began
            self._takes = spent if self._takes == _UNKNOWN else 0.75 * self._takes + 0.25 * spent
        self._announce(self._ledger.last_seq)
        return None

    def _give_up(self, batch: list[Ticket], error: Exception) -> None:
        if is_untrustworthy(error):
            _fail(batch, self._distrust(error))
        elif len(batch) > 1:
            for ticket in batch:  # one of them is the cause: the others must not pay for it
                alone = [ticket]
                self._commit_patiently(alone)
            batch[:] = [ticket for ticket in batch if ticket not in self._kept]
        elif may_pass(error):
            self._postpone(batch, error)
        else:
            _fail(batch, explain(error, self._path))

    def _postpone(self, batch: list[Ticket], error: Exception) -> None:
        """Fail those who wait for an answer; keep what was queued without one, to go with a later commit."""
        _fail(batch, explain(error, self._path))
        self._kept.extend(ticket for ticket in batch if not ticket.awaited)
        batch[:] = [ticket for ticket in batch if ticket.awaited]

    def _copy_log(self) -> None:
        weight = self._ledger.weight
        error = self._checkpoint.run(self._lock, self._ledger)
        with self._lock:
            self._ledger.weight -= weight
            self._copying = False
        if error is not None:
            self._distrust(error)

    def _distrust(self, error: Exception) -> StoreError:
        self._refusing = StoreError(f"{explain(error, self._path)}; no more writes are accepted until then")
        return self._refusing


def _fail(batch: list[Ticket], error: StoreError) -> None:
    for ticket in batch:
        ticket.outcome = error
