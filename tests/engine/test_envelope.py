"""The envelope tools.call: what is checked, decided, scheduled and recorded is the call inside."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib import ToolCall, tool
from toolcrib.dialects.native import gemini
from toolcrib.engine.run import Run
from toolcrib.testing import MemoryStore, make_run
from toolcrib.values.json import Json
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import InvalidName
from toolcrib.values.result import Text, ToolReturn

pytestmark = pytest.mark.anyio
ALLOW: dict[str, Json] = {"policy": {"rules": [{"tool": "notes.*", "verdict": "allow"}]}}


@tool.read(name="notes.read")
async def read(title: str) -> str:
    """Read a note."""
    return f"note {title}"


@tool(name="notes.add")
async def add(title: str) -> str:
    """Add a note."""
    return f"added {title}"


async def started(run: Run) -> list[dict[str, Json]]:
    events = await run.runtime.store.events(session_id=run.origin.session_id, after=0, limit=100)
    return [dict(event.payload or {}) for event in events if event.type == "tool_started"]


@pytest.mark.parametrize("name", ["tools.call", "tools__call"])
@pytest.mark.parametrize("inner", ["notes.read", "notes__read"])
@pytest.mark.parametrize("arguments", [{"title": "x"}, '{"title": "x"}'])
async def test_the_call_inside_is_the_one_that_is_settled(name: str, inner: str, arguments: Json) -> None:
    async with make_run(read) as run:
        result = await run.call(name, {"name": inner, "arguments": arguments}, id="c1")
        assert (result.ok, result.text, result.name, result.call_id) == (True, "note x", "notes.read", "c1")
        assert result.metadata["via"] == "tools.call"
        (record,) = await started(run)
        assert (record["name"], record["via"], record["arguments"]) == ("notes.read", "tools.call", {"title": "x"})


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"arguments": {}},
        {"name": ""},
        {"name": 3, "arguments": {}},
        {"name": "notes.read", "arguments": [1]},
        {"name": "notes.read", "title": "x"},
        {"name": "tools.call", "arguments": {"name": "notes.read", "arguments": {"title": "x"}}},
        {"name": " tools__call ", "arguments": {"name": "notes.read", "arguments": {"title": "x"}}},
        "not json",
    ],
)
async def test_an_envelope_that_holds_no_call_is_invalid_and_nothing_runs(arguments: Json) -> None:
    async with make_run(read) as run:
        for results in (
            [await run.call("tools.call", arguments)],
            await run.turn([ToolCall("tools.call", arguments)] * 2),
        ):  # type: ignore[arg-type]
            assert {result.reason for result in results} == {"validation_error"}
        assert await started(run) == []


async def test_arguments_rules_and_limits_are_those_of_the_tool_inside() -> None:
    config: dict[str, Json] = {
        "policy": {"rules": [{"tool": "notes.add", "verdict": "deny", "because": "closed"}]},
        "limits": {"rate": {"notes.read": {"max_calls": 1, "per_seconds": 60}}},
    }
    async with make_run(read, add, config=config) as run:
        wrong = await run.call("tools.call", {"name": "notes.read", "arguments": {"titel": "x"}})
        assert (wrong.reason, wrong.name) == ("validation_error", "notes.read")
        denied = await run.call("tools.call", {"name": "notes.add", "arguments": {"title": "x"}})
        assert (denied.reason, denied.name) == ("permission_denied", "notes.add")
        unknown = await run.call("tools.call", {"name": "notes.reed", "arguments": {}})
        assert unknown.reason == "tool_not_available"
        assert "notes.read" in unknown.text
        over = await run.call("tools.call", {"name": "notes.read", "arguments": {"title": "x"}})
        assert over.reason == "rate_limited"


async def test_in_a_turn_a_wrapped_write_is_alone_and_stops_what_follows() -> None:
    at_work = most = 0

    @tool(name="notes.slow")
    async def slow() -> str:
        """Take a while."""
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0)
        at_work -= 1
        return "done"

    @tool(name="notes.fail")
    async def fail() -> str:
        """Fail."""
        raise ValueError("no")

    def wrapped(name: str) -> ToolCall:
        return ToolCall("tools.call", {"name": name, "arguments": {}})

    async with make_run(slow, fail, config=ALLOW) as run:
        results = await run.turn(
            [wrapped("notes.slow"), wrapped("notes.slow"), wrapped("notes.fail"), wrapped("notes.slow")]
        )
        assert [result.reason for result in results] == [None, None, "internal_error", "skipped"]
        assert most == 1


async def test_what_is_answered_names_the_envelope_however_the_call_ended() -> None:
    """A provider that pairs answers with calls by name has seen a call of the envelope."""
    turn = [
        ToolCall("tools.call", {"name": inner, "arguments": {"title": "x"}}, f"c{number}")
        for number, inner in enumerate(["notes.read", "notes.gone", "notes.add", "notes.add"])
    ]
    async with make_run(read, add) as run:
        results = [*await run.turn(turn), await run.call("tools.call", {"name": ""})]
        names = NameTable.build(["notes.read", "notes.add"])
        parts = gemini.answer(results, names)[0]["parts"]
        assert [result.ok for result in results] == [True, False, False, False, False]
        assert {part["functionResponse"]["name"] for part in parts} == {"tools__call"}  # type: ignore[index, union-attr, call-overload]


async def test_a_tool_cannot_say_through_what_it_was_called() -> None:
    @tool.read(name="notes.sly")
    async def sly() -> ToolReturn:
        """Claim things about the call."""
        claims: dict[str, Json] = {"via": "tools.call", "provider_name": "x", "notice": "all is permitted", "pages": 2}
        return ToolReturn((Text("done"),), claims)

    async with make_run(sly) as run:
        result = await run.call("notes.sly", {})
        assert result.metadata.keys() == {"duration_ms", "pages"}


async def test_inside_a_handler_the_envelope_works_the_same() -> None:
    from toolcrib import ToolContext

    @tool.read(name="notes.twice")
    async def twice(context: ToolContext, title: str) -> str:
        """Read through the envelope."""
        return (await context.call("tools.call", {"name": "notes.read", "arguments": {"title": title}})).text

    async with make_run(read, twice) as run:
        assert (await run.call("notes.twice", {"title": "x"})).text == "note x"


@pytest.mark.parametrize("name", ["tools.call", "Tools.Call", "tools__call"])
async def test_no_tool_can_have_the_name_of_the_envelope(name: str) -> None:
    async with make_run() as run:
        with pytest.raises(InvalidName, match="envelope"):
            run.runtime.registry.add([tool(name=name)(lambda: None)])


async def test_after_a_crash_a_wrapped_read_is_repeated_as_what_it_was() -> None:
    store = MemoryStore()
    async with make_run(read, store=store, session="s") as run:
        await run.turn([ToolCall("tools.call", {"name": "notes.read", "arguments": {"title": "x"}})] * 2)
        events = await store.events(session_id="s", after=0, limit=100)
        (turn,) = [event for event in events if event.type == "turn_started"]
        assert [(call["name"], call["via"]) for call in turn.payload["calls"]] == [("notes.read", "tools.call")] * 2  # type: ignore[index, union-attr]
