"""Names: what is canonical, and how each reaches a provider and comes back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.values.name import MAX_NAME, PROVIDER_LIMIT, NameTable, check_name, mangle
from toolcrib.values.refusal import InvalidName

words = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_-]{0,40}\Z")
names = st.builds(
    lambda first, rest: ".".join([f"t{first}", *rest])[:MAX_NAME].rstrip("."), words, st.lists(words, max_size=6)
)


@pytest.mark.parametrize(
    "name", ["add", "notes.read", "mcp.srv.read_file", "constructor", "a", "x-y.z_1", "a.0", "toString"]
)
def test_ascii_words_joined_by_dots_are_names(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        "a.",
        ".a",
        "a..b",
        "__proto__",
        "_a",
        "1a",
        "-a",
        "a b",
        "a ",
        " a",
        "a\n",
        "a\x00",
        "a/b",
        "a:b",
        "tool.café",
        "tool.café",
        "аdd",
        "a\u200bb",
        "ａdd",
        "a․b",
        "a._b",
        "a.-b",
        "x" * (MAX_NAME + 1),
        "a\r\nb",
        "é",
    ],
)
def test_everything_else_is_refused(name: str) -> None:
    with pytest.raises(InvalidName, match=r"tool name|characters"):
        check_name(name)


def test_a_plain_name_only_turns_dots_into_double_underscores() -> None:
    assert mangle("internal.load_skill") == "internal__load_skill"


@given(st.lists(names, unique=True, max_size=30))
def test_mangling_is_injective_and_the_table_reverses_it(many: list[str]) -> None:
    table = NameTable.build(many)
    assert [table.canonical(table.outward[name]) for name in many] == many
    assert len({sent.lower() for sent in table.outward.values()}) == len({name.lower() for name in many})


@given(names)
def test_what_a_provider_sees_is_safe_and_short_enough(name: str) -> None:
    assert re.fullmatch(rf"[A-Za-z][A-Za-z0-9_-]{{0,{PROVIDER_LIMIT - 1}}}", mangle(name))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b", "a__b"),
        ("a_.b", "a._b".replace("._", ".x_")),
        ("a__b.c", "a.b__c"),
        ("x." + "a" * 70 + "1", "x." + "a" * 70 + "2"),
        ("x" * 64, "x" * 65),
    ],
)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    assert mangle(one) != mangle(other)


def test_a_name_that_was_never_sent_comes_back_as_it_is() -> None:
    assert NameTable.build(["a.b"]).canonical("unknown") == "unknown"
