"""Limits hold exactly, and say what to do instead."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib import ToolCall, ToolContext, tool
from toolcrib.testing import FrozenClock, ScriptedAsker, make_run

pytestmark = pytest.mark.anyio


@tool.read(name="look.up")
async def look(n: int = 0) -> int:
    """Look."""
    return n


async def test_never_one_call_too_many_however_they_come() -> None:
    clock = FrozenClock()
    config = {"limits": {"rate": {"look.*": {"max_calls": 100, "per_seconds": 60}}}}
    async with make_run(look, config=config, clock=clock) as run:  # type: ignore[arg-type]
        results = await asyncio.gather(*(run.call("look.up", {"n": n}) for n in range(1_000)))
        assert sum(result.ok for result in results) == 100
        refused = next(result for result in results if not result.ok)
        assert refused.reason == "rate_limited"
        assert "try again in 0.6 s" in refused.text
        assert refused.error
        assert refused.error.details["retry_after"] == 0.6
        clock.advance(6)
        results = await asyncio.gather(*(run.call("look.up", {"n": -n}) for n in range(1, 51)))
        assert sum(result.ok for result in results) == 10


async def test_every_matching_limit_counts_and_a_refused_call_spends_nothing() -> None:
    clock = FrozenClock()
    rates = {"look.*": {"max_calls": 10, "per_seconds": 10}, "**": {"max_calls": 2, "per_seconds": 10}}
    async with make_run(look, config={"limits": {"rate": rates}}, clock=clock) as run:  # type: ignore[arg-type]
        assert [(await run.call("look.up", {"n": n})).ok for n in range(5)] == [True, True, False, False, False]
        clock.advance(10)
        assert [(await run.call("look.up", {"n": -n})).ok for n in range(1, 4)] == [True, True, False]


async def test_a_run_has_a_budget_of_calls_that_nested_calls_share() -> None:
    @tool.write(name="act.many")
    async def many(context: ToolContext) -> list[bool]:
        """Call three times."""
        return [(await context.call("look.up", {"n": n})).ok for n in range(3)]

    asker = ScriptedAsker.always("allow_once")
    async with make_run(look, many, config={"limits.calls_per_run": 3}, asker=asker) as run:
        assert (await run.call("act.many")).data == [True, True, False]
        assert (await run.call("look.up")).reason == "rate_limited"


async def test_a_turn_has_at_most_so_many_calls_and_the_rest_is_answered() -> None:
    async with make_run(look, config={"limits.max_calls_per_turn": 3}) as run:
        results = await run.turn([ToolCall("look.up", {"n": n}) for n in range(5)])
    assert [result.reason for result in results] == [None, None, None, "skipped", "skipped"]
    assert "at most 3 calls" in results[3].text


async def test_calls_inside_calls_go_only_so_deep() -> None:
    @tool.write(name="act.deeper")
    async def deeper(context: ToolContext, level: int) -> str:
        """Call itself."""
        return (await context.call("act.deeper", {"level": level + 1})).text

    asker = ScriptedAsker.always("allow_once")
    async with make_run(deeper, config={"limits.max_depth": 3}, asker=asker) as run:
        result = await run.call("act.deeper", {"level": 0})
    assert "3 levels deep" in result.text
    assert len(asker.requests) == 4
