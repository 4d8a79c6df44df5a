"""Memory is bounded by configured limits: what a handler returns, how many calls ran, what nobody reads."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import psutil
import pytest

from toolcrib import ToolContext, Toolcrib, tool

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024


def rss() -> int:
    gc.collect()
    return psutil.Process().memory_info().rss


@tool.read(name="look.big")
async def big(size: int) -> str:
    """Return a lot of text."""
    return "x" * size


@tool.read(name="look.small")
async def small(n: int) -> int:
    """Return a number."""
    return n


async def test_a_result_of_100_mb_is_bounded_for_the_model_and_kept_as_a_bounded_artifact(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[big]) as crib, crib.run() as run:
        result = await run.call("look.big", {"size": 100 * MIB})
        assert result.ok, result.text
        assert len(result.text) <= 11_000
        (artifact_id,) = result.artifacts
        found = await crib.runtime.store.artifacts.find(artifact_id)
    assert found
    assert found.size <= 64 * MIB
    assert found.complete is False


async def test_a_long_run_does_not_grow(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[small]) as crib, crib.run() as run:
        for n in range(2_000):
            await run.call("look.small", {"n": n})
        before = rss()
        for n in range(10_000):
            await run.call("look.small", {"n": n})
        grown = rss() - before
    assert grown < 24 * MIB


async def test_a_watcher_that_stops_reading_costs_a_bounded_buffer_and_is_told_of_the_gap(tmp_path: Path) -> None:
    @tool.read(name="look.chatty")
    async def chatty(context: ToolContext) -> str:
        """Report a lot of progress."""
        for n in range(5_000):
            context.progress(f"step {n}", n / 5_000)
        return "done"

    async with Toolcrib.open(home=tmp_path, tools=[chatty]) as crib, crib.run() as run:
        stream = crib.events(session=run.origin.session_id)
        first = await anext(stream)
        assert first.type
        await run.call("look.chatty")
        seen = []
        async with asyncio.timeout(5):
            async for event in stream:
                seen.append(event.type)
                if event.type == "tool_progress" and (event.payload or {}).get("message") == "step 4999":
                    break
        await stream.aclose()  # type: ignore[attr-defined]
    assert seen.count("tool_progress") == 1_000
    assert seen.count("gap") == 1


async def test_ten_thousand_concurrent_calls_stay_below_a_gibibyte(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[small]) as crib, crib.run() as run:
        results = await asyncio.gather(*(run.call("look.small", {"n": n}) for n in range(10_000)))
        used = rss()
    assert [result.data for result in results] == list(range(10_000))
    assert used < 1024 * MIB
