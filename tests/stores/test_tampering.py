"""Any change to the stored events that did not go through the store is found."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.ports import Unit, Verification
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.stores.sqlite.evidence import Evidence
from toolcrib.stores.verify import verify
from toolcrib.testing.clock import FrozenClock
from toolcrib.values.event import Draft

EVENTS = 12
TOGETHER = [(1,), (2, 3), (4,), (5,), (6, 7, 8), (9,), (10,), (11,)]
ROWS = [*(numbers[-1] for numbers in TOGETHER), EVENTS]
FIELDS = ["seq", "run_seq", "facts", "payload", "hash", "digest"]
FACTS = 10
VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(), st.binary())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a dozen events in three runs, some stored together, one session of which was purged."""
    path = tmp_path_factory.mktemp("original") / "store.db"

    async def fill() -> None:
        store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
        for run, numbers in enumerate(TOGETHER):
            drafts = [
                Draft("note", f"s{run % 2}", f"r{run % 3}", "main", f"c{i}", f"n{i}", payload={"i": i}) for i in numbers
            ]
            await store.append(Unit(tuple(drafts)))
        await store.purge(session_id="s1", before=None)
        await store.close()

    asyncio.run(fill())
    return path


@pytest.fixture(scope="module")
def tampered(original: Path) -> Callable[..., Verification | None]:
    """Change the store, verify it, undo the change; None when SQLite refused it or nothing differs."""
    connection = sqlite3.connect(original, isolation_level=None)
    before = _rows(connection)

    def tamper(*statements: str, values: tuple[object, ...] = ()) -> Verification | None:
        connection.execute("BEGIN")
        try:
            for statement in statements:
                connection.execute(statement, values)
            return verify(Evidence(connection), None) if _rows(connection) != before else None
        except sqlite3.IntegrityError:
            return None
        finally:
            connection.execute("ROLLBACK")

    return tamper


def test_the_store_is_whole_before_anybody_touches_it(original: Path) -> None:
    found = asyncio.run(_verify(original))
    assert (found.events, found.erased, found.faults) == (EVENTS, sum(map(len, TOGETHER[1::2])), ())


@settings(max_examples=400, deadline=None)
@given(seq=st.sampled_from(ROWS), field=st.sampled_from(FIELDS), value=VALUES)
def test_a_changed_field_is_found(
    tampered: Callable[..., Verification | None], seq: int, field: str, value: object
) -> None:
    found = tampered(f"UPDATE events SET {field} = ? WHERE seq = ?", values=(value, seq))
    assert found is None or found.faults


@settings(max_examples=200, deadline=None)
@given(seq=st.sampled_from(ROWS), fact=st.integers(0, FACTS - 1), value=VALUES.filter(lambda v: type(v) is not bytes))
def test_a_changed_fact_is_found(
    tampered: Callable[..., Verification | None], seq: int, fact: int, value: object
) -> None:
    found = tampered(f"UPDATE events SET facts = json_set(facts, '$[{fact}]', ?) WHERE seq = ?", values=(value, seq))
    assert found is None or found.faults


@pytest.mark.parametrize("seq", ROWS)
def test_a_removed_event_is_found(tampered: Callable[..., Verification], seq: int) -> None:
    assert tampered("DELETE FROM events WHERE seq = ?", values=(seq,)).faults


@settings(max_examples=60, deadline=None)
@given(first=st.sampled_from(ROWS), second=st.sampled_from(ROWS))
def test_two_events_that_changed_places_are_found(
    tampered: Callable[..., Verification | None], first: int, second: int
) -> None:
    found = tampered(
        f"UPDATE events SET seq = -1 WHERE seq = {first}",
        f"UPDATE events SET seq = {first} WHERE seq = {second}",
        f"UPDATE events SET seq = {second} WHERE seq = -1",
    )
    assert (found is None) == (first == second)
    assert found is None or found.faults


