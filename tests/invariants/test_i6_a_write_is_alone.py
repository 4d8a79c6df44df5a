"""A write overlaps no other call of its session in that workspace, and batches never reorder."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib import ToolCall, ToolContext, tool
from toolcrib.policy.plan import plan
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.spec import Lane

pytestmark = pytest.mark.anyio


class Floor:
    """Who is at work right now; complains when a write is not alone."""

    def __init__(self) -> None:
        self.reads = 0
        self.writes = 0
        self.most_reads = 0
        self.clashes: list[str] = []
        self.order: list[str] = []

    async def work(self, kind: str, label: str) -> None:
        if self.writes or (kind == "write" and self.reads):
            self.clashes.append(label)
        setattr(self, f"{kind}s", getattr(self, f"{kind}s") + 1)
        self.most_reads = max(self.most_reads, self.reads)
        self.order.append(label)
        for _ in range(3):
            await asyncio.sleep(0)
        setattr(self, f"{kind}s", getattr(self, f"{kind}s") - 1)


def tools_on(floor: Floor) -> Sequence[object]:
    @tool.read(name="look.up")
    async def look(label: str) -> str:
        """Read."""
        await floor.work("read", label)
        return label

    @tool.write(name="act.now")
    async def act(label: str) -> str:
        """Write."""
        await floor.work("write", label)
        return label

    @tool.write(
        name="either.way", read_form={"type": "object", "properties": {"mode": {"const": "get"}}, "required": ["mode"]}
    )
    async def either(label: str, mode: str) -> str:
        """Read or write, as the arguments say."""
        await floor.work("read" if mode == "get" else "write", label)
        return label

    return [look, act, either]


kinds = st.lists(st.sampled_from(["look.up", "act.now", "get", "put"]), min_size=1, max_size=10)


def as_call(kind: str, label: str) -> ToolCall:
    if kind in ("get", "put"):
        return ToolCall("either.way", {"label": label, "mode": kind})
    return ToolCall(kind, {"label": label})


@settings(max_examples=60, deadline=None)
@given(turns=st.lists(kinds, min_size=1, max_size=3))
async def test_no_write_overlaps_anything_even_across_concurrent_turns(turns: list[list[str]]) -> None:
    floor = Floor()
    async with make_run(*tools_on(floor), asker=ScriptedAsker.always("allow_once")) as run:
        everything = [
            run.turn([as_call(kind, f"{number}.{index}") for index, kind in enumerate(turn)])
            for number, turn in enumerate(turns)
        ]
        results = await asyncio.gather(*everything)
    assert floor.clashes == []
    assert all(result.ok for turn in results for result in turn)
    for number, turn in enumerate(turns):
        mine = [label for label in floor.order if label.startswith(f"{number}.")]
        writes = [f"{number}.{index}" for index, kind in enumerate(turn) if kind in ("act.now", "put")]
        assert [label for label in mine if label in writes] == writes


async def test_reads_of_a_turn_run_together() -> None:
    floor = Floor()
    async with make_run(*tools_on(floor)) as run:
        await run.turn([as_call("look.up", str(n)) for n in range(8)])
    assert floor.most_reads == 8


async def test_parallel_reads_are_bounded() -> None:
    floor = Floor()
    async with make_run(*tools_on(floor), config={"limits.max_parallel_reads": 3}) as run:
        await run.turn([as_call("look.up", str(n)) for n in range(20)])
    assert floor.most_reads == 3


@given(st.lists(st.sampled_from(list(Lane))))
def test_a_plan_keeps_every_call_once_in_order_with_writes_alone(lanes: list[Lane]) -> None:
    batches = plan(lanes)
    assert [position for batch in batches for position in batch] == list(range(len(lanes)))
    assert all(len(batch) == 1 for batch in batches for position in batch if lanes[position] is Lane.WRITE)
    neighbours = itertools.pairwise(batches)
    assert all(Lane.WRITE in (lanes[one.start], lanes[two.start]) for one, two in neighbours)


@pytest.mark.parametrize(
    ("first", "reasons"),
    [
        ("act.denied", ["permission_denied", "skipped", "skipped"]),
        ("act.broken", ["internal_error", "skipped", "skipped"]),
        ("note.broken", ["internal_error", None, None]),
        ("look.broken", ["internal_error", None, None]),
        ("no.such", ["tool_not_available", None, None]),
    ],
)
async def test_a_denied_or_failed_write_stops_what_follows_and_nothing_else_does(
    first: str, reasons: list[str | None]
) -> None:
    async def broken() -> None:
        """Fail."""
        raise ValueError("no")

    async def fine() -> str:
        """Work."""
        return "ok"

    tools = [
        tool.write(name="act.denied")(fine),
        tool.read(name="look.fine")(lambda_copy(fine)),
        tool.write(name="act.broken")(lambda_copy(broken)),
        tool.write(name="note.broken", tags={"internal"})(lambda_copy(broken)),
        tool.read(name="look.broken")(lambda_copy(broken)),
        tool.write(name="act.fine")(lambda_copy(fine)),
    ]
    rules = [{"tool": "act.denied", "verdict": "deny"}, {"tool": "act.*", "verdict": "allow"}]
    async with make_run(*tools, config={"policy": {"rules": rules}}) as run:  # type: ignore[dict-item]
        results = await run.turn([ToolCall(first), ToolCall("look.fine"), ToolCall("act.fine")])
    assert [result.reason for result in results] == reasons


def lambda_copy(function: object) -> object:
    """A second function with the same body, since a function carries one marking."""
    import types

    return types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)  # type: ignore[attr-defined]


async def test_a_call_inside_a_write_shares_its_place_and_nested_writes_take_turns() -> None:
    floor = Floor()
    look, act, either = tools_on(floor)

    @tool.write(name="plan.many")
    async def many(context: ToolContext) -> list[str]:
        """Write several things at once."""
        results = await asyncio.gather(*(context.call("act.now", {"label": f"n{n}"}) for n in range(3)))
        return [result.text for result in results]

    async with make_run(look, act, either, many, asker=ScriptedAsker.always("allow_once")) as run:
        result = await run.call("plan.many")
    assert result.data == ["n0", "n1", "n2"]
    assert floor.clashes == []


async def test_a_read_cannot_write_through_another_tool() -> None:
    floor = Floor()

    @tool.read(name="look.sly")
    async def sly(context: ToolContext) -> str:
        """Claim to read, then write."""
        return str((await context.call("act.now", {"label": "x"})).reason)

    async with make_run(*tools_on(floor), sly, asker=ScriptedAsker.always("allow_once")) as run:
        result = await run.call("look.sly")
    assert result.text == "permission_denied"
    assert floor.order == []


async def test_agents_run_together_within_their_limit_and_one_that_fails_stops_no_other() -> None:
    at_work = 0
    most = 0

    @tool.write(name="agent.task", tags={"agent"})
    async def task(n: int) -> int:
        """Pretend to be an agent."""
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.005)
        at_work -= 1
        if n == 1:
            raise ValueError("this one gives up")
        return n

    asker = ScriptedAsker.always("allow_once")
    async with make_run(task, asker=asker, config={"limits.max_children_per_run": 3}) as run:
        results = await run.turn([ToolCall("agent.task", {"n": n}) for n in range(7)])
    assert [result.reason for result in results] == [None, "internal_error", *[None] * 5]
    assert most == 3
