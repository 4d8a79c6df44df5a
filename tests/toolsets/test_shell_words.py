"""What a shell does itself: lines of which every part is allowed or idle run unasked, and nothing hides behind it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolcrib import PermissionDecision, PermissionRequest, Toolcrib
from toolcrib.engine.run import Run

pytestmark = pytest.mark.anyio
RULES = ["git", "ls", "cat", "tail", "touch"]
UNASKED = [
    "true", ":", "false", "pwd", "echo hi", "ls; pwd", "cd x && ls", "cd x/.. && cat x/f", "cd x && cat ../f",
    "cd x && git status | cat", "git status && echo clean || echo dirty", "ls || true", "echo hi >/dev/null",
    "cd x && touch new", "tail -n 5 f", "git stash list", "git restore --staged f", "git restore -S -q f",
]  # fmt: skip
ASKED = [
    "cd", "cd - && ls", "cd .. && ls", "cd /etc && cat passwd", "cd link && ls", "cd link/.. && ls", "cd none && ls",
    "cd x; ls", "cd x || ls", "cd x | ls", "ls | cd x && cat f", "ls; cd x && cat f", "cd x&&ls; cat f", "cd x\ncat f",
    "cd x* && ls", "cd -P x && ls", "cd x && cat ../../outside", "cd x && cat .env", "cd .git && touch config",
    "echo hi | cat", "echo *", "echo hi > f", "echo $HOME", "/bin/echo hi", "./echo hi", "printf x", "true; rm f",
    "cd x && rm f", "git restore f", "git restore --staged --worktree f", "git restore --staged -s HEAD f",
    "git fetch --dry-run",
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "x").mkdir(parents=True)
    for name in ("f", "x/f", "x/.env", "../outside"):
        (project / name).write_text("text")
    (project / "link").symlink_to("/etc")
    subprocess.run(["git", "init", "-q", project], check=True)
    return project


@pytest.fixture
def asked() -> list[PermissionRequest]:
    return []


def opened(project: Path, asked: list[PermissionRequest], rules: list[str]) -> Toolcrib:
    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request)
        return PermissionDecision("deny")

    config = {"policy": {"commands": [{"pattern": rule, "verdict": "allow"} for rule in rules]}}
    return Toolcrib.open(home=project.parent / "home", project=project, config=config, asker=ask)


@pytest.fixture
async def run(project: Path, asked: list[PermissionRequest]) -> AsyncIterator[Run]:
    async with opened(project, asked, RULES) as crib, crib.run() as run:
        yield run


async def unasked(run: Run, asked: list[PermissionRequest], lines: list[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        asked.clear()
        await run.user_message("go on")
        await run.call("shell.run", {"command": line})
        found += [] if asked else [line]
    return found


async def test_a_line_of_allowed_and_idle_parts_runs_without_a_question(run: Run, asked) -> None:
    assert await unasked(run, asked, UNASKED) == UNASKED


async def test_a_line_that_could_lead_elsewhere_asks(run: Run, asked) -> None:
    assert await unasked(run, asked, ASKED) == []


async def test_where_no_command_is_allowed_idle_words_ask_too(project: Path, asked) -> None:
    async with opened(project, asked, []) as crib, crib.run() as run:
        assert await unasked(run, asked, ["true", "pwd", "echo hi", "cd x"]) == []


async def test_what_follows_a_cd_runs_in_its_folder(run: Run, project: Path) -> None:
    result = await run.call("shell.run", {"command": "cd x && pwd && touch made"})
    assert result.ok
    assert str(project / "x") in result.text
    assert (project / "x" / "made").exists()


async def test_a_rule_against_an_idle_word_holds(project: Path, asked) -> None:
    rules = [{"pattern": "git", "verdict": "allow"}, {"pattern": "cd", "verdict": "deny"}]
    async with (
        Toolcrib.open(home=project.parent / "home", project=project, config={"policy": {"commands": rules}}) as crib,
        crib.run() as run,
    ):
        assert (await run.call("shell.run", {"command": "git status; true"})).ok
        assert (await run.call("shell.run", {"command": "cd x && git status"})).reason == "permission_denied"


async def test_ordinary_files_laid_out_as_a_repository_make_git_run_nothing(run: Run, project: Path, asked) -> None:
    planted = project / "x" / "planted"
    for folder in ("objects", "refs"):
        (planted / folder).mkdir(parents=True)
    (planted / "HEAD").write_text("ref: refs/heads/main\n")
    (planted / "config").write_text(
        f"[core]\n\tbare = false\n\tworktree = {planted}\n\tfsmonitor = touch {project / 'ran'}; false\n"
    )
    assert "ran" not in os.listdir(project)
    for call in ({"command": "git status", "cwd": "x/planted"}, {"command": "cd x/planted && git status"}):
        assert "cannot use bare repository" in (await run.call("shell.run", call)).text
    assert (asked, "ran" in os.listdir(project)) == ([], False)
