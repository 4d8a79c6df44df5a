"""The worked example of the policy guide, walked through as it stands: files written, commands run, answers read."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from toolcrib.cli.program import run

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "policy.md"
BLOCK = re.compile(r"^```(toml file=(?P<file>\S+)|console)\n(?P<body>.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_worked_example_of_the_policy_guide_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("home", "project"):
        (tmp_path / folder).mkdir()
    blocks = list(BLOCK.finditer(GUIDE.read_text()))
    assert len([block for block in blocks if not block["file"]]) >= 5
    for block in blocks:
        if block["file"]:
            path = tmp_path / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["body"])
        else:
            assert squeezed(transcript(block["body"], tmp_path)) == squeezed(block["body"])


def squeezed(text: str) -> str:
    """How wide a column is depends on how long a path is, which the guide leaves out."""
    return re.sub(r"  +", "  ", text)


def transcript(body: str, folder: Path) -> str:
    """The same commands with what they say now."""
    lines: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ toolcrib "):
            lines += [line, *said(shlex.split(line)[2:], folder)]
    return "\n".join([*lines, ""])


def said(arguments: list[str], folder: Path) -> list[str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    told = [_lines(out, folder), [f"! {line}" for line in _lines(err, folder)], [f"[exit {code}]"] if code else []]
    return [line for part in told for line in part]


def _lines(stream: io.TextIOWrapper, folder: Path) -> list[str]:
    assert isinstance(stream.buffer, io.BytesIO)
    text = stream.buffer.getvalue().decode().replace(f"{folder}/", "").replace(str(folder), "")
    return text.splitlines()
