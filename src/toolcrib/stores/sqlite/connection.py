"""Connections to the file, and what SQLite's errors mean to whoever runs the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from toolcrib.values.durability import Durability
from toolcrib.values.refusal import StoreError

_PRIMARY = 0xFF
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_PASSING = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def connect_writer(path: Path, durability: Durability, patience: float) -> sqlite3.Connection:
    """The connection that commits. It never waits for a lock and never checkpoints by itself: its caller decides.

    Only to open the file it waits: whoever closes it last holds it alone for as long as it takes to clear the log away.
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA synchronous = {durability.name}")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA busy_timeout = 0")
    return connection


def connect_reader(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that cannot change anything."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, timeout=patience, isolation_level=None, check_same_thread=False, uri=True)
    connection.execute("PRAGMA query_only = ON")
    return connection


def is_busy(error: Exception) -> bool:
    """Another connection holds the lock; the same statement may work a moment later."""
    return _code(error) & _PRIMARY in _BUSY


def is_untrustworthy(error: Exception) -> bool:
    """A write or sync failed in a way after which the operating system may have dropped data it had accepted."""
    code = _code(error)
    return code & _PRIMARY == sqlite3.SQLITE_IOERR and code not in _FULL


def may_pass(error: Exception) -> bool:
    """The same write may work later, without opening the store again."""
    return is_busy(error) or _code(error) in _FULL or _code(error) & _PRIMARY in _PASSING


def explain(error: Exception, path: Path) -> StoreError:
    """The error in the words of the person who can fix it: what, where, and the way out."""
    if isinstance(error, StoreError):
        return error
    code = _code(error)
    primary = code & _PRIMARY
    if code in _FULL or primary == sqlite3.SQLITE_FULL:
        return StoreError(f"no space left for the store {path}; free some space and go on, nothing committed is lost")
    if primary in _BUSY:
        return StoreError(f"the store {path} is locked by another process; close it or try again")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"the store {path} cannot be written ({error}); its file, its folder and the file system must be writable,"
            " or copy the store to a place that is"
        )
    if primary in _BROKEN:
        return StoreError(
            f"the store {path} is damaged ({error}); nothing was deleted: restore a backup, or save what is readable"
            f" with: sqlite3 '{path}' .recover | sqlite3 recovered.db"
        )
    if primary == sqlite3.SQLITE_IOERR:
        return StoreError(
            f"the store {path} could not be read or written ({error}); check the disk, then open the store again"
        )
    return StoreError(f"the store {path} could not do this: {type(error).__name__}: {error}")


def _code(error: Exception) -> int:
    # Only SQLite's own errors carry a code; those of the Python module (a wrong binding …) do not.
    code: object = getattr(error, "sqlite_errorcode", 0)
    return code if isinstance(code, int) else 0
