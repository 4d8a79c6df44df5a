"""What a server says beside the protocol, over a real pipe."""

from __future__ import annotations

import asyncio
import os

import pytest

from toolcrib.sources.mcp.beside import heard
from toolcrib.sources.mcp.traffic import Traffic

pytestmark = pytest.mark.anyio


async def said(words: bytes) -> list[str]:
    """What is heard of these words until their pipe is closed."""
    told: list[str] = []
    async with heard(told.append, Traffic().side()) as pipe:
        await asyncio.to_thread(write, pipe, words)
    return told


def write(pipe: int, words: bytes) -> None:
    while words:
        words = words[os.write(pipe, words) :]


async def test_lines_are_heard_one_by_one_and_blank_ones_not() -> None:
    assert await said(b"one\n\n  \ntwo \xff\nunfinished") == ["one", "two �"]


async def test_the_last_words_are_heard_though_nobody_had_a_turn_before_the_end() -> None:
    told: list[str] = []
    async with heard(told.append, Traffic().side()) as pipe:
        os.write(pipe, b"Traceback\n" + b"  a line\n" * 1_000 + b"Error: no such file\n")
    assert (told[0], told[-1]) == ("Traceback", "Error: no such file")


@pytest.mark.parametrize("line", [b"x" * 8_000 + b"\n", b"y\n", b"no end"])
async def test_of_a_flood_the_first_lines_are_heard_and_the_rest_only_counted(line: bytes) -> None:
    told = await said(line * (4 * 1024 * 1024 // len(line)))
    counted = sum(int(text[1:].split()[0].replace(",", "")) for text in told if "were not read" in text)
    assert counted > 3 * 1024 * 1024
    assert sum(map(len, told)) < 300_000
