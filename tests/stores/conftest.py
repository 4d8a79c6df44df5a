"""What the tests of the SQLite store share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def opened(path: Path) -> Callable[..., SqliteStore]:
    """Open the store at `path`, which the test must close."""

    def open_it(durability: Durability = Durability.NORMAL, patience: float = 0.2) -> SqliteStore:
        return SqliteStore.open(path, durability=durability, clock=FrozenClock(), patience=patience)

    return open_it


@pytest.fixture
def outside(path: Path) -> Callable[[], sqlite3.Connection]:
    """Another program's connection to the same file."""
    return lambda: sqlite3.connect(path, isolation_level=None, timeout=5)
