"""`tool_started` is durable before anything that acts; a refused call has none."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable
from pathlib import Path

import pytest

from toolcrib import ToolCall, Toolcrib, ToolResult, tool
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio


def stored_types(home: Path) -> list[str]:
    """What another process would read from the database file at this moment."""
    with sqlite3.connect(home / "toolcrib.db") as connection:
        return [row[0] for row in connection.execute("SELECT type FROM told WHERE call_id IS NOT NULL ORDER BY seq")]


@pytest.mark.parametrize(
    ("effect", "tags"), [("write", set()), ("write", {"agent"}), ("read", {"dangerous"}), ("write", {"dangerous"})]
)
@pytest.mark.parametrize("durability", ["normal", "full"])
async def test_the_start_is_stored_before_the_first_instruction(
    tmp_path: Path, effect: str, tags: set[str], durability: str
) -> None:
    seen: list[list[str]] = []

    async def act() -> None:
        """Look at the database from inside the handler."""
        seen.append(stored_types(tmp_path))

    mark = tool.write if effect == "write" else tool.read
    asker = ScriptedAsker.always("allow_once")
    config = {"store.durability": durability}
    marked = mark(name="act.now", tags=tags)(act)
    async with Toolcrib.open(home=tmp_path, tools=[marked], asker=asker, config=config) as crib, crib.run() as run:
        result = await run.call("act.now")
        beside = await _in_a_busy_loop(run.call("act.now"))
    assert result.ok, result.text
    assert beside.ok, beside.text
    assert [types[-1] for types in seen] == ["tool_started", "tool_started"]


async def _in_a_busy_loop(call: Awaitable[ToolResult]) -> ToolResult:
    """Somebody else is always about to run, so nothing is committed at the moment it is handed in."""
    calling = asyncio.ensure_future(call)

    def again() -> None:
        if not calling.done():
            calling.get_loop().call_soon(again)

    again()
    return await calling


async def test_a_read_is_on_record_no_later_than_its_result(tmp_path: Path) -> None:
    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    async with Toolcrib.open(home=tmp_path, tools=[look]) as crib, crib.run() as run:
        await run.call("look.up")
        assert stored_types(tmp_path) == ["tool_started", "tool_completed"]


async def test_a_refused_call_never_started(tmp_path: Path) -> None:
    @tool(name="act.now")
    async def act(n: int) -> int:
        """Act."""
        return n

    async with Toolcrib.open(home=tmp_path, tools=[act]) as crib, crib.run() as run:
        refused = await run.turn(
            [ToolCall("act.now", {"n": "x"}), ToolCall("no.such"), ToolCall("act.now", {"n": 1}), ToolCall("act.now")]
        )
        assert [result.reason for result in refused] == [
            "validation_error",
            "skipped",
            "skipped",
            "skipped",
        ]
        assert "tool_started" not in stored_types(tmp_path)
