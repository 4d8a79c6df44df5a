"""Unified diffs: what was diffed comes out again, and everything else is refused by name."""

import difflib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.patch import apply_patch, check_names, parse_patch

LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6)
WORDS = st.sampled_from(
    ["a", "b", "-- x", "++ y", "@@ -1 +1 @@", "--- a", "\\ no", "", " ", "é", "\u2028", "diff --git a b"]
)
END = st.sampled_from(["\n", "\r\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(st.one_of(WORDS, LINE), END), max_size=14))
    text = "".join(line + end for line, end in lines)
    return text.removesuffix("\n") if draw(st.booleans()) else text


def lines_of(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def diff_of(before: str, after: str, context: int) -> str:
    lines = difflib.unified_diff(lines_of(before), lines_of(after), "a/f", "b/f", n=context)
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


@settings(max_examples=300, deadline=None)
@given(texts(), texts(), st.integers(0, 4))
def test_applying_the_diff_of_two_texts_to_the_first_gives_the_second(before: str, after: str, context: int) -> None:
    if before != after:
        assert apply_patch(before, parse_patch(diff_of(before, after, context))) == after


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=12))
def test_a_diff_written_with_plain_line_ends_keeps_those_of_a_crlf_file(before: list[str], after: list[str]) -> None:
    old, new = "".join(line + "\n" for line in before), "".join(line + "\n" for line in after)
    if old != new:
        patch = parse_patch(diff_of(old, new, 3))
        assert apply_patch(old.replace("\n", "\r\n"), patch) == new.replace("\n", "\r\n")


def test_a_hunk_whose_line_number_is_off_goes_to_the_only_place_where_it_fits() -> None:
    patch = parse_patch("@@ -1,2 +1,2 @@\n c\n-d\n+D\n")
    assert apply_patch("a\nb\nc\nd\n", patch) == "a\nb\nc\nD\n"


def test_blank_context_lines_may_lack_their_leading_space() -> None:
    patch = parse_patch("@@ -1,3 +1,3 @@\n a\n\n-c\n+C\n")
    assert apply_patch("a\n\nc\n", patch) == "a\n\nC\n"


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    patch = parse_patch("--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1 @@\n--- drop it\n keep\n")
    assert apply_patch("-- drop it\nkeep\n", patch) == "keep\n"


REFUSED = {
    "a rename": "diff --git a/ok.txt b/../../x\nrename from ok.txt\nrename to ../../x\n",
    "a deletion": "--- ok.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    "a mode change": "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n",
    "binary content": "diff --git a/f b/f\nGIT binary patch\nliteral 3\n",
    "two files": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
    "no hunk": "--- a/f\n+++ b/f\n",
    "wrong counts": "@@ -1,3 +1 @@\n-a\n",
    "too many lines": "@@ -1 +1 @@\n-a\n-b\n+c\n",
    "text after the hunk": "@@ -1 +1 @@\n-a\n+b\nand so on\n",
    "hunks out of order": "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n",
    "context that does not match": "@@ -1 +1 @@\n-x\n+y\n",
    "a place that is not unique": "@@ -9 +9 @@\n-a\n+y\n",
}


@pytest.mark.parametrize("diff", REFUSED.values(), ids=REFUSED)
def test_a_diff_that_is_not_a_plain_change_that_fits_is_refused(diff: str) -> None:
    with pytest.raises(Refusal) as refused:
        apply_patch("a\nb\nc\na\n", parse_patch(diff))
    assert refused.value.reason is Reason.PATCH_APPLY_FAILED


NAMES = [
    ("src/a.py", True),
    ("a/src/a.py", True),
    ("a.py", True),
    ("b/a.py", True),
    ("./a.py", True),
    ("../a.py", False),
    ("a/../outside/a.py", False),
    ("other.py", False),
    ("xa.py", False),
    ("/etc/a.py", False),
]


@pytest.mark.parametrize(("name", "fits"), NAMES)
def test_the_header_must_name_the_file_of_the_call(name: str, fits: bool) -> None:
    patch = parse_patch(f"--- {name}\t2024-01-01\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n")
    if fits:
        check_names(patch, ("home", "p", "src", "a.py"), "src/a.py")
    else:
        with pytest.raises(Refusal) as refused:
            check_names(patch, ("home", "p", "src", "a.py"), "src/a.py")
        assert refused.value.reason is Reason.PATCH_PATH_MISMATCH
