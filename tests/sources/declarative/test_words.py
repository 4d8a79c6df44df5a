"""Whatever a model sends, a command has the words its definition wrote, and no value leaves its own word."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.policy.commands import read_line
from toolcrib.sources.declarative.line import read_shell_line
from toolcrib.sources.declarative.template import check_words, fill_words, read_word
from toolcrib.values.refusal import Refusal

NAMES = ("a", "b", "c")
SCALAR = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=40),
    st.sampled_from(
        ["'; touch x; '", '"; id; "', "$(id)", "`id`", "*", "!!", "-rf", "--", "{{args.b}}", "", "\n", "a b"]
    ),
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
)
ARGUMENTS = st.fixed_dictionaries(dict.fromkeys(NAMES, SCALAR))
PIECE = st.sampled_from(
    ["--", "-n", "--x=", "lit", "{{args.a}}", "{{args.b}}", "{{args.c}}", "a{{args.a}}b", "k={{args.b}}"]
)


def plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@given(st.lists(PIECE, max_size=8), ARGUMENTS)
def test_no_value_changes_how_many_words_there_are_or_makes_an_option(
    texts: list[str], arguments: Mapping[str, Any]
) -> None:
    words = [read_word(text) for text in texts]
    check_words(words)
    try:
        filled = fill_words(words, arguments, {})
    except Refusal:
        return
    assert len(filled) == len(texts)
    ended = False
    for text, word, out in zip(texts, words, filled, strict=True):
        if word.literal is not None:
            assert out == text
        elif not ended and not text.startswith("-"):
            assert not out.startswith("-")
        ended = ended or text == "--"


@settings(max_examples=60, deadline=None)
@given(ARGUMENTS)
def test_a_real_shell_hands_every_value_on_as_exactly_one_word(arguments: Mapping[str, Any]) -> None:
    line = read_shell_line("printf '[%s]' -- {{args.a}} {{args.b}} && printf '[%s]' -- {{args.c}}", 1)
    try:
        values = line.values(arguments, {})
    except Refusal:
        assert any("\0" in plain(value) for value in arguments.values())
        return
    done = subprocess.run(["/bin/sh", "-c", line.script, "name", *values], capture_output=True, check=True)
    shown = "".join(f"[{plain(arguments[name])}]" for name in ("a", "b"))
    assert done.stdout.decode() == f"[--]{shown}[--][{plain(arguments['c'])}]"


@given(ARGUMENTS)
def test_what_a_person_is_shown_reads_as_the_same_words_that_run(arguments: Mapping[str, Any]) -> None:
    line = read_shell_line("grep -- {{args.a}} {{args.b}} | sort -- {{args.c}}", 1)
    try:
        values = line.values(arguments, {})
    except Refusal:
        return
    shown = read_line(line.shown(values))
    if shown.trouble:
        assert "invisible" in shown.trouble
        return
    assert [segment.words for segment in shown.segments] == [("grep", "--", *values[:2]), ("sort", "--", values[2])]


@pytest.mark.parametrize("value", ["-v", "--output=x", "-", "--"])
def test_a_value_that_would_be_an_option_is_refused_unless_the_definition_ends_options_first(value: str) -> None:
    with pytest.raises(Refusal, match="must not begin with '-'"):
        fill_words([read_word("{{args.a}}")], {"a": value}, {})
    assert fill_words([read_word("--"), read_word("{{args.a}}")], {"a": value}, {}) == ("--", value)
    assert fill_words([read_word("--regexp={{args.a}}")], {"a": value}, {}) == (f"--regexp={value}",)
    with pytest.raises(Refusal, match="must not begin with '-'"):
        read_shell_line("grep {{args.a}}", 1).values({"a": value}, {})
    assert read_shell_line("true -- && grep -- {{args.a}}", 1).values({"a": value}, {}) == (value,)
    with pytest.raises(Refusal):
        read_shell_line("true -- && grep {{args.a}}", 1).values({"a": value}, {})


@pytest.mark.parametrize(
    ("value", "said"), [(None, "is needed"), ([1], "one value"), ({}, "one value"), ("a\0b", "NUL")]
)
def test_what_fits_into_no_word_is_refused(value: Any, said: str) -> None:
    with pytest.raises(Refusal, match=said):
        fill_words([read_word("{{args.a}}")], {"a": value}, {})


def test_a_default_of_the_schema_stands_in_for_an_argument_that_is_not_given() -> None:
    assert fill_words([read_word("-n{{args.a}}")], {}, {"a": {"default": 3}}) == ("-n3",)
