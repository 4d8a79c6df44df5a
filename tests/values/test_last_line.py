"""The last whole line of an output that comes in pieces."""

from __future__ import annotations

import pytest

from toolcrib.values.last_line import LONGEST, LastLine

CASES: list[tuple[str, list[bytes], str]] = [
    ("nothing", [], ""),
    ("a line", [b"one\n"], "one"),
    ("the last of several", [b"one\ntwo\nthree\n"], "three"),
    ("a line in pieces", [b"o", b"n", b"e\n"], "one"),
    ("what has not ended is not told", [b"one\ntw"], "one"),
    ("nor its other half alone", [b"tok", b"en\nrest"], "token"),
    ("returns part lines too", [b"10 %\r20 %\r30"], "20 %"),
    ("both together", [b"one\r\ntwo\r\n"], "two"),
    ("a break in pieces", [b"one\r", b"\n"], ""),
    ("a line that is too long is left out", [b"x" * LONGEST, b"y\n"], ""),
    ("and so is its end", [b"x" * (LONGEST + 1), b"\nnext\n"], "next"),
    ("bytes that are no text", [b"\xff\n"], "\ufffd"),
]


@pytest.mark.parametrize(("pieces", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_only_whole_lines_are_told(pieces: list[bytes], told: str) -> None:
    line = LastLine()
    for piece in pieces:
        line.take(piece)
    assert line.told() == told


def test_a_line_is_told_once() -> None:
    line = LastLine()
    line.take(b"one\n")
    assert (line.told(), line.told()) == ("one", "")
