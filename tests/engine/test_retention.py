"""What the operator does not want to keep is erased by itself, and the chain stays whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolcrib import Parts, Toolcrib, tool
from toolcrib.assemble import SystemClock
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import FrozenClock

pytestmark = pytest.mark.anyio


@tool.read(name="look.up")
async def look(word: str) -> str:
    """Look."""
    return word


async def test_payloads_older_than_the_retention_are_erased_when_the_crib_opens(tmp_path: Path) -> None:
    long_ago = FrozenClock(wall=SystemClock.now() - 40 * 86_400)
    old = SqliteStore.open(tmp_path / "toolcrib.db", durability=Durability.NORMAL, clock=long_ago)
    async with (
        Toolcrib.open(home=tmp_path, tools=[look], parts=Parts(store=old, clock=long_ago)) as crib,
        crib.run() as run,
    ):
        await run.call("look.up", {"word": "long ago"})
    async with Toolcrib.open(home=tmp_path, tools=[look], config={"store.retention_days": 30}) as crib:
        async with crib.run() as run:
            await run.call("look.up", {"word": "today"})
        async with asyncio.timeout(5):
            async for event in crib.events():
                if event.type == "payloads_purged":
                    break
        events = [event async for event in crib.events(follow_on=False)]
        report = await crib.runtime.store.verify(None)
    kept = [event.payload for event in events if event.type == "tool_completed"]
    assert kept[0] is None
    assert kept[1] is not None
    assert report.faults == ()
    assert report.erased > 0
