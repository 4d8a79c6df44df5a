"""Reads: a few threads, each with its own read-only connection, so that neither writer nor event loop waits."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar

from toolcrib.stores.sqlite.connection import connect_reader, explain
from toolcrib.values.refusal import StoreError

T = TypeVar("T")


class Reader:
    """Runs functions on read-only connections."""

    def __init__(self, path: Path, patience: float, threads: int) -> None:
        self._path = path
        self._patience = patience
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="toolcrib-reader")
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._closed = False

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Ask the database something on a thread."""
        if self._closed:
            raise StoreError(f"the store {self._path} is closed")
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._ask, question)

    def close(self) -> None:
        """Let the reads that run finish; close the connections."""
        self._closed = True
        self._pool.shutdown(wait=True)
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connection()
            return question(connection)
        except sqlite3.Error as error:
            raise explain(error, self._path) from error
        finally:
            if connection is not None:
                self._idle.put(connection)

    def _connection(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return connect_reader(self._path, self._patience)
