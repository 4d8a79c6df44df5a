"""What is written in a format is read back the same, whole or in any pieces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples import PARALLEL, STRING, TOOLS, TYPED, function, plain, stream

from toolcrib.dialects import ParsedCall, Status, StreamParser, parse
from toolcrib.dialects.formats import FORMATS
from toolcrib.dialects.render import Unwritable, render_calls

KEYS = st.text("abcdefghij_", min_size=1, max_size=6).filter(lambda key: key not in {"item", "true", "null", "none"})
TEXT = st.one_of(
    st.text(max_size=30),
    st.text("<>/{}[]()'\"`=,:|\\ \n\ta", max_size=30),
    st.sampled_from(
        ["</tool_call>", "<tool_call>", "]]>", "true", "5", "null", "```", "<think>", "\r\n", " x ", "it's"]
    ),
)
SCALAR = st.one_of(
    st.integers(),
    st.booleans(),
    st.none(),
    TEXT,
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(KEYS, VALUE, max_size=4)
NAMES = st.sampled_from(["tide_at", "port.ops.lookup", "mcp__harbour-io__list"])
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=3)


def schema_of(value: Any) -> dict[str, Any]:
    """The narrowest schema a value fits, as a tool that takes it would declare it."""
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: schema_of(item) for key, item in value.items()}}
    if isinstance(value, list):
        kinds = [schema_of(item) for item in value]
        return {"type": "array", "items": kinds[0] if all(kind == kinds[0] for kind in kinds) else {"anyOf": kinds}}
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": names[type(value)]}


def writable(calls: list[tuple[str, dict[str, Any]]], dialect: str) -> str | None:
    try:
        return render_calls([ParsedCall(*call) for call in calls], dialect)
    except Unwritable:
        return None


def uniform(value: Any) -> bool:
    """Trees of tags cannot say which branch of a mixed list an item is."""
    if isinstance(value, list):
        return all(schema_of(item) == schema_of(value[0]) for item in value) and all(map(uniform, value))
    return all(map(uniform, value.values())) if isinstance(value, dict) else True


@pytest.mark.parametrize("dialect", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=NAMES, arguments=ARGUMENTS, sizes=st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_a_written_call_is_read_back_in_any_pieces(
    dialect: str, name: str, arguments: dict[str, Any], sizes: list[int]
) -> None:
    if dialect == "minimax_m3" and not uniform(arguments):
        return
    text = writable([(name, arguments)], dialect)
    if text is None:
        return
    tools = [function(name, **{key: schema_of(value) for key, value in arguments.items()})]
    whole = parse(text, tools, dialect)
    assert plain(whole.calls) == [(name, arguments)]
    assert not whole.content
    assert not any(call.repaired for call in whole.calls)
    assert stream(cut(text, sizes), dialect, tools=tools) == whole


def cut(text: str, sizes: list[int]) -> list[str]:
    parts: list[str] = []
    while text:
        size = sizes[len(parts) % len(sizes)]
        parts.append(text[:size])
        text = text[size:]
    return parts


MARKUP = st.sampled_from(
    sorted({token for spec in FORMATS.values() for token in (*spec.opens, *spec.closes, *spec.reasoning, *spec.drops)})
)
PROSE = st.lists(
    st.one_of(MARKUP, TEXT, st.sampled_from(['{"name": "tide_at", "arguments": {}}', "tide_at", ">", '"harbour"'])),
    max_size=12,
)


@settings(max_examples=400, deadline=None)
@given(parts=PROSE, sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4), thinking=st.booleans(), given=st.data())
def test_any_text_reads_the_same_in_any_pieces_and_keeps_every_character(
    parts: list[str], sizes: list[int], thinking: bool, given: st.DataObject
) -> None:
    text = "".join(parts)
    dialect = given.draw(st.sampled_from([None, *FORMATS]))
    whole = parse(text, TOOLS, dialect, thinking)
    assert stream(cut(text, sizes), dialect, start_in_reasoning=thinking) == whole
    edges = [edge for span in whole.spans for edge in (span.start, span.end)]
    assert edges[0:1] + edges[-1:] == ([0, len(text)] if text else [])
    assert edges[1:-1:2] == edges[2::2]
    assert all(call.name in {"ring_bell", "tide_at"} for call in whole.calls if dialect is None)


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=40), size=st.integers(1, 3))
def test_bytes_cut_inside_a_character_read_like_text(text: str, size: int) -> None:
    data = (text + render_calls(PARALLEL, "deepseek_v31")).encode("utf-8", "replace")
    parser = StreamParser(TOOLS, "deepseek_v31")
    for start in range(0, len(data), size):
        parser.feed(data[start : start + size])
    assert parser.finish() == parse(data, TOOLS, "deepseek_v31")


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_call_cut_anywhere_is_never_complete_with_less_than_it_said(dialect: str) -> None:
    text = render_calls(TYPED, dialect)
    for end in range(1, len(text)):
        for call in parse(text[:end], TOOLS, dialect).calls:
            assert call.status is not Status.COMPLETE or call.arguments == TYPED[0].arguments, text[:end]


ODD_KEYS = ["first name", "a b c", "a/b", "a:b", "x=1", "1st", "a'b", 'a"b', "a>b", "a,b", "$ref", "x[0]", "-o", "ключ"]


@pytest.mark.parametrize("dialect", FORMATS)
def test_an_argument_with_an_odd_name_is_read_under_that_name_or_never_written(dialect: str) -> None:
    written: list[str] = []
    for key in ODD_KEYS:
        calls = [ParsedCall("tide_at", {key: "Lund"})]
        try:
            text = render_calls(calls, dialect)
        except Unwritable:
            continue
        assert plain(parse(text, [function("tide_at", **{key: STRING})], dialect).calls) == plain(calls)
        written.append(key)
    assert "ключ" in written
