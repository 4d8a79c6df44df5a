"""The guides to commands and modules, walked through as a newcomer would: every line that they show works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


def block(page: str, language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", (GUIDE / page).read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group(1)


def walk(page: str, home: Path, project: Path) -> list[str]:
    """Type what the page types, in the project; returns what each line printed."""
    environment = {**os.environ, "TOOLCRIB_HOME": str(home)}
    printed: list[str] = []
    for line in block(page, "console").splitlines():
        words = shlex.split(line.removeprefix("$ "))
        assert words[0] == "toolcrib"
        command = [sys.executable, "-m", "toolcrib.cli", *words[1:]]
        done = subprocess.run(command, env=environment, cwd=project, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        printed.append(done.stdout)
    return printed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "README.md").write_text("one two three\n")
    return tmp_path / "project"


def test_the_guide_to_commands_leads_to_a_tool_that_works(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    printed = walk("declared.md", home, project)
    assert printed[1] == "3 README.md\n\n"
    (home / "tools" / "text.count.json").write_text(block("declared.md", "json"))
    assert walk_one(home, project, "tools", "call", "text.count", "file=README.md") == "3 README.md\n\n"


def test_the_guide_to_modules_leads_to_tools_that_work(tmp_path: Path, project: Path) -> None:
    agents = tmp_path / "home" / "agents"
    agents.mkdir(parents=True)
    (agents / "maths.py").write_text(block("modules.md", "python"))
    (agents / "maths.yaml").write_text(block("modules.md", "yaml"))
    printed = walk("modules.md", tmp_path / "home", project)
    assert [word in printed[1] for word in ("custom.fibonacci", "custom.area", "custom.power")] == [True] * 3
    assert printed[2] == "55\n"


def walk_one(home: Path, project: Path, *words: str) -> str:
    environment = {**os.environ, "TOOLCRIB_HOME": str(home)}
    command = [sys.executable, "-m", "toolcrib.cli", *words]
    done = subprocess.run(command, env=environment, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
