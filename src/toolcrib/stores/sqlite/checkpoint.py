"""Moving the log back into the file, on the writer thread, so that no commit on an event loop ever waits for a disk."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from toolcrib.stores.sqlite.connection import is_untrustworthy
from toolcrib.stores.sqlite.ledger import Ledger


class Checkpoint:
    """Copies the log into the file on a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def run(self, alone: AbstractContextManager[object], ledger: Ledger) -> sqlite3.Error | None:
        """Copy most of the log while others commit, then the rest `alone`; returns an error that ends all trust."""
        try:
            with alone:
                ledger.let_go()
            self._copy("PASSIVE")
            with alone:
                ledger.let_go()
                self._copy("PASSIVE")
                # The first commit after a finished copy starts the log anew and syncs its header. Here that is the
                # filing of new events, so that it is never a commit on an event loop.
                ledger.file_alone()
        except sqlite3.Error as error:
            # Busy or full: the log simply stays longer, and whoever commits next hears of a full disk.
            return error if is_untrustworthy(error) else None
        return None

    def truncate(self) -> bool:
        """Leave no old page behind in the log, after an erasure; False when a reader held it."""
        return self._copy("TRUNCATE")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _copy(self, mode: str) -> bool:
        if self._connection is None:
            self._connection = sqlite3.connect(self._path, timeout=5, isolation_level=None, check_same_thread=False)
        busy, pages, copied = self._connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        return busy == 0 and pages == copied
