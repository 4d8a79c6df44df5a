"""One result per call, in the model's order, whatever happens to the calls."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib import ToolCall, tool
from toolcrib.testing import MemoryStore, ScriptedAsker, make_run

pytestmark = pytest.mark.anyio


@tool.read(name="look.fine")
async def fine(n: int) -> int:
    """Return the number."""
    await asyncio.sleep(0)
    return n


@tool.read(name="look.broken")
async def broken(n: int) -> int:
    """Always fail."""
    raise ValueError(f"no luck with {n}")


@tool.write(name="act.fine")
async def act(n: int) -> int:
    """Write the number."""
    return n


@tool.write(name="act.broken")
async def act_broken(n: int) -> int:
    """Fail while writing."""
    raise RuntimeError("disk on fire")


@tool.read(name="look.blocking")
def blocking(n: int) -> int:
    """Return the number from a thread."""
    return n


NAMES = ["look.fine", "look.broken", "act.fine", "act.broken", "look.blocking", "no.such_tool"]
calls_of_a_turn = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["1", "x", "{}"])), max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=calls_of_a_turn, answer=st.sampled_from(["allow_once", "deny", "allow_for_session"]))
async def test_every_call_of_any_turn_gets_one_result_in_order(wanted: list[tuple[str, str]], answer: str) -> None:
    store = MemoryStore()
    asker = ScriptedAsker.always(answer)
    async with make_run(fine, broken, act, act_broken, blocking, asker=asker, store=store) as run:
        calls = [ToolCall(name, f'{{"n": {text}}}', id=f"c{index}") for index, (name, text) in enumerate(wanted)]
        results = await run.turn(calls)
        events = await store.events(session_id=None, after=0, limit=1_000)
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert [result.name for result in results] == [call.name for call in calls]
    ends = [event.call_id for event in events if event.type in ENDS]
    assert sorted(ends) == sorted(str(call.id) for call in calls)


ENDS = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}


async def test_results_carry_the_ids_the_provider_gave() -> None:
    async with make_run(fine) as run:
        results = await run.turn([ToolCall("look.fine", {"n": 1}, id="toolu_1"), ToolCall("look.fine", {"n": 2})])
    assert results[0].call_id == "toolu_1"
    assert results[1].call_id
    assert results[1].call_id != "toolu_1"


async def test_an_id_used_twice_still_gives_two_results_of_which_the_second_is_refused() -> None:
    async with make_run(fine) as run:
        first, second = await run.turn(
            [ToolCall("look.fine", {"n": 1}, id="same"), ToolCall("look.fine", {"n": 2}, id="same")]
        )
    assert first.ok
    assert second.reason == "validation_error"
    assert second.call_id != first.call_id
    assert second.metadata["provider_call_id"] == "same"


async def test_a_cancelled_turn_leaves_no_call_without_a_result() -> None:
    store = MemoryStore()
    begun = asyncio.Event()

    @tool.write(name="act.slow")
    async def slow() -> None:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()

    async with make_run(fine, slow, asker=ScriptedAsker.always("allow_once"), store=store) as run:
        calls = [
            ToolCall("look.fine", {"n": 1}, "a"),
            ToolCall("act.slow", {}, "b"),
            ToolCall("look.fine", {"n": 2}, "c"),
        ]
        turn = asyncio.create_task(run.turn(calls))
        await begun.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        events = await store.events(session_id=None, after=0, limit=1_000)
    ends = {event.call_id: event.payload["reason"] for event in events if event.type in ENDS and event.payload}
    assert ends == {"a": None, "b": "cancelled", "c": "cancelled"}


async def test_ten_thousand_concurrent_calls_are_neither_lost_nor_mixed_up() -> None:
    async with make_run(fine) as run:
        results = await asyncio.gather(*(run.call("look.fine", {"n": n}) for n in range(10_000)))
    assert [result.data for result in results] == list(range(10_000))
    assert len({result.call_id for result in results}) == 10_000
