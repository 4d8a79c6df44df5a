"""The command line under test: in this process for its output, in processes of its own for terminals and signals."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolcrib.cli.program import run

FOLDER = Path(__file__).parent / "folder"


@dataclass(frozen=True, slots=True)
class Done:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


Toolcrib = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tools to stand in, and a user's home beside it."""
    here = tmp_path / "here"
    shutil.copytree(FOLDER, here, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "me").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("TOOLCRIB_HOME", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LOGNAME", "me")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "notes", raising=False)
    return here


@pytest.fixture
def toolcrib(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Toolcrib:
    """Runs the program on arguments, without a terminal; `typed` is its standard input."""

    def command(*arguments: str, typed: str = "") -> Done:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with redirect_stdout(out), redirect_stderr(err):
            code = run(arguments)
        return Done(int(code), _text(out), _text(err))

    return command


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    """The environment for commands in processes of their own."""
    return {**os.environ, "TERM": "xterm"}


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
