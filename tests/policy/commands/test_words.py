"""Reading shell lines: what is understood means to us what it means to a shell; everything else is trouble."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.policy.commands import Segment, read_line

PLAIN = {
    "ls -la": [("ls", "-la")],
    "  ls  ": [("ls",)],
    "ls | wc -l": [("ls",), ("wc", "-l")],
    "a && b || c; d": [("a",), ("b",), ("c",), ("d",)],
    "a\nb\n": [("a",), ("b",)],
    "a;": [("a",)],
    "grep -rn 'a; b' src": [("grep", "-rn", "a; b", "src")],
    'grep "a | b" x': [("grep", "a | b", "x")],
    "echo ''": [("echo", "")],
    r"echo a\ b": [("echo", "a b")],
    'echo "a\\"b"': [("echo", 'a"b')],
    r'grep "a\.b"': [("grep", r"a\.b")],
    "echo a'b'\"c\"": [("echo", "abc")],
    "ec\\\nho hi": [("echo", "hi")],
    "git log 2>&1": [("git", "log")],
    "git log >/dev/null 2>/dev/null": [("git", "log")],
    "git log 2> /dev/null | head": [("git", "log"), ("head",)],
    "head -5 a2 file2": [("head", "-5", "a2", "file2")],
    "git log HEAD~1 a#b": [("git", "log", "HEAD~1", "a#b")],
    "xargs -I{} echo {}": [("xargs", "-I{}", "echo", "{}")],
    "echo =a": [("echo", "=a")],
}


@pytest.mark.parametrize(("text", "commands"), PLAIN.items())
def test_plain_lists_and_pipelines_are_read_as_words(text: str, commands: list[tuple[str, ...]]) -> None:
    line = read_line(text)
    assert (line.trouble, [segment.words for segment in line.segments]) == ("", commands)


BEYOND = [
    "",
    "   ",
    ";",
    "| a",
    "a |",
    "a &&",
    "a ;; b",
    "a |& b",
    "a &",
    "a & b",
    "echo $HOME",
    "echo ${X:+y}",
    "echo $(id)",
    "echo `id`",
    'echo "$(id)"',
    'echo "`id`"',
    "echo $'x'",
    'echo "$x"',
    "(id)",
    "{ id; }",
    "a() { id; }",
    "echo {a,b}",
    "git status;{touch,x}",
    "echo a > b",
    "echo a >> b",
    "a < b",
    "a <<E\nE",
    "a <<< b",
    "a &> b",
    "a >& b",
    "a >/dev/nullx",
    "a 2>&1x",
    "a > /dev/null/../x",
    "if true; then a; fi",
    "for x in a; do b; done",
    "while a; do b; done",
    "case x in x) a;; esac",
    "! a",
    "time a",
    "coproc a",
    "[[ a ]]",
    "X=1 a",
    "X+=1",
    "a[0]=1",
    "PATH=/x git status",
    "# comment",
    "a # comment",
    "cat ~/x",
    "cat ~",
    "cat ~root/x",
    "a --file=~/x",
    "'a",
    '"a',
    "a \\",
    "/???/touch x",
    "t*ch x",
    "git\u200b status",
    "a\x00b",
    "a\x1b[2Jb",
    "a\u202eb",
    "a\rb",
    "x" * 100_001,
    ";".join(["a"] * 101),
]


@pytest.mark.parametrize("text", BEYOND, ids=lambda text: repr(text)[:40])
def test_what_only_a_shell_can_know_is_trouble(text: str) -> None:
    assert read_line(text).trouble


def test_words_that_the_shell_expands_are_marked() -> None:
    assert read_line("ls *.py 'a*' src/?").segments == (Segment(("ls", "*.py", "a*", "src/?"), frozenset({1, 3})),)


SHELL = 'p() { for word in "$@"; do printf "%s\\0" "$word"; done; printf "\\1"; }\n'
PIECES = [
    "p",
    " ",
    " ",
    "a",
    "-b",
    "'",
    '"',
    "\\",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "$",
    "`",
    "*",
    "{}",
    "#",
    "~",
    "=",
    "2>&1",
    ">",
    "&",
    "(",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_a_line_without_trouble_means_the_same_to_a_shell(pieces: list[str]) -> None:
    text = "p " + "".join(pieces)
    line = read_line(text)
    segments = line.segments
    if line.trouble or any(segment.globs or segment.words[0] != "p" for segment in segments) or "|" in text:
        return
    ran = subprocess.run(["sh", "-c", SHELL + text], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert ran.stderr == b""
    said = [tuple(part.split("\0")[:-1]) for part in ran.stdout.decode().split("\1")[:-1]]
    assert said == [segment.words[1:] for segment in segments][: len(said)]
    assert len(said) == len(segments) or "||" in text
