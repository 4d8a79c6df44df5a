"""Who commits: the calling thread where that is cheap and free, otherwise the writer thread, all that waits at once."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from toolcrib.stores.sqlite.checkpoint import Checkpoint
from toolcrib.stores.sqlite.connection import Durability, explain, is_busy, is_untrustworthy
from toolcrib.stores.sqlite.ledger import Ledger, Ticket
from toolcrib.values.refusal import StoreError

_MOST_AT_ONCE = 512
_CHECKPOINT_WEIGHT = 8 << 20  # bytes of log, roughly
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02


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
        self._inline = durability is Durability.NORMAL
        self._patience = patience
        self._checkpoint = checkpoint
        self._announce = announce
        self._waiting: deque[Ticket] = deque()
        self._lock = threading.Lock()  # held by whoever uses the ledger
        self._bell = threading.Condition()
        self._rung = False
        self._thread: threading.Thread | None = None
        self._closed = False
        self._refusing: StoreError | None = None

    def submit(self, ticket: Ticket) -> None:
        """Commit a ticket and everything that waits, here and now if possible."""
        self._require_open()
        self._waiting.append(ticket)
        if self._inline:
            self.try_now()
        if self._waiting or self._ledger.weight > _CHECKPOINT_WEIGHT:
            self.ring()

    def hold(self, ticket: Ticket) -> None:
        """Keep a ticket for the next commit."""
        self._require_open()
        self._waiting.append(ticket)

    def try_now(self) -> None:
        """Commit on the calling thread, unless another thread or process is at it: then nothing happens."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            batch = self._batch()
            if batch and not self._commit(batch):
                self._waiting.extendleft(reversed(batch))
        finally:
            self._lock.release()
        if batch:
            _deliver(batch)

    def ring(self) -> None:
        """Let the writer thread commit what waits."""
        with self._bell:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, name="toolcrib-writer", daemon=True)
                self._thread.start()
            self._rung = True
            self._bell.notify()

    def flush(self) -> bool:
        """Whether anything waits; if so, see that it is committed."""
        if not self._waiting:
            return False
        if self._inline:
            self.try_now()
        if self._waiting:
            self.ring()
        return True

    def close(self) -> None:
        """Commit what waits and stop the thread."""
        with self._bell:
            self._closed = True
            self._rung = True
            self._bell.notify()
        if self._thread is not None:
            self._thread.join()
        while self._waiting:
            self._commit_waiting()

    def _serve(self) -> None:
        while True:
            with self._bell:
                while not self._rung:
                    self._bell.wait()
                self._rung = False
                closed = self._closed
            while self._waiting:
                self._commit_waiting()
            if self._ledger.weight > _CHECKPOINT_WEIGHT:
                self._copy_log()
            if closed:
                return

    def _copy_log(self) -> None:
        self._ledger.weight = 0
        error = self._checkpoint.run(self._lock, self._ledger.connection)
        if error is not None:
            self._distrust(error)

    def _commit_waiting(self) -> None:
        with self._lock:
            batch = self._batch()
            deadline = time.monotonic() + self._patience
            pause = _FIRST_PAUSE
            while batch and not self._commit(batch):
                if time.monotonic() > deadline:
                    _fail(batch, StoreError(_locked(self._path, self._patience)))
                    break
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        _deliver(batch)

    def _batch(self) -> list[Ticket]:
        batch: list[Ticket] = []
        waiting = self._waiting
        while waiting and len(batch) < _MOST_AT_ONCE:
            batch.append(waiting.popleft())
        return batch

    def _commit(self, batch: list[Ticket]) -> bool:
        """Commit a batch, or find out which of its tickets cannot be; False means that the database is busy."""
        if self._refusing is not None:
            _fail(batch, self._refusing)
            return True
        try:
            self._ledger.commit(batch)
        except sqlite3.Error as error:
            if is_busy(error):
                return False
            self._give_up(batch, error)
        except Exception as error:
            self._give_up(batch, error)
        else:
            self._announce(self._ledger.head.seq)
        return True

    def _give_up(self, batch: list[Ticket], error: Exception) -> None:
        if isinstance(error, sqlite3.Error) and is_untrustworthy(error):
            _fail(batch, self._distrust(error))
        elif len(batch) == 1:
            _fail(batch, _store_error(error, self._path))
        else:
            for ticket in batch:  # one of them is the cause: the others must not pay for it
                if not self._commit([ticket]):
                    _fail([ticket], StoreError(_locked(self._path, 0)))

    def _distrust(self, error: sqlite3.Error) -> StoreError:
        self._refusing = StoreError(f"{explain(error, self._path)}; no more writes are accepted until then")
        return self._refusing

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self._path} is closed")


def _store_error(error: Exception, path: Path) -> StoreError:
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.Error):
        return explain(error, path)
    return StoreError(f"the store {path} could not take a unit: {type(error).__name__}: {error}")


def _locked(path: Path, patience: float) -> str:
    return f"the store {path} was locked by another process for {patience:g} s; close that process or try again"


def _fail(batch: Iterable[Ticket], error: Exception) -> None:
    for ticket in batch:
        ticket.outcome = error


def _deliver(batch: list[Ticket]) -> None:
    """Tell each caller on its own loop; one call per loop, since waking a loop is a system call."""
    here = asyncio._get_running_loop()
    away: dict[asyncio.AbstractEventLoop, list[Ticket]] = {}
    for ticket in batch:
        if ticket.loop is here:
            _settle(ticket)
        else:
            away.setdefault(ticket.loop, []).append(ticket)
    for loop, tickets in away.items():
        try:
            loop.call_soon_threadsafe(_settle_all, tickets)
        except RuntimeError:
            if not loop.is_closed():  # a closed loop has nobody left to tell
                raise


def _settle_all(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        _settle(ticket)


def _settle(ticket: Ticket) -> None:
    future, outcome = ticket.future, ticket.outcome
    if future is None:
        if isinstance(outcome, Exception):
            ticket.loop.call_exception_handler({"message": "a queued unit was not committed", "exception": outcome})
    elif not future.done():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
