"""Exact edits: what is replaced stands there once, everything else stays byte for byte."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.edits import Edit, apply_edits, insert_lines

APPLIED = [
    ("one\ntwo\n", [Edit("two", "2")], "one\n2\n"),
    ("a\nb\n", [Edit("a", "b2"), Edit("b2", "c")], "c\nb\n"),
    ("x x x", [Edit("x", "y", replace_all=True)], "y y y"),
    ("a\r\nb\r\nc", [Edit("a\nb", "A\nB\nC")], "A\r\nB\r\nC\r\nc"),
    ("a\r\nb\nc\n", [Edit("a\nb", "A\nB")], "A\r\nB\nc\n"),
    ("no newline", [Edit("newline", "end")], "no end"),
    ("a\n", [Edit("a\n", "")], ""),
]


@pytest.mark.parametrize(("text", "edits", "expected"), APPLIED)
def test_edits_are_applied_in_order_and_keep_line_ends(text: str, edits: list[Edit], expected: str) -> None:
    assert apply_edits(text, edits, "f") == expected


REFUSED = [
    ("abc", [Edit("x", "y")], Reason.TEXT_NOT_FOUND),
    ("abab", [Edit("ab", "y")], Reason.AMBIGUOUS_EDIT),
    ("a\r\nb\r\na\r\nb\r\n", [Edit("a\nb", "y")], Reason.AMBIGUOUS_EDIT),
    ("abc", [Edit("", "y")], Reason.VALIDATION_ERROR),
    ("abc", [Edit("a", "a")], Reason.VALIDATION_ERROR),
    ("abc", [Edit("a", "b"), Edit("a", "c")], Reason.TEXT_NOT_FOUND),
]


@pytest.mark.parametrize(("text", "edits", "expected"), REFUSED)
def test_an_edit_that_is_not_exact_is_refused_with_its_own_code(text: str, edits: list[Edit], expected: Reason) -> None:
    with pytest.raises(Refusal) as refused:
        apply_edits(text, edits, "f")
    assert refused.value.reason is expected


def test_a_refusal_shows_the_lines_that_were_probably_meant() -> None:
    text = "".join(f"line {number}\n" for number in range(100))
    with pytest.raises(Refusal) as refused:
        apply_edits(text, [Edit("line 50\nline 52\n", "x")], "f")
    assert "51\tline 50" in refused.value.message


@given(st.text(max_size=30), st.text(min_size=1, max_size=5), st.text(max_size=5), st.text(max_size=30))
def test_replacing_and_replacing_back_gives_the_text_again(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    assume(text.count(old) == 1 and old != new and "\r" not in text + new)
    edited = apply_edits(text, [Edit(old, new)], "f")
    assert edited == before + new + after
    assume(new and edited.count(new) == 1)
    assert apply_edits(edited, [Edit(new, old)], "f") == text


INSERTED = [
    ("a\nb\n", 1, "x", "x\na\nb\n"),
    ("a\nb\n", 2, "x\n", "a\nx\nb\n"),
    ("a\nb\n", 3, "x", "a\nb\nx"),
    ("a\nb", 3, "x", "a\nb\nx"),
    ("", 1, "x", "x"),
    ("a\r\nb\r\n", 2, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
]


@pytest.mark.parametrize(("text", "line", "new", "expected"), INSERTED)
def test_text_goes_before_a_line_and_ends_like_its_neighbours(text: str, line: int, new: str, expected: str) -> None:
    assert insert_lines(text, line, new, "f") == expected


def test_a_line_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        insert_lines("a\n", 3, "x", "f")
    assert refused.value.reason is Reason.TEXT_NOT_FOUND
