"""What every store promises about shared rate limits: never one call too many, however the tokens are drawn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib.policy.limits import Rate
from toolcrib.ports import Store
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock
from toolcrib.testing.memory import MemoryStore

pytestmark = pytest.mark.anyio
TEN = Rate(10, 10.0)


@pytest.fixture(params=["sqlite", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    clock = FrozenClock()
    kept: Store = MemoryStore(clock)
    if request.param == "sqlite":
        kept = SqliteStore.open(tmp_path / "store.db", durability=Durability.NORMAL, clock=clock)
    yield kept
    await kept.close()


async def drawn(store: Store, holder: str, wanted: int, now: float, bucket: str = "b") -> int:
    return (await store.draw(bucket, TEN, holder, wanted, now)).amount


async def test_a_new_bucket_is_full_and_gives_no_more_than_it_has(store: Store) -> None:
    assert [await drawn(store, name, 4, 100.0) for name in "xyz"] == [4, 4, 2]
    block = await store.draw("b", TEN, "w", 1, 100.0)
    assert (block.amount, block.wait) == (0, 1.0)


async def test_buckets_are_apart(store: Store) -> None:
    assert await drawn(store, "x", 10, 100.0) == 10
    assert await drawn(store, "x", 10, 100.0, "other") == 10


async def test_tokens_come_back_with_time_and_never_beyond_the_burst(store: Store) -> None:
    assert await drawn(store, "x", 10, 100.0) == 10
    assert await drawn(store, "x", 10, 103.0) == 3
    assert await drawn(store, "x", 99, 1_000.0) == 10


async def test_what_somebody_holds_is_not_refilled_for_others_until_it_expires(store: Store) -> None:
    block = await store.draw("b", TEN, "x", 5, 100.0)
    assert block.lifetime == 5.0
    assert await drawn(store, "y", 99, 104.0) == 5
    assert await drawn(store, "z", 99, 104.5) == 0
    assert await drawn(store, "z", 99, 105.5) == 1


async def test_a_holder_that_draws_again_has_spent_what_it_had(store: Store) -> None:
    assert [await drawn(store, "x", 6, 100.0), await drawn(store, "x", 6, 100.0)] == [6, 4]
    assert await drawn(store, "x", 6, 100.0) == 0


async def test_what_is_given_back_can_be_drawn_again(store: Store) -> None:
    assert await drawn(store, "x", 10, 100.0) == 10
    await store.give_back("x", {"b": 7, "never drawn": 3})
    assert await drawn(store, "y", 99, 100.0) == 7
    await store.give_back("x", {"b": 7})
    assert await drawn(store, "z", 99, 100.0) == 0


async def test_a_clock_that_began_anew_neither_gives_nor_locks(store: Store) -> None:
    assert await drawn(store, "x", 10, 50_000.0) == 10
    assert await drawn(store, "y", 99, 10.0) == 0
    assert await drawn(store, "y", 99, 13.0) == 3
