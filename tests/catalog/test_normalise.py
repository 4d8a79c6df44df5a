"""Normalising: whatever a handler returns becomes blocks, or a refusal that names the type, the place and a way out."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import subprocess
import sys
import tracemalloc
import types
import uuid
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from toolcrib.catalog.normalise import normalise
from toolcrib.values.json import Json, canonical
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import (
    ArtifactRef,
    Image,
    JsonBlock,
    Text,
    ToolError,
    ToolResult,
    ToolResultBlock,
    ToolReturn,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Note:
    title: str
    when: datetime.date
    children: list[Note] = dataclasses.field(default_factory=list["Note"])


class Model(BaseModel):
    name: str = Field(alias="fullName")
    when: datetime.datetime


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", Text("text")),
        ("", Text("")),
        ({"a": 1}, JsonBlock({"a": 1})),
        ([1, "two", None], JsonBlock([1, "two", None])),
        ((1, 2), JsonBlock((1, 2))),
        (7, JsonBlock(7)),
        (2.5, JsonBlock(2.5)),
        (True, JsonBlock(True)),
        (2**80, JsonBlock(2**80)),
        (Colour.RED, Text("red")),
        (Level.HIGH, JsonBlock(3)),
        (Point(1, 2), JsonBlock({"x": 1, "y": 2})),
        ({3, 1, 2}, JsonBlock([1, 2, 3])),
        (range(3), JsonBlock([0, 1, 2])),
        (collections.deque([1, 2]), JsonBlock([1, 2])),
        ({"a": 1}.keys(), JsonBlock(["a"])),
        (collections.OrderedDict(a=1), JsonBlock({"a": 1})),
        (types.MappingProxyType({"a": 1}), JsonBlock({"a": 1})),
        ({1: "a", Colour.RED: "b"}, JsonBlock({"1": "a", "red": "b"})),
        (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), Text("2026-01-02T03:04:00+00:00")),
        (datetime.timedelta(minutes=1), JsonBlock(60.0)),
        (PurePosixPath("/tmp/x"), Text("/tmp/x")),
        (uuid.UUID(int=1), Text("00000000-0000-0000-0000-000000000001")),
        (decimal.Decimal("1.10"), Text("1.10")),
        (b"bytes \xe2\x82\xac", Text("bytes €")),
        (bytearray(b"x"), Text("x")),
        ({"raw": b"ok", "p": Path("a")}, JsonBlock({"raw": "ok", "p": "a"})),
        (
            Note("a", datetime.date(2026, 1, 2), [Note("b", datetime.date(2026, 1, 3))]),
            JsonBlock(
                {"title": "a", "when": "2026-01-02", "children": [{"title": "b", "when": "2026-01-03", "children": []}]}
            ),
        ),
        (
            [Model(fullName="Ann", when=datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC))],
            JsonBlock([{"fullName": "Ann", "when": "2026-01-02T00:00:00Z"}]),
        ),
        (Text("as is"), Text("as is")),
        (ArtifactRef("art_1"), ArtifactRef("art_1")),
    ],
)
def test_a_value_becomes_one_block(value: object, expected: object) -> None:
    returned = normalise(value)
    (block,) = returned.content
    assert block == expected or (
        isinstance(block, JsonBlock) and isinstance(expected, JsonBlock) and _same(block, expected)
    )
    assert returned.error is None
    assert not returned.metadata


def _same(one: JsonBlock, other: JsonBlock) -> bool:
    return canonical(_plain(one.data)) == canonical(_plain(other.data))


def _plain(value: Json) -> Json:
    return dict(value) if isinstance(value, types.MappingProxyType) else value


def test_none_is_a_result_without_content() -> None:
    assert normalise(None) == ToolReturn(())


def test_a_value_that_is_json_already_is_not_copied() -> None:
    value = {"a": [1, {"b": "c"}]}
    (block,) = normalise(value).content
    assert isinstance(block, JsonBlock)
    assert block.data is value


def test_a_picture_in_bytes_becomes_an_image() -> None:
    (block,) = normalise(PNG).content
    assert isinstance(block, Image)
    assert block.mime_type == "image/png"


def test_blocks_and_whole_results_are_taken_as_they_are() -> None:
    returned = ToolReturn((Text("a"), JsonBlock([1])), {"k": 1}, ToolError(Reason.TIMEOUT, "late"))
    assert normalise(returned) is returned
    result = ToolResult("c1", "x.y", returned.content, Reason.TIMEOUT, returned.error, returned.metadata)
    assert normalise(result) == returned
    assert normalise([Text("a"), JsonBlock([1])]) == ToolReturn((Text("a"), JsonBlock([1])))
    assert normalise((Text("a"),)) == ToolReturn((Text("a"),))


def circle() -> object:
    value: list[object] = []
    value.append({"again": value})
    return value


def endless_note() -> object:
    note = Note("a", datetime.date(2026, 1, 2))
    note.children.append(note)
    return note


def deep() -> object:
    value: object = "x"
    for _ in range(5000):
        value = [value]
    return value


class Broken(dict[str, int]):
    def items(self):  # pyright: ignore[reportIncompatibleMethodOverride, reportUnknownParameterType]
        raise OSError("the database has gone away")


async def coroutine_function() -> None: ...


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (object, ["object", "at $", "dataclasses or pydantic models"]),
        (lambda: {"rows": [1, object()]}, ["object", "at $.rows[1]"]),
        (lambda: (n for n in range(3)), ["generator", "make a list of it"]),
        (lambda: {"x": map(str, [1])}, ["map", "at $.x", "make a list of it"]),
        (lambda: print, ["builtin_function_or_method", "call it"]),
        (lambda: Note, ["type"]),
        (lambda: float("nan"), ["nan", "at $"]),
        (lambda: {"a": [float("-inf")]}, ["-inf", "at $.a[0]"]),
        (lambda: {(1, 2): 3}, ["key of type tuple"]),
        (lambda: {1: "a", "1": "b"}, ["two keys", "'1'"]),
        (lambda: "\ud800", ["lone surrogate at character 0", "errors='replace'"]),
        (lambda: {"a": "x\udfff"}, ["lone surrogate", "at $.a"]),
        (lambda: {"\ud800": 1}, ["lone surrogate"]),
        (lambda: b"\xff\xfe\x00", ["3 bytes", "UTF-8 (byte 0)", "base64"]),
        (lambda: {"a": b"\xff"}, ["bytes that are not UTF-8", "at $.a"]),
        (lambda: 10**5000, ["integer of more than"]),
        (lambda: range(10**9), ["range", "make a list of it"]),
        (circle, ["contains itself"]),
        (endless_note, ["contains itself"]),
        (deep, ["nested"]),
        (lambda: Broken(a=1), ["Broken", "the database has gone away"]),
        (lambda: [Text("a"), "b"], ["a str among content blocks"]),
        (lambda: ToolReturn([Text("a")]), ["content as list", "tuple"]),  # pyright: ignore[reportArgumentType]
        (lambda: ToolReturn((JsonBlock({"a": {1, 2}}),)), ["JSON block", "not JSON"]),  # pyright: ignore[reportArgumentType]
        (lambda: ToolReturn((Text("\ud800"),)), ["lone surrogate"]),
        (lambda: ToolResultBlock("c", "n", ("x",)), ["a str among content blocks"]),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_kept_is_refused_by_type_and_place_with_a_way_out(
    make: Callable[[], object], words: list[str]
) -> None:
    with pytest.raises(Refusal) as refused:
        normalise(make())
    assert refused.value.reason is Reason.INTERNAL_ERROR
    assert [word for word in words if word not in refused.value.message] == []
    assert len(refused.value.message) < 600


def test_a_coroutine_is_refused_with_the_advice_to_await_it() -> None:
    coroutine = coroutine_function()
    with pytest.raises(Refusal, match="await it"):
        normalise(coroutine)
    coroutine.close()


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.binary()
        | st.dates()
        | st.uuids()
        | st.decimals(),
        lambda inner: (
            st.lists(inner)
            | st.tuples(inner)
            | st.dictionaries(st.text() | st.integers(), inner)
            | st.sets(st.integers())
        ),
    )
)
def test_every_value_becomes_json_or_a_refusal_and_never_a_crash(value: object) -> None:
    try:
        returned = normalise(value)
    except Refusal:
        return
    for block in returned.content:
        if isinstance(block, JsonBlock):
            canonical(block.data)
        else:
            assert isinstance(block, (Text, Image))


def test_a_text_of_100_megabytes_is_not_copied() -> None:
    text = "x" * 100_000_000
    tracemalloc.start()
    (block,) = normalise(text).content
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(block, Text)
    assert block.text is text
    assert peak < 1_000_000


def test_pydantic_is_never_imported() -> None:
    code = (
        "import sys; from toolcrib.catalog.normalise import normalise; "
        "normalise({'a': [1, b'x']}); sys.exit('pydantic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
