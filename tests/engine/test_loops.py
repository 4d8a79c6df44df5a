"""The loop guard: four ways to go round in circles, and what does not count as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from toolcrib import ToolContext, tool
from toolcrib.testing import FrozenClock, MemoryStore, ScriptedAsker, make_run

pytestmark = pytest.mark.anyio
Call = tuple[str, object]


@tool.read(name="look.same")
async def same(n: object = 0) -> str:
    """Always see the same."""
    return "nothing"


@tool.read(name="look.other")
async def other(n: object = 0) -> str:
    """Always see another same."""
    return "nothing either"


@tool.read(name="look.third")
async def third(n: object = 0) -> str:
    """Always see a third same."""
    return "nothing at all"


@tool.read(name="look.new")
async def new(n: object = 0) -> object:
    """See what is given."""
    return n


@tool.read(name="look.job", tags={"polling"})
async def job(n: object = 0) -> str:
    """Look whether a job is done."""
    return "not yet"


@tool.write(name="act.say")
async def say(n: object = 0) -> str:
    """Say something."""
    return "said"


TOOLS = (same, other, third, new, job, say)


async def reasons(calls: Iterable[Call], **config: Any) -> list[str | None]:
    async with make_run(*TOOLS, config=config, asker=ScriptedAsker.always("allow_once")) as run:
        results = [await run.call(name, {"n": n}) for name, n in calls]
    assert {result.reason for result in results} <= {None, "loop_detected"}
    return [result.error and str(result.error.details["detector"]) for result in results]


def repeated(*names: str, times: int, n: Callable[[int], object] = lambda _: 0) -> list[Call]:
    return [(name, n(turn)) for turn in range(times) for name in names]


CASES: dict[str, tuple[list[Call], list[str | None]]] = {
    "the same call": (repeated("look.same", times=4), [None, None, "same_call", "same_call"]),
    "the same tool with other arguments": (
        repeated("look.same", times=7, n=lambda turn: turn),
        [None] * 5 + ["same_tool", "same_tool"],
    ),
    "two calls in turn": (repeated("look.same", "look.other", times=3), [None] * 5 + ["oscillation"]),
    "three calls in turn": (
        repeated("look.same", "look.other", "look.third", times=3),
        [None] * 8 + ["oscillation"],
    ),
    "ten calls that bring nothing": (
        [("look.new", 1), *(
            call for turn in range(6) for call in (("look.same", turn), ("look.other", -turn - turn * turn))
        )],
        [None] * 12 + ["no_progress"],
    ),
    "new results": (repeated("look.new", times=30, n=lambda turn: turn), [None] * 30),
    "writes that say the same of other things": (repeated("act.say", times=12, n=lambda turn: turn), [None] * 12),
    "the same write": (repeated("act.say", times=3), [None, None, "same_call"]),
    "polling": (repeated("look.job", times=30), [None] * 30),
    "the same look now and then": (
        [call for turn in range(12) for call in (("look.same", 0), ("look.new", turn))],
        [None] * 24,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
async def test_a_loop_is_refused_and_progress_is_not(case: str) -> None:
    calls, expected = CASES[case]
    assert await reasons(calls) == expected


@pytest.mark.parametrize("detector", ["same_call", "same_tool", "oscillation", "no_progress"])
async def test_each_detector_can_be_switched_off(detector: str) -> None:
    off = {f"limits.loop.{name}": 0 for name in ("same_call", "same_tool", "oscillation", "no_progress")}
    assert await reasons(repeated("look.same", "look.other", times=20), **off) == [None] * 40
    alone = {**off, f"limits.loop.{detector}": 3}
    names = ("look.same", "look.other") if detector == "oscillation" else ("look.same",)
    calls = repeated(*names, times=5)
    assert detector in await reasons(calls, **alone)


async def test_the_second_identical_call_carries_a_warning_that_the_model_can_read() -> None:
    async with make_run(same) as run:
        first, second = [await run.call("look.same") for _ in range(2)]
    assert "notice" not in first.metadata
    assert "same arguments 2 times" in str(second.metadata["notice"])
    assert first.text == second.text


async def test_a_refusal_says_what_to_do_instead() -> None:
    async with make_run(same) as run:
        result = [await run.call("look.same") for _ in range(3)][-1]
    assert result.reason == "loop_detected"
    assert "look.same was called with the same arguments 2 times" in result.text
    assert "try another way" in result.text


@pytest.mark.parametrize(
    ("one", "another"),
    [({"n": {"a": 1, "b": 2}}, {"n": {"b": 2, "a": 1}}), ('{"n": [1]}', '{ "n" : [1] }'), ({"n": 1}, '{"n":1}')],
    ids=["order", "white space", "text"],
)
async def test_the_same_arguments_are_the_same_however_they_are_written(one: Any, another: Any) -> None:
    async with make_run(same) as run:
        assert [(await run.call("look.same", arguments)).ok for arguments in (one, another, one)] == [True, True, False]


async def test_invalid_calls_go_round_in_circles_too() -> None:
    @tool.read(name="look.strict")
    async def strict(n: int) -> int:
        """Take a number."""
        return n

    async with make_run(strict) as run:
        results = [await run.call("look.strict", {"n": "one"}) for _ in range(3)]
    assert [result.reason for result in results] == ["validation_error", "validation_error", "loop_detected"]


async def test_the_rate_limit_comes_first() -> None:
    config = {"limits": {"rate": {"**": {"max_calls": 1, "per_seconds": 60}}}}
    async with make_run(same, config=config) as run:
        assert [(await run.call("look.same")).reason for _ in range(4)] == [None, *["rate_limited"] * 3]


async def test_a_word_of_a_person_or_a_pause_begins_anew() -> None:
    clock = FrozenClock()
    async with make_run(same, clock=clock) as run:
        assert [(await run.call("look.same")).ok for _ in range(3)] == [True, True, False]
        await run.user_message("try once more")
        assert [(await run.call("look.same")).ok for _ in range(3)] == [True, True, False]
        clock.advance(59)
        assert not (await run.call("look.same")).ok
        clock.advance(61)
        assert (await run.call("look.same")).ok


async def test_calls_from_inside_a_tool_are_the_tools_own_business() -> None:
    @tool.read(name="look.often")
    async def often(context: ToolContext) -> list[bool]:
        """Call five times."""
        return [(await context.call("look.same", {})).ok for _ in range(5)]

    async with make_run(same, often) as run:
        assert (await run.call("look.often")).data == [True] * 5


async def test_a_run_that_goes_on_and_on_ends_as_a_loop() -> None:
    for more, end in (((), "loop_detected"), ((1,), "completed")):
        store = Kept()
        async with make_run(same, new, store=store, session="s") as run:
            for _ in range(5):
                await run.call("look.same")
            for n in more:
                assert (await run.call("look.new", {"n": n})).ok
        assert [row.end_reason for row in await store.runs("s")] == [end]


class Kept(MemoryStore):
    """A store that can still be read when everybody is gone."""

    async def close(self) -> None:
        """Stay open."""
