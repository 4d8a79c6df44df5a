"""Abort is sticky and reaches everything that waits; finished work is never reported as aborted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolcrib import PermissionDecision, PermissionRequest, ToolCall, ToolContext, Toolcrib, tool
from toolcrib.testing import ScriptedAsker, make_run

pytestmark = pytest.mark.anyio


async def test_abort_ends_what_runs_and_lets_nothing_start_any_more() -> None:
    ran: list[str] = []
    begun = asyncio.Event()

    @tool.read(name="look.slow")
    async def slow(context: ToolContext) -> None:
        """Wait for ever."""
        context.partial("half of it")
        begun.set()
        await asyncio.Event().wait()

    @tool.write(name="act.now")
    async def act() -> None:
        """Act."""
        ran.append("act")

    async with make_run(slow, act, asker=ScriptedAsker.always("allow_once")) as run:
        turn = asyncio.create_task(run.turn([ToolCall("look.slow"), ToolCall("look.slow"), ToolCall("act.now")]))
        await begun.wait()
        run.abort("enough")
        results = await turn
        later = await run.call("act.now")
    assert [result.reason for result in results] == ["aborted", "aborted", "aborted"]
    assert later.reason == "aborted"
    assert ran == []
    assert "enough" in results[0].text
    assert "half of it" in results[0].text
    assert results[0].error
    assert results[0].error.details["partial"] is True


async def test_abort_withdraws_an_open_question(tmp_path: Path) -> None:
    asked = asyncio.Event()
    withdrawn: list[bool] = []

    @tool(name="act.now")
    async def act() -> None:
        """Act."""
        raise AssertionError("it must not run")

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.append(True)
        raise AssertionError

    async with Toolcrib.open(home=tmp_path, tools=[act], asker=ask) as crib, crib.run() as run:
        call = asyncio.create_task(run.call("act.now"))
        await asked.wait()
        run.abort()
        result = await call
        await asyncio.sleep(0)
    assert result.reason == "aborted"
    assert withdrawn == [True]


@pytest.mark.parametrize("steps", range(8))
async def test_an_abort_at_any_moment_is_either_before_or_after_the_work(steps: int) -> None:
    done: list[int] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act in two steps."""
        await asyncio.sleep(0)
        done.append(1)
        return "done"

    async with make_run(act, asker=ScriptedAsker.always("allow_once")) as run:
        call = asyncio.create_task(run.call("act.now"))
        for _ in range(steps):
            await asyncio.sleep(0)
        run.abort()
        result = await call
        assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]
    assert result.ok is bool(done)
    assert result.reason == (None if done else "aborted")


async def test_a_handler_that_finishes_in_spite_of_its_time_limit_is_finished() -> None:
    @tool.read(name="look.stubborn", timeout=0.02)
    async def stubborn() -> str:
        """Finish although told to stop."""
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            return "finished anyway"
        return "slept"

    async with make_run(stubborn) as run:
        result = await run.call("look.stubborn")
        after = await run.call("look.stubborn")
    assert (result.ok, result.text, after.ok) == (True, "finished anyway", True)


async def test_a_caller_that_gives_up_leaves_a_record(tmp_path: Path) -> None:
    @tool.read(name="look.slow")
    async def slow() -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    async with Toolcrib.open(home=tmp_path, tools=[slow]) as crib, crib.run() as run:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run.call("look.slow"), 0.02)
        ends = [event async for event in crib.events(follow_on=False) if event.type == "tool_failed"]
        assert (await run.call("no.such")).reason == "tool_not_available"
    assert ends[0].payload
    assert ends[0].payload["reason"] == "cancelled"


async def test_the_run_that_was_aborted_says_so_in_the_journal(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path) as crib:
        async with crib.run() as run:
            run.abort("stop")
        types = [event.type async for event in crib.events(follow_on=False)]
        rows = await crib.runtime.store.runs(run.origin.session_id)
    assert "aborted_tools" in types
    assert rows[0].end_reason == "aborted_tools"


@pytest.mark.parametrize("steps", range(14))
@pytest.mark.parametrize("durability", ["normal", "full"])
async def test_a_caller_that_gives_up_at_any_moment_leaves_exactly_one_result(
    tmp_path: Path, steps: int, durability: str
) -> None:
    done: list[int] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act in two steps."""
        await asyncio.sleep(0)
        done.append(1)
        await asyncio.sleep(0)
        return "done"

    options = {"tools": [act], "asker": ScriptedAsker.always("allow_once"), "config": {"store.durability": durability}}
    async with Toolcrib.open(home=tmp_path, **options) as crib, crib.run() as run:  # type: ignore[arg-type]
        call = asyncio.create_task(run.call("act.now", id="c"))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call})
        events = [event async for event in crib.events(follow_on=False) if event.call_id == "c"]
        assert (await run.call("no.such")).reason == "tool_not_available"
    ends = [event for event in events if event.type in ("tool_completed", "tool_failed")]
    started = any(event.type == "tool_started" for event in events)
    assert len(ends) == (1 if steps else 0)
    assert started or not done


async def test_a_thousand_open_questions_end_with_the_run_and_none_of_their_calls_ran() -> None:
    asked = 0
    first = asyncio.Event()

    @tool.read(name="net.get", tags={"network"})
    async def get(n: int) -> int:
        """Reach out."""
        raise AssertionError("it must not run")

    async def ask(request: PermissionRequest) -> PermissionDecision:
        nonlocal asked
        asked += 1
        first.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with make_run(get, asker=ask) as run:
        calls = [asyncio.create_task(run.call("net.get", {"n": n})) for n in range(1_000)]
        await first.wait()
        run.abort("stop")
        results = await asyncio.gather(*calls)
    assert {result.reason for result in results} == {"aborted"}
    assert asked == 1
