"""More names that are no names, and names that would be taken for another's: ours, beside the data."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest

from toolcrib.catalog.registry import Registry
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import ToolcribError
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.tool import Tool


def made(name: str) -> Tool:
    async def handler(context: object, arguments: object) -> str:
        return "ran"

    return Tool(ToolSpec(name=name, description="A.", input_schema={"type": "object"}, effect=Effect.READ), handler)


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", ".", ".a", "a.", "a b", "a\tb", "a\nb", "a\0b", "a/b", "a\\b", "a:b", "a;b", "a'b", 'a"b', "a`b"),
        *("a$b", "a{b}", "a<b>", "a\u200bb", "\ufeffa", "a\u202eb", "\uff43ode.read", "c\u043ede.read", "cafe\u0301"),
        *(
            "a\u00adb",
            "__class__",
            "a.__proto__",
            "a" * 300,
            "a." * 100 + "a",
            "../a",
            "%61",
            "a\x7fb",
            "\ud800",
            "a…b",
        ),
    ],
)
def test_what_is_no_name_is_refused_when_it_is_registered(name: str) -> None:
    registry = Registry()
    with pytest.raises(ToolcribError):
        registry.add([made(name)])
    assert list(registry.snapshot) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("code.read", "code.read"),
        ("code.read", "Code.read"),
        ("code.read", "CODE.READ"),
        ("mcp.srv.read_file", "mcp.srv.Read_File"),
    ],
)
def test_a_name_that_only_looks_like_another_is_a_duplicate(first: str, second: str) -> None:
    registry = Registry()
    registry.add([made(first)])
    with pytest.raises(ToolcribError):
        registry.add([made(second)])
    assert list(registry.snapshot) == [first]


def test_nothing_of_a_batch_is_registered_when_one_of_it_is_refused() -> None:
    registry = Registry()
    with pytest.raises(ToolcribError):
        registry.add([made("a.one"), made("a.two"), made("a..three")])
    assert list(registry.snapshot) == []


@pytest.mark.parametrize("limit", [64, 128])
def test_names_that_are_alike_when_they_are_written_for_a_provider_stay_apart(limit: int) -> None:
    words = ["a", "b", "b_", "a_b", "a__b", "x" * 60, "x" * 61]
    names = {".".join(each) for length in (1, 2, 3) for each in itertools.product(words, repeat=length)}
    registry = Registry()
    for name in sorted(names):
        with suppress(ToolcribError):
            registry.add([made(name)])
    table = NameTable.build(registry.snapshot, limit)
    assert len(registry.snapshot) > 50
    assert {table.canonical(sent) for sent in table.outward.values()} == set(registry.snapshot)
    assert all(len(sent) <= limit for sent in table.outward.values())
