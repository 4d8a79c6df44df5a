"""A store that was written by an earlier shape of the journal goes on as it is."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from toolcrib.ports import Unit
from toolcrib.stores.migrations import steps
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.stores.sqlite.opening import prepare
from toolcrib.stores.sqlite.store import no_crash
from toolcrib.testing.clock import FrozenClock
from toolcrib.values.event import Draft

pytestmark = pytest.mark.anyio
COLUMNS = 4  # the last step in which every fact of an event had a column


async def test_events_with_a_column_for_each_fact_are_read_verified_and_continued(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write_in_columns(path, 70)
    store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
    before = await store.verify(None)
    assert (before.events, before.erased, before.faults) == (70, 0, ())
    events = await store.events(session_id="s1", after=0, limit=100)
    assert [event.seq for event in events] == list(range(2, 71, 2))
    assert events[0].payload == {"i": 2, "text": "Grüße"}
    assert events[0].created_at == 1700000000.1234567
    assert events[0].call_id == "c2"
    assert await store.append(Unit((Draft("note", "s1", "r1"), Draft("note", "s1", "r1")))) == 72
    assert [event.run_seq for event in await store.events(session_id="s1", after=70, limit=2)] == [36, 37]
    assert (await store.verify(before.head)).faults == ()
    await store.close()


def write_in_columns(path: Path, count: int) -> None:
    prepare(path, FrozenClock(), no_crash, steps()[:COLUMNS])
    connection = sqlite3.connect(path, isolation_level=None)
    last = bytes(32)
    for seq in range(1, count + 1):
        number = (seq + 1) // 2
        facts = (f"s{(seq + 1) % 2}", "main", f"r{(seq + 1) % 2}", "info", "note", None, f"c{seq}", 1700000000.1234567)
        salt, payload = sha256(b"%d" % seq).digest()[:16], orjson.dumps({"i": seq, "text": "Grüße"})
        digest = sha256(salt + payload).digest()
        last = sha256(last + digest + orjson.dumps((seq, number)) + orjson.dumps(facts)).digest()
        row = (seq, number, *facts, payload, salt, None, last)
        connection.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
    connection.execute("UPDATE head SET seq = ?, hash = ?", (count, last))
    connection.close()
