"""What the operator does not want to keep is erased by itself, and the chain stays whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolcrib import Event, Parts, Toolcrib, tool
from toolcrib.assemble.crib import SystemClock
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import FrozenClock

pytestmark = pytest.mark.anyio


@tool.read(name="look.up")
async def look(word: str) -> str:
    """Look."""
    return word


async def completed(crib: Toolcrib) -> list[Event]:
    return [event async for event in crib.events(follow_on=False) if event.type == "tool_completed"]


async def test_payloads_older_than_the_retention_are_erased_when_the_crib_opens(tmp_path: Path) -> None:
    long_ago = FrozenClock(wall=SystemClock().now() - 40 * 86_400)
    old = SqliteStore.open(tmp_path / "toolcrib.db", durability=Durability.NORMAL, clock=long_ago)
    async with (
        Toolcrib.open(home=tmp_path, tools=[look], parts=Parts(store=old, clock=long_ago)) as crib,
        crib.run() as run,
    ):
        await run.call("look.up", {"word": "long ago"})
    async with Toolcrib.open(home=tmp_path, tools=[look], config={"store.retention_days": 30}) as crib:
        async with crib.run() as run:
            await run.call("look.up", {"word": "today"})
        for _ in range(500):
            events = await completed(crib)
            if events[0].payload is None:
                break
            await asyncio.sleep(0.01)
        report = await crib.runtime.store.verify(None)
    assert [event.payload is None for event in events] == [True, False]
    assert report.faults == ()
    assert report.erased > 0
