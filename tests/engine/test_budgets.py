"""Budgets of calls, seconds, tokens and money, for a run and for the whole session, whatever happens between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib import Refusal, ToolContext, Toolcrib, tool
from toolcrib.testing import FrozenClock, ScriptedAsker, make_run

pytestmark = pytest.mark.anyio


@tool.read(name="look.up")
async def look(n: int = 0) -> int:
    """Look."""
    return n


async def outcomes(run: Any, start: int, count: int) -> list[str | None]:
    return [(await run.call("look.up", {"n": start + n})).reason for n in range(count)]


@pytest.mark.parametrize(
    ("key", "limit", "spent"),
    [("tokens_per_run", 100, {"tokens": 50}), ("money_per_run", 0.5, {"money": 0.25})],
)
async def test_what_a_model_uses_counts_against_the_run(key: str, limit: float, spent: dict[str, Any]) -> None:
    async with make_run(look, config={f"limits.{key}": limit}) as run:
        run.spend(**spent)
        run.check_budget()
        assert (await run.call("look.up", {"n": 1})).ok
        run.spend(**spent)
        with pytest.raises(Refusal, match="used all of its"):
            run.check_budget()
        refused = await run.call("look.up", {"n": 2})
    assert refused.reason == "rate_limited"
    assert refused.error
    assert refused.error.details["budget"] == key
    assert "finish with what you have" in refused.text


async def test_time_counts_from_the_start_of_the_run() -> None:
    clock = FrozenClock()
    async with make_run(look, config={"limits.seconds_per_run": 60}, clock=clock) as run:
        assert (await run.call("look.up", {"n": 1})).ok
        clock.advance(59.9)
        assert (await run.call("look.up", {"n": 2})).ok
        clock.advance(0.1)
        assert (await run.call("look.up", {"n": 3})).reason == "rate_limited"


async def test_calls_inside_calls_and_their_tokens_are_charged_to_the_root() -> None:
    @tool.write(name="act.many")
    async def many(context: ToolContext) -> list[bool]:
        """Call three times."""
        return [(await context.call("look.up", {"n": n})).ok for n in range(3)]

    asker = ScriptedAsker.always("allow_once")
    async with make_run(look, many, config={"limits.calls_per_run": 3}, asker=asker) as run:
        assert (await run.call("act.many")).data == [True, True, False]


@pytest.mark.parametrize(
    ("config", "first", "second"),
    [
        ({"limits.calls_per_session": 5}, [None] * 3, [None, None, "rate_limited"]),
        ({"limits.tokens_per_session": 250}, [None] * 3, [None] * 3),
        ({"limits.tokens_per_session": 100}, [None] * 3, ["rate_limited"] * 3),
        ({"limits.money_per_session": 1.0}, [None] * 3, ["rate_limited"] * 3),
        ({"limits.seconds_per_session": 30}, [None] * 3, ["rate_limited"] * 3),
    ],
    ids=str,
)
async def test_runs_of_a_session_add_up_over_a_restart(
    tmp_path: Path, config: dict[str, Any], first: list[str | None], second: list[str | None]
) -> None:
    from toolcrib import Parts

    clock = FrozenClock()
    seen: list[list[str | None]] = []
    for start in (0, 100):
        parts = Parts(clock=clock)
        settings = {"toolsets": [], **config}
        opened = Toolcrib.open(home=tmp_path, tools=[look], config=settings, parts=parts)
        async with opened as crib, crib.run(session="s") as run:
            seen.append(await outcomes(run, start, 3))
            run.spend(tokens=100, money=1.0)
            clock.advance(30)
    assert seen == [first, second]


async def test_a_crash_loses_no_more_than_was_paid_in_advance(tmp_path: Path) -> None:
    config = {"toolsets": [], "limits.calls_per_session": 20}
    async with Toolcrib.open(home=tmp_path, tools=[look], config=config) as crib:
        scope = crib.run(session="s")
        run = await scope.__aenter__()
        assert await outcomes(run, 0, 3) == [None] * 3
        await crib.runtime.store.append(_empty())
        kept = await crib.runtime.store.load("account", "s")
        assert kept is not None
        assert kept.body["calls"] == 16  # type: ignore[index, call-overload]
        await scope.__aexit__(None, None, None)
        left = await crib.runtime.store.load("account", "s")
        assert left is not None
        assert left.body["calls"] == 3  # type: ignore[index, call-overload]


def _empty() -> Any:
    from toolcrib.ports import Unit

    return Unit(())
