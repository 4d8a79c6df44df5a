"""Messages that hold half a character are read with a sign in its place, piece by piece."""

from __future__ import annotations

import asyncio
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.sources.mcp.halves import mended
from toolcrib.sources.mcp.traffic import Traffic
from toolcrib.values.turn import Turn

WORDS = [
    r"\ud83d",
    r"\ude00",
    r"\ud83d\ude00",
    r"\\",
    r"\n",
    r"\u00e9",
    "plain",
    "ff00",
    "\u4e2d",
    "\U0001f600",
    " ",
    "d8",
]


def read(line: bytes) -> bytes | None:
    return asyncio.run(mended(line, Turn(Traffic().side())))


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.integers(1, 90))
def test_every_half_becomes_a_sign_and_all_else_stays(words: list[str], times: int) -> None:
    text = "".join(words) * times
    said = json.loads(f'"{text}"')
    expected = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    found = read(f'{{"text": "{text} ."}}'.encode())
    assert found is None or orjson.loads(found)["text"] == expected + " ."
    if len(text) < 1_000 or "plain" in words:
        assert found is not None


@pytest.mark.parametrize(
    "line", [b"[1]", b"words", b"{" + b"\\" * 4_000, b"{" + b"x" * (1 << 20), b"{" + b"\xff" * 4_000]
)
def test_what_is_no_message_is_left(line: bytes) -> None:
    assert read(line) is None
