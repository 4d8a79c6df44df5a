"""Between commits that follow closely the store holds its snapshot; nobody may notice."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.ports import Fenced, Unit
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock
from toolcrib.values.event import Draft, EventType

Open = Callable[..., SqliteStore]
Outside = Callable[[], sqlite3.Connection]
pytestmark = pytest.mark.anyio


def note(number: int) -> Unit:
    return Unit((Draft(EventType.NOTE, "s1", "r1", "main", payload={"number": number}),))


def written(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


async def test_an_owner_is_fenced_off_at_once_even_in_the_middle_of_its_commits(path: Path) -> None:
    clock = FrozenClock()
    first, second = (SqliteStore.open(path, durability=Durability.NORMAL, clock=clock) for _ in range(2))
    mine = await first.claim("s1", agent_id="main", project="p", owner="first", ttl=30)
    for number in range(5):
        await first.append(Unit(note(number).drafts, mine))
    clock.advance(60)
    await second.claim("s1", agent_id="main", project="p", owner="second", ttl=30)
    with pytest.raises(Fenced):
        await first.append(Unit(note(5).drafts, mine))
    assert (await second.verify(None)).faults == ()
    await first.close()
    await second.close()


async def test_commits_of_others_in_between_leave_no_gap(opened: Open) -> None:
    first, second = opened(), opened()
    for number in range(40):
        await first.append(note(number))
        if number % 5 == 4:
            await second.append(note(number))
    assert [event.seq for event in await first.events(session_id="s1", after=0, limit=100)] == list(range(1, 49))
    assert (await first.verify(None)).faults == ()
    await first.close()
    await second.close()


async def test_a_store_at_rest_lets_others_start_the_log_anew(opened: Open, outside: Outside, path: Path) -> None:
    store = opened()
    for number in range(10):
        await store.append(note(number))

    def truncate() -> tuple[int, int, int]:
        connection = outside()
        try:
            return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.close()

    assert await asyncio.to_thread(truncate) == (0, 0, 0)
    assert path.with_name(f"{path.name}-wal").stat().st_size == 0
    await store.append(note(10))
    assert (await store.verify(None)).faults == ()
    await store.close()


async def test_a_purge_right_after_commits_leaves_no_old_page_in_the_log(opened: Open, path: Path) -> None:
    store = opened()
    await store.claim("s1", agent_id="main", project="p", owner="me", ttl=30)
    for _ in range(10):
        await store.append(Unit((Draft(EventType.NOTE, "s1", "r1", "main", payload={"text": "hunter2 is secret"}),)))
    assert await store.purge(session_id="s1", before=None)
    assert list(store.warnings()) == []
    assert b"hunter2" not in written(path)
    await store.close()