@pytest.mark.parametrize("place", [-3, 0, 2, 7, EVENTS + 1, 1000])
def test_an_inserted_event_is_found(tampered: Callable[..., Verification], place: int) -> None:
    others = ", ".join(FIELDS[1:])
    assert tampered(f"INSERT INTO events (seq, {others}) SELECT {place}, {others} FROM events WHERE seq = 3").faults


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE head SET seq = seq - 1",
        "UPDATE head SET seq = seq + 1",
        "UPDATE head SET hash = zeroblob(32)",
        "DELETE FROM head",
        "UPDATE head SET hash = 'text'",
        "UPDATE head SET seq = 'text'",
        "UPDATE events SET payload = NULL WHERE seq = 1",
        "DELETE FROM stretches WHERE 4 BETWEEN first_seq AND last_seq",
        "UPDATE stretches SET session_id = 'nobody' WHERE 4 BETWEEN first_seq AND last_seq",
        "UPDATE stretches SET last_seq = last_seq - 1 WHERE last_seq > 4",
        "UPDATE events SET payload = CAST(substr(payload, 2) AS TEXT) WHERE seq = 1",
        "UPDATE events SET facts = CAST(x'ff' AS TEXT) WHERE seq = 1",
        "UPDATE events SET facts = '[]' WHERE seq = 1",
        "UPDATE events SET facts = '{' WHERE seq = 1",
        "UPDATE events SET payload = NULL WHERE seq IN (SELECT seq FROM told WHERE type LIKE '%purged')",
    ],
)
def test_a_change_to_the_head_or_an_unrecorded_erasure_is_found(
    tampered: Callable[..., Verification], change: str
) -> None:
    assert tampered(change).faults


def test_a_cut_tail_is_found_only_by_an_expected_head(original: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(original, copy)
    kept = asyncio.run(_verify(copy)).head
    connection = sqlite3.connect(copy)
    connection.executescript(
        "DELETE FROM events WHERE seq > 1; UPDATE head SET seq = 1, hash = (SELECT hash FROM events)"
    )
    connection.close()
    assert asyncio.run(_verify(copy)).faults == ()
    [fault] = asyncio.run(_verify(copy, kept)).faults
    assert f"ended at {EVENTS}, now at 1" in fault.problem


@pytest.fixture
def unclosed(tmp_path: Path) -> Path:
    """A store of 80 events whose process was killed, so that its head was noted at the 64th."""
    path = tmp_path / "store.db"

    async def fill() -> None:
        store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
        for i in range(80):
            await store.append(Unit((Draft("note", "s1", "r1", payload={"i": i}),)))
        for name in ("store.db", "store.db-wal"):
            shutil.copy(path.with_name(name), path.with_name(f"killed-{name}"))
        await store.close()

    asyncio.run(fill())
    return path.with_name("killed-store.db")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DELETE FROM events WHERE seq > 60", "events 61 to 64 are missing at the end"),
        ("DELETE FROM events", "events 1 to 64 are missing at the end"),
        ("UPDATE head SET seq = 3, hash = (SELECT hash FROM events WHERE seq = 3)", "further behind 80 than it can be"),
    ],
)
def test_what_is_missing_before_the_noted_head_is_found_also_after_more_was_appended(
    unclosed: Path, change: str, problem: str
) -> None:
    assert asyncio.run(_verify(unclosed)).faults == ()
    _change(unclosed, change)
    assert any(problem in fault.problem for fault in asyncio.run(_verify(unclosed)).faults)
    if change.startswith("DELETE"):
        asyncio.run(_append(unclosed, 100))
        assert any("missing" in fault.problem for fault in asyncio.run(_verify(unclosed)).faults)


def test_an_end_cut_after_the_noted_head_is_found_only_by_an_expected_head(unclosed: Path) -> None:
    kept = asyncio.run(_verify(unclosed)).head
    _change(unclosed, "DELETE FROM events WHERE seq > 70")
    assert asyncio.run(_verify(unclosed)).faults == ()
    [fault] = asyncio.run(_verify(unclosed, kept)).faults
    assert "ended at 80, now at 70" in fault.problem


def test_an_erased_payload_cannot_be_found_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def fill_and_purge() -> None:
        store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
        for i in range(50):
            await store.append(Unit((Draft("note", "s1", payload={"secret": f"xyzzy-{i}" * (i * 40 + 1)}),)))
        await store.purge(session_id="s1", before=None)
        await store.append(Unit((Draft("note", "s2", payload={"kept": "plugh"}),)))
        files = b"".join(file.read_bytes() for file in path.parent.glob("store.db*"))
        assert b"plugh" in files
        assert b"xyzzy" not in files
        await store.close()

    asyncio.run(fill_and_purge())


def _change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


async def _append(path: Path, times: int) -> None:
    store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
    for i in range(times):
        await store.append(Unit((Draft("note", "s2", "r2", payload={"i": i}),)))
    await store.close()


async def _verify(path: Path, expect: str | None = None) -> Verification:
    store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
    try:
        return await store.verify(expect)
    finally:
        await store.close()


def _rows(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    typed = ", ".join(f"CAST({field} AS BLOB), typeof({field})" for field in FIELDS)
    return [
        *connection.execute(f"SELECT {typed} FROM events ORDER BY seq"),  # as bytes: a changed text may be none
        *connection.execute("SELECT * FROM head"),
        *connection.execute("SELECT * FROM stretches"),
    ]
