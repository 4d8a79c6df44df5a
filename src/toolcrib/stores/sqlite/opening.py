"""Making a store file, or bringing an older one to the present shape, with other processes doing the same."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from toolcrib.ports import Clock
from toolcrib.stores.chain import GENESIS, facts_text, salted
from toolcrib.stores.migrations import Step
from toolcrib.stores.sqlite.connection import explain
from toolcrib.stores.statements import SQLITE
from toolcrib.values.refusal import StoreError

_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL)"
)
_MIGRATION_PATIENCE = 60.0


def prepare(path: Path, clock: Clock, crash: Callable[[str], None], known: Sequence[Step]) -> None:
    """Leave a store file of the newest known shape at `path`, whatever was there before; never delete anything."""
    try:
        _refuse_leftovers(path)
        if not path.exists():
            _create(path, clock, crash, known)
        _migrate(path, clock, crash, known)
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except OSError as error:
        raise StoreError(f"the store {path} cannot be opened: {error.strerror or error}") from error


def _refuse_leftovers(path: Path) -> None:
    """SQLite would drop the log of an emptied file, and replay an old log into a new file: neither may happen."""
    log = path.with_name(f"{path.name}-wal")
    if _size(path) == 0:
        raise StoreError(
            f"the store {path} is empty (0 bytes), so it was cut off; restore a backup, or move it"
            f" (and {log.name}, if there) away to start anew"
        )
    if _size(log) and not path.exists():
        raise StoreError(
            f"the store {path} is missing but its log {log.name} is there; put the file back, or move the log away"
            " to start anew"
        )


def _size(path: Path) -> int | None:
    """How long a file is, if it is there: another process may take its log away at any moment."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _create(path: Path, clock: Clock, crash: Callable[[str], None], known: Sequence[Step]) -> None:
    """Build the file aside and link it into place: nobody ever sees a half-made store, and the first one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        _migrate(draft, clock, crash, known)
        crash("created")
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        for leftover in (draft, draft.with_name(f"{draft.name}-wal"), draft.with_name(f"{draft.name}-shm")):
            leftover.unlink(missing_ok=True)


def _migrate(path: Path, clock: Clock, crash: Callable[[str], None], known: Sequence[Step]) -> None:
    connection = sqlite3.connect(path, timeout=_MIGRATION_PATIENCE, isolation_level=None)
    try:
        present = _version(connection, path)
        if present > known[-1].number:
            raise StoreError(
                f"the store {path} has schema {present}, this version of toolcrib reads up to {known[-1].number};"
                " upgrade toolcrib to open it"
            )
        if present == known[-1].number:
            return
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.create_function("facts_text", 8, facts_text, deterministic=True)
        connection.create_function("salted", 2, salted, deterministic=True)
        for step in known:
            _apply(connection, path, step, clock, crash)
    finally:
        connection.close()


def _apply(connection: sqlite3.Connection, path: Path, step: Step, clock: Clock, crash: Callable[[str], None]) -> None:
    """One step, one transaction; whoever came second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection, path) < step.number:
            connection.execute(_VERSIONS)
            for statement in step.statements:
                connection.execute(SQLITE.schema(statement))
                crash("migrating")
            if step.number == 1:
                connection.execute("INSERT INTO head (one, seq, hash) VALUES (1, 0, ?)", (GENESIS,))
                connection.execute("INSERT INTO filed (one, seq) VALUES (1, 0)")
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (step.number, step.name, clock.now()))
        crash("before_migrated")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "migrations" in tables:
        row = connection.execute("SELECT max(number) FROM migrations").fetchone()
        return int(row[0] or 0)
    if tables:
        raise StoreError(f"{path} is a SQLite database of another program ({', '.join(sorted(tables)[:5])})")
    return 0
