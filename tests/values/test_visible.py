"""Nothing that is shown can hide, reorder or act."""

from __future__ import annotations

import pytest

from toolcrib.values.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, with 'signs' and \\ too", "plain text, with 'signs' and \\ too"),
        ("Grüße 你好 🙂", "Grüße 你好 🙂"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
        ("\x7f\x9b31m", "\\x7f\\x9b31m"),
        ("user\u202egpj.exe", "user\\u202egpj.exe"),
        ("\u2066\u2069\u200e\u061c", "\\u2066\\u2069\\u200e\\u061c"),
        ("pay\u200bpal\u200d\u2060\ufeff", "pay\\u200bpal\\u200d\\u2060\\ufeff"),
        ("a\u00a0b\u3000c", "a\\xa0b\\u3000c"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\U000e0041\U000e0100\ufe0f", "\\U000e0041\\U000e0100\\ufe0f"),
        ("\u3164\u2800\u115f", "\\u3164\\u2800\\u115f"),
        ("rm\u0336 -rf\u0338", "rm\\u0336 -rf\\u0338"),
        ("e\u0301t\u0323", "e\u0301t\u0323"),
        ("\ud800", "\\ud800"),
        ("\ue000", "\\ue000"),
    ],
)
def test_characters_that_a_person_cannot_see_are_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_the_caller_keeps_stays() -> None:
    assert visible("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"
