"""`agents` and `toolkits` at the command line say when a name is probably misspelt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def home(folder: Path) -> Path:
    home = folder.parent / "me" / ".toolcrib"
    (home / "agents").mkdir(mode=0o700, parents=True)
    return home


def test_a_toolset_that_brings_nothing_is_pointed_out(toolcrib: Command, home: Path) -> None:
    (home / "agents" / "reviewer.yaml").write_text("toolsets:\n  filesystem: {}\n  shel: {}\n")
    done = toolcrib("agents", "show", "reviewer")
    assert done.code == 0
    assert "no tool here belongs to shel;" in done.err


def test_a_switch_for_an_agent_that_is_not_defined_is_not_written(toolcrib: Command, home: Path) -> None:
    (home / "agents" / "reviewer.yaml").write_text("toolsets:\n  filesystem: {}\n")
    wrong = toolcrib("toolkits", "on", "memory", "--agent", "reviwer")
    assert (wrong.code, "did you mean 'reviewer'?" in wrong.err) == (1, True)
    assert not (home / "config.toml").exists()
    assert toolcrib("toolkits", "on", "memory", "--agent", "reviewer").code == 0
