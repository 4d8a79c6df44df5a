"""Large messages: read as they would be at once, but in short turns and within the memory of a few."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, cast

import orjson
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers_at_hand import Open, hostile

from toolcrib.sources.mcp.large import Reading
from toolcrib.sources.mcp.marks import EventMarks, Marks, TooDense
from toolcrib.values.refusal import Reason

LETTERS = st.sampled_from(['"', "\\", "[,"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=12) | st.sampled_from(['"', "\\", "[,"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=6)
)
HOLDERS = st.lists(VALUES, max_size=6) | st.dictionaries(st.text(max_size=4), VALUES, max_size=6)


def read(line: bytes, piece: int = 2_048, long: int = 65_536, most_tools: int = 1_000) -> object:
    reading = Reading(line, most_tools, piece, long)
    while not reading.is_over:
        reading.step()
    return reading.made


@settings(max_examples=60, deadline=None)
@given(HOLDERS, st.sampled_from([1, 7, 40]), st.sampled_from([2, 65_536]), st.sampled_from([None, 1]))
def test_what_is_read_in_pieces_is_what_would_be_read_at_once(
    value: object, piece: int, long: int, indent: int | None
) -> None:
    line = json.dumps(value, indent=indent, ensure_ascii=indent is None).encode()
    assert read(line, piece, long) == value


@settings(max_examples=100, deadline=None)
@given(HOLDERS, st.data())
def test_what_is_no_json_at_once_is_none_in_pieces(value: object, data: st.DataObject) -> None:
    line = bytearray(orjson.dumps(value))
    place = data.draw(st.integers(0, len(line) - 1))
    line[place : place + 1] = data.draw(st.sampled_from([b"", b",", b"]", b"}", b'"', b"1", b":", b"{"]))
    try:
        expected = orjson.loads(line)
    except ValueError:
        with pytest.raises(ValueError, match=r"\w"):
            read(bytes(line), 4, 2)
    else:
        assert not isinstance(expected, dict | list) or read(bytes(line), 4, 2) == expected


@pytest.mark.parametrize(
    "line",
    [b"[" + b"[]," * 5_000_000 + b"1]", b"[" + b"1.5," * 4_000_000 + b"1]", b'["",' + b'1.5,"",' * 2_000_000 + b"1]"],
    ids=["lists", "numbers", "both"],
)
def test_a_message_of_millions_of_values_is_not_made(line: bytes) -> None:
    with pytest.raises(TooDense):
        read(line)


@pytest.mark.parametrize("size", [1_000, 65_537])
def test_marks_are_counted_outside_texts_and_event_by_event(size: int) -> None:
    fine = orjson.dumps({"text": 'a, "b", [c] \\ {' * 100_000})
    events = b"data: " + b"[[],[],[]]\n\n" * 300_000
    dense = b"[" + b'[],"\\\\",' * 500_000
    assert not is_too_dense(fine, Marks(), size)
    assert not is_too_dense(fine, EventMarks(), size)
    assert not is_too_dense(events, EventMarks(), size)
    for marks in (Marks(), EventMarks()):
        assert is_too_dense(dense, marks, size)


def test_blank_lines_between_the_values_of_one_answer_make_it_no_smaller() -> None:
    assert is_too_dense(b"[" + b"[],[],[],\n\n" * 200_000, Marks(), 65_536)


def test_quotes_and_brackets_in_a_long_text_are_no_marks() -> None:
    text = orjson.dumps({"text": 'print("it", {"a": 1}) \\ "' * 400_000})
    assert not is_too_dense(text, Marks(), 65_536)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
@pytest.mark.parametrize("size", [9, 65_536])
def test_events_end_at_blank_lines_wherever_chunks_do(end: bytes, size: int) -> None:
    event = b"data: " + b"[]," * 50_000
    assert not is_too_dense((event + end) * 8, EventMarks(), size)
    assert is_too_dense(event * 8, EventMarks(), size)


def is_too_dense(line: bytes, marks: Marks | EventMarks, size: int) -> bool:
    try:
        for start in range(0, len(line), size):
            for _ in marks.add(line[start : start + size]):
                pass
    except TooDense:
        return True
    return False


@pytest.mark.parametrize("line", [b"[" * 2_000_000, b'{"a":' * 100_000, b'["' + b"x" * 100_000, b"[1, 2"])
def test_what_does_not_end_is_no_message(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read(line)


def test_what_is_passed_over_must_be_whole_too() -> None:
    tools = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(3_000)]
    line = orjson.dumps({"result": {"tools": tools}, "id": 7})
    with pytest.raises(ValueError, match="brackets do not match"):
        read(
            line.replace(b'"tool_2000","inputSchema":{"type":"object"}', b'"tool_2000","inputSchema":{"type":"object"]')
        )


def test_of_ten_thousand_tools_only_those_that_may_be_are_made() -> None:
    tools: list[Any] = [{"name": f"tool_{number}", "inputSchema": {"type": "object"}} for number in range(10_000)]
    deep = {"properties": {f"p{number}": {"type": "string", "enum": ["]}", "\\"]} for number in range(500)}}
    tools[5_000] = {"name": "large", "description": "x, [" * 20_000, "inputSchema": deep, "numbers": [1] * 9_000}
    line = orjson.dumps({"result": {"tools": tools, "nextCursor": "more"}, "jsonrpc": "2.0", "id": 7})
    message = cast("dict[str, Any]", read(line))
    assert (message["id"], message["result"]["nextCursor"]) == (7, "more")
    assert 1_000 < len(message["result"]["tools"]) < 1_100


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["dense", "forged"])
async def test_a_message_of_too_many_values_fails_its_call_within_little_memory(crib_with: Open, how: str) -> None:
    async with crib_with(bad=hostile(how, timeout_ms=20_000), good=hostile()) as crib, crib.run() as run:
        before = psutil.Process().memory_info().rss
        calling = asyncio.create_task(run.call("mcp.bad.misbehave"))
        peak = 0
        while not calling.done():
            assert (await run.call("mcp.good.echo", {"text": "here"})).ok
            peak = max(peak, psutil.Process().memory_info().rss - before)
        result = await calling
        assert result.reason is Reason.PROVIDER_ERROR
        assert "the server sent a message of " in result.text
        assert peak < 48 * 1024 * 1024
        assert (await run.call("mcp.bad.echo", {"text": "back"})).text == "back"


@pytest.mark.anyio
async def test_a_large_answer_whose_id_comes_last_reaches_its_call(crib_with: Open) -> None:
    async with crib_with(bad=hostile("large", timeout_ms=20_000)) as crib, crib.run() as run:
        result = await run.call("mcp.bad.misbehave")
        assert result.ok
        assert result.text.startswith('Say "it", {again}; [1, 2].')


@pytest.mark.anyio
async def test_lines_of_nothing_keep_nobody_waiting(crib_with: Open) -> None:
    async with crib_with(bad=hostile("blank", timeout_ms=20_000)) as crib, crib.run() as run:
        began = time.monotonic()
        calling = asyncio.create_task(run.call("mcp.bad.misbehave"))
        turns = 0
        while not calling.done():
            await asyncio.sleep(0)
            turns += 1
        assert (await calling).text == "after nothing"
        assert turns > 200, f"the loop had {turns} turns in {time.monotonic() - began:.1f} s"
