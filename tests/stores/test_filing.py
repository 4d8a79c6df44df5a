"""Events are found in the same places before and after they are filed, whoever committed them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from toolcrib.ports import Unit
from toolcrib.stores.sqlite import SqliteStore
from toolcrib.values.event import Draft, EventType

pytestmark = pytest.mark.anyio
Open = Callable[..., SqliteStore]
Outside = Callable[[], sqlite3.Connection]


def call(number: int, kind: EventType = EventType.TOOL_STARTED) -> Draft:
    return Draft(kind, f"s{number % 3}", f"r{number % 2}", call_id=f"c{number}", payload={"number": number})


async def everything(store: SqliteStore) -> list[object]:
    """All that can be looked up by session or call."""
    found: list[object] = []
    for session_id in ("s0", "s1", "s2", "nobody"):
        found.append(await store.events(session_id=session_id, after=0, limit=1000))
        found.append(await store.events(session_id=session_id, after=17, limit=7))
        found.append(await store.session(session_id))
    found += [await store.call_events(f"s{number % 3}", f"c{number}") for number in range(60)]
    return found


async def fill(store: SqliteStore) -> None:
    for number in range(3):
        await store.claim(f"s{number}", agent_id="main", project="p", owner="me", ttl=30)
    for number in range(60):
        kin = (call(number + 60), call(number + 120)) if number % 5 == 0 else ()
        await store.append(Unit((call(number), *kin)))
        if number % 7:
            await store.append(Unit((call(number, EventType.TOOL_COMPLETED),)))


async def test_the_same_is_found_whether_all_some_or_none_is_filed(opened: Open) -> None:
    store = opened()
    await fill(store)
    before = await everything(store)
    store._ledger.file_alone()
    assert await everything(store) == before
    await store.append(Unit((call(7, EventType.TOOL_COMPLETED),)))
    partly = await everything(store)
    assert partly != before
    store._ledger.file_alone()
    assert await everything(store) == partly
    assert (await store.verify(None)).faults == ()
    await store.close()


async def test_a_run_goes_on_counting_after_it_was_filed_and_forgotten(opened: Open) -> None:
    store = opened()
    await fill(store)
    store._ledger.file_alone()
    await store.close()
    store = opened()
    await store.append(Unit((call(0), call(1))))
    assert (await store.verify(None)).faults == ()
    await store.close()


async def test_stores_that_take_turns_count_runs_as_one(opened: Open) -> None:
    stores = [opened() for _ in range(3)]
    for turn in range(30):
        store = stores[turn % 3]
        await store.append(Unit((call(turn), call(turn + 1))))
        if turn % 10 == 5:
            store._ledger.file_alone()
    assert (await stores[0].verify(None)).faults == ()
    for store in stores:
        await store.close()


async def test_what_many_short_processes_left_is_filed_at_the_next_start(opened: Open, outside: Outside) -> None:
    store = opened()
    await store.append(Unit(tuple(call(number) for number in range(600))))
    await store.close()
    await opened().close()
    assert outside().execute("SELECT seq FROM filed").fetchone() == (600,)
