"""Damaged answers of every format: no exception, no lost character, no invented call, no blow-up.

`TOOLCRIB_FUZZ_SECONDS` sets how long both tests go on; `TOOLCRIB_FUZZ_SEED` repeats a run.
"""

from __future__ import annotations

import gc
import os
import random
import time

import pytest
from samples import MINIMAL, NESTED, PARALLEL, TOOLS, TYPED, stream

from toolcrib.dialects import Parsed, parse
from toolcrib.dialects.formats import FORMATS
from toolcrib.dialects.render import render_calls

SECONDS = os.environ.get("TOOLCRIB_FUZZ_SECONDS")
SEED = int(os.environ.get("TOOLCRIB_FUZZ_SEED", "20250101"))
TOKENS = sorted(
    {
        token
        for spec in FORMATS.values()
        for token in (
            *spec.opens,
            *spec.closes,
            *spec.reasoning,
            *spec.drops,
            *(part for pair in spec.wraps for part in pair),
        )
        if token
    }
)
WORDS = [
    "tide_at",
    "nope",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\\",
    "\n",
    " ",
    "`",
    "```",
    "<",
    ">",
    "é",
    "🚢",
    ",",
]
SECONDS_PER_CHARACTER = 60e-6


def test_damaged_answers_never_break_the_parser() -> None:
    fuzz(float(SECONDS or 3), SEED)


@pytest.mark.slow
def test_damaged_answers_never_break_the_parser_for_ten_minutes() -> None:
    fuzz(float(SECONDS or 600), SEED + 1)


def fuzz(seconds: float, seed: int) -> None:
    choose = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        dialect = choose.choice([*FORMATS])
        text = damaged(dialect, choose)
        check(text, choose.choice([dialect, None, choose.choice([*FORMATS])]), choose)


def damaged(dialect: str, choose: random.Random) -> str:
    """A few calls in one format with prose around, then cut, doubled, swapped or spliced with markup."""
    parts = [choose.choice(["", "Look:\n", "<think>hm</think>", "`x` ", "a < b [c] {d}\n"])]
    for _ in range(choose.randint(1, 3)):
        calls = choose.choice([MINIMAL, PARALLEL, NESTED, TYPED])
        parts += [render_calls(calls, dialect), choose.choice(["", "\n", "\nDone.", " and "])]
    text = "".join(parts)
    for _ in range(choose.randint(0, 4)):
        start = choose.randrange(len(text) + 1)
        stop = min(len(text), start + choose.choice([0, 1, 1, 3, 20]))
        middle = choose.choice(["", choose.choice(TOKENS), choose.choice(WORDS), text[start:stop] * 2])
        text = text[:start] + middle + text[stop:]
    return text if choose.random() < 0.8 else text[: choose.randrange(len(text) + 1)]


def check(text: str, dialect: str | None, choose: random.Random) -> None:
    thinking = choose.random() < 0.1
    gc.disable()  # collecting what other tests left behind would count as parsing
    began = time.process_time()
    whole = parse(text, TOOLS, dialect, thinking)
    spent = time.process_time() - began
    gc.enable()
    said = f"{dialect} {thinking} {text!r}"
    assert spent < 0.05 + SECONDS_PER_CHARACTER * len(text), said
    size = choose.choice([1, 1, 2, 3, 7])
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    assert stream(parts, dialect, start_in_reasoning=thinking) == whole, said
    assert tiles(whole, len(text)), said
    known = {tool["function"]["name"] for tool in TOOLS}
    for call in whole.calls:
        assert call.name in text, said
        assert dialect is not None or call.name in known, said


def tiles(parsed: Parsed, size: int) -> bool:
    position = 0
    for span in parsed.spans:
        if span.start != position or span.end <= span.start:
            return False
        position = span.end
    return position == size
