"""The result and its terminal event are one record; a handler's documents are committed with it or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Document, ToolContext, Toolcrib, tool
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio


@tool.write(name="count.up", tags={"internal"}, transactional=True)
async def count_up(context: ToolContext) -> int:
    """Add one to a stored number."""
    found = await context.load("counter", "main")
    value = (found.body if found and isinstance(found.body, int) else 0) + 1
    context.put(Document("counter", "main", value, found.version if found else 0))
    return value


@tool.write(name="count.fail", tags={"internal"})
async def count_fail(context: ToolContext) -> None:
    """Put a document, then fail."""
    context.put(Document("counter", "main", 999, 0))
    raise ValueError("after the put")


async def test_documents_are_committed_with_the_result(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[count_up]) as crib, crib.run() as run:
        assert [(await run.call("count.up")).data for _ in range(3)] == [1, 2, 3]
        found = await crib.runtime.store.load("counter", "main")
    assert found
    assert found.body == 3


async def test_a_failed_call_commits_no_document(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[count_fail]) as crib, crib.run() as run:
        assert (await run.call("count.fail")).reason == "internal_error"
        assert await crib.runtime.store.load("counter", "main") is None


async def test_a_transactional_tool_runs_again_when_its_document_changed(tmp_path: Path) -> None:
    import asyncio

    async with Toolcrib.open(home=tmp_path, tools=[count_up]) as crib:
        async with crib.run() as one, crib.run() as two:
            results = await asyncio.gather(*(run.call("count.up") for run in (one, two) for _ in range(10)))
        found = await crib.runtime.store.load("counter", "main")
    done = [result for result in results if result.ok]
    assert found
    assert found.body == len(done)
    assert sorted(result.data for result in done) == list(range(1, len(done) + 1))
    assert {result.reason for result in results} <= {None, "conflict"}


async def test_any_other_tool_is_told_of_the_conflict(tmp_path: Path) -> None:
    @tool.write(name="doc.stale")
    async def stale(context: ToolContext) -> None:
        """Put a document as if nobody had written it before."""
        context.put(Document("counter", "main", 5, 0))

    asker = ScriptedAsker.always("allow_once")
    async with Toolcrib.open(home=tmp_path, tools=[count_up, stale], asker=asker) as crib, crib.run() as run:
        await run.call("count.up")
        result = await run.call("doc.stale")
        found = await crib.runtime.store.load("counter", "main")
    assert result.reason == "conflict"
    assert found
    assert found.body == 1


async def test_what_the_caller_got_is_what_the_journal_holds(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[count_up]) as crib, crib.run() as run:
        result = await run.call("count.up")
        events = [event async for event in crib.events(follow_on=False) if event.call_id == result.call_id]
    assert [event.type for event in events] == ["tool_started", "tool_completed"]
    assert events[-1].payload
    assert events[-1].payload["content"] == [{"type": "json", "data": 1, "summary": None, "artifact_id": None}]
