"""Self evolution on real git repositories, through the real counter."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolcrib import ConfigError, Toolcrib
from toolcrib.engine.run import Run
from toolcrib.values.json import Json
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.result import ToolResult

pytestmark = pytest.mark.anyio

KIT = "self_evolution_toolkit"
CHECK = [sys.executable, "-c", "import pathlib, sys; sys.exit('bug' in pathlib.Path('src/app.py').read_text())"]


@dataclass
class Place:
    """A repository, a home beside it, and what was asked."""

    root: Path
    settings: dict[str, Json]
    crib: Toolcrib | None = None
    asked: list[PermissionRequest] = field(default_factory=list[PermissionRequest])

    @property
    def repository(self) -> Path:
        return self.root / "repo"

    def git(self, *words: str) -> str:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_AUTHOR_NAME": "U", "GIT_AUTHOR_EMAIL": "u@x",
            "GIT_COMMITTER_NAME": "U", "GIT_COMMITTER_EMAIL": "u@x", "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        command = ["git", "-C", str(self.repository), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    @asynccontextmanager
    async def run(self, caller: str = "model", **config: Json) -> AsyncIterator[Run]:
        async def ask(request: PermissionRequest) -> PermissionDecision:
            self.asked.append(request)
            return PermissionDecision("allow_once")

        settings: dict[str, Json] = {
            "toolsets": [], "tools_config": {"main": {KIT: True}}, "self_evolution": self.settings,
            "tools.sandbox": "off", **config,
        }  # fmt: skip
        opened = Toolcrib.open(home=self.root / "home", config=settings, asker=ask)
        async with opened as self.crib, self.crib.run(caller=caller) as run:
            yield run


@pytest.fixture
def place(tmp_path: Path) -> Place:
    repository = tmp_path / "repo"
    (repository / "src").mkdir(parents=True)
    made = Place(
        tmp_path,
        {
            "repository": str(repository),
            "allowed_paths": ["src/**"],
            "checks": [CHECK],
            "push_to": str(tmp_path / "far"),
        },
    )
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    (repository / "src" / "app.py").write_text("one\ntwo\nthree\n")
    (repository / "README.md").write_text("read me\n")
    made.git("add", ".")
    made.git("commit", "-qm", "first")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "far")], check=True)
    return made


def diff(old: str, new: str, path: str = "src/app.py") -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-{old}\n+{new}\n three\n"


async def done(run: Run, name: str, /, **arguments: Json) -> ToolResult:
    result = await run.call(f"self_evolution.{name}", arguments)
    assert result.ok, result.error
    return result


async def refused(run: Run, name: str, /, **arguments: Json) -> str:
    result = await run.call(f"self_evolution.{name}", arguments)
    assert result.error is not None, result.text
    return f"{result.error.code}: {result.error.message}"


async def committed(run: Run, new: str = "2") -> str:
    await done(run, "begin", name="work")
    await done(run, "patch", path="src/app.py", unified_diff=diff("two", new))
    return str((await done(run, "commit", message="Count", paths=["src/app.py"])).metadata["commit"])


# The whole way.


async def test_a_change_goes_from_a_branch_to_an_approved_push(place: Place):
    async with place.run() as run:
        commit = await committed(run)
        assert place.git("rev-parse", "HEAD") == commit
        assert place.git("symbolic-ref", "--short", "HEAD") == "evolve/work"
        assert place.git("status", "--porcelain") == ""
        assert place.git("show", "-s", "--format=%an|%ae|%s") == "toolcrib agent main|agent@toolcrib.invalid|Count"
        assert "the checks were not run" in await refused(run, "propose", title="Count", description="Digits.")
        assert (await done(run, "check")).metadata["passed"] is True
        proposal = str((await done(run, "propose", title="Count", description="Digits.")).metadata["proposal"])
        assert (await run.call("self_evolution.push", {"proposal": proposal})).error.code == "tool_not_available"
        assert (await run.call("self_evolution.approve", {"proposal": proposal})).error.code == "tool_not_available"
    async with place.run(caller="person") as run:
        assert "+2" in (await done(run, "show", proposal=proposal)).text
        assert "is proposed, not approved" in await refused(run, "push", proposal=proposal)
        await done(run, "approve", proposal=proposal)
        await done(run, "push", proposal=proposal)
        assert "is pushed, not approved" in await refused(run, "push", proposal=proposal)
    assert place.git("--git-dir", str(place.root / "far"), "rev-parse", "evolve/work") == commit
    assert place.git("rev-parse", "main") == place.git("rev-parse", f"{commit}^")


@pytest.mark.slow
async def test_the_way_is_the_same_inside_a_sandbox(place: Place):
    place.settings["checks"] = [["grep", "-q", "2", "src/app.py"]]
    async with place.run(**{"tools.sandbox": "auto"}) as run:
        first = await committed(run)
        assert (await done(run, "check")).metadata["passed"] is True
        proposal = str((await done(run, "propose", title="Count", description="x")).metadata["proposal"])
        await done(run, "revert", commit=first, paths=["src/app.py"])
        place.git("update-ref", "refs/heads/evolve/work", first)
    async with place.run(caller="person", **{"tools.sandbox": "auto"}) as run:
        await done(run, "approve", proposal=proposal)
        await done(run, "push", proposal=proposal)
    assert place.git("--git-dir", str(place.root / "far"), "rev-parse", "evolve/work") == first


async def test_every_step_is_on_record(place: Place):
    async with place.run() as run:
        await committed(run)
        await done(run, "check")
        events = place.crib.events(run.origin.session_id, follow_on=False)
        kinds = [event.type async for event in events]
    assert [kind for kind in kinds if kind.startswith(("self_evolution_", "file_"))] == [
        "self_evolution_began", "file_changed", "self_evolution_committed", "self_evolution_checked",
    ]  # fmt: skip


async def test_what_a_call_touches_is_declared_before_anyone_is_asked(place: Place):
    async with place.run() as run:
        await committed(run)
        await done(run, "check")
    told = {request.tool.removeprefix("self_evolution."): request for request in place.asked}
    root = str(place.repository)
    assert [target.value for target in told["begin"].targets] == [f"{root} branch evolve/work"]
    assert [target.value for target in told["patch"].targets] == [f"{root}/src/app.py"]
    assert [target.value for target in told["commit"].targets] == [f"{root} branch evolve/work", f"{root}/src/app.py"]
    assert [target.kind for target in told["check"].targets] == ["command"]


async def test_a_failed_check_cannot_be_proposed(place: Place):
    async with place.run() as run:
        await committed(run, new="bug")
        assert (await done(run, "check")).metadata["passed"] is False
        assert "the checks failed" in await refused(run, "propose", title="Bug", description="Bug.")


async def test_a_check_of_uncommitted_changes_does_not_count(place: Place):
    async with place.run() as run:
        await committed(run)
        await done(run, "patch", path="src/app.py", unified_diff=diff("2", "4"))
        assert (await done(run, "check")).metadata["clean"] is False
        assert "in no commit" in await refused(run, "propose", title="Count", description="Digits.")


async def test_a_commit_is_taken_back_by_a_commit(place: Place):
    async with place.run() as run:
        first = await committed(run)
        new = "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1 @@\n+fresh\n"
        await done(run, "patch", path="src/new.py", unified_diff=new, create_if_missing=True)
        second = str((await done(run, "commit", message="New", paths=["src/new.py"])).metadata["commit"])
        assert "give ['src/app.py']" in await refused(run, "revert", commit=first, paths=["src/new.py"])
        await done(run, "revert", commit=first[:12], paths=["src/app.py"])
        await done(run, "revert", commit=second, paths=["src/new.py"])
    assert (place.repository / "src" / "app.py").read_text() == "one\ntwo\nthree\n"
    assert not (place.repository / "src" / "new.py").exists()
    assert place.git("status", "--porcelain") == ""
    assert place.git("rev-parse", "HEAD^{tree}") == place.git("rev-parse", "main^{tree}")


async def test_only_commits_of_the_branch_are_taken_back(place: Place):
    async with place.run() as run:
        await committed(run)
        base = place.git("rev-parse", "main")
        assert "is not one commit of this branch" in await refused(run, "revert", commit=base, paths=["src/app.py"])


async def test_a_later_change_of_the_same_lines_stands_in_the_way_of_taking_back(place: Place):
    async with place.run() as run:
        first = await committed(run)
        await done(run, "patch", path="src/app.py", unified_diff=diff("2", "4"))
        assert "commit that first" in await refused(run, "revert", commit=first, paths=["src/app.py"])
        await done(run, "commit", message="Four", paths=["src/app.py"])
        assert "later commits changed the same lines" in await refused(
            run, "revert", commit=first, paths=["src/app.py"]
        )
    assert (place.repository / "src" / "app.py").read_text() == "one\n4\nthree\n"


# The state of the repository.


async def test_a_dirty_tree_is_not_begun_on(place: Place):
    (place.repository / "README.md").write_text("mine\n")
    async with place.run() as run:
        assert "changes that are in no commit: README.md" in await refused(run, "begin", name="work")
    assert place.git("symbolic-ref", "--short", "HEAD") == "main"


async def test_what_somebody_else_staged_stays_out_of_a_commit(place: Place):
    async with place.run() as run:
        await done(run, "begin", name="work")
        (place.repository / "README.md").write_text("theirs\n")
        place.git("add", "README.md")
        await done(run, "patch", path="src/app.py", unified_diff=diff("two", "2"))
        result = await done(run, "commit", message="Count", paths=["src/app.py"])
    assert "still in no commit: README.md" in result.text
    assert place.git("show", "--name-only", "--format=") == "src/app.py"
    assert place.git("diff", "--cached", "--name-only") == "README.md"


async def test_a_detached_head_is_said_to_be_one(place: Place):
    place.git("checkout", "-q", "--detach")
    async with place.run() as run:
        assert "HEAD is detached" in await refused(run, "begin", name="work")
        assert "HEAD is detached" in await refused(run, "patch", path="src/app.py", unified_diff=diff("two", "2"))
        assert "HEAD is detached" in (await done(run, "list")).text


async def test_nothing_is_changed_on_a_branch_of_the_user(place: Place):
    async with place.run() as run:
        for name, arguments in (
            ("patch", {"path": "src/app.py", "unified_diff": diff("two", "2")}),
            ("commit", {"message": "x", "paths": ["src/app.py"]}),
            ("check", {}),
            ("propose", {"title": "x", "description": "x"}),
        ):
            assert "main is checked out, which is not a branch of self evolution" in await refused(
                run, name, **arguments
            )
    assert place.git("status", "--porcelain") == ""


async def test_a_merge_under_way_is_not_begun_in(place: Place):
    (place.repository / ".git" / "MERGE_HEAD").write_text(place.git("rev-parse", "HEAD"))
    async with place.run() as run:
        assert "a merge is under way" in await refused(run, "begin", name="work")


async def test_a_branch_that_moved_after_its_approval_is_not_pushed(place: Place):
    async with place.run() as run:
        await committed(run)
        await done(run, "check")
        proposal = str((await done(run, "propose", title="Count", description="x")).metadata["proposal"])
    async with place.run(caller="person") as run:
        await done(run, "approve", proposal=proposal)
        place.git("commit", "-q", "--allow-empty", "-m", "moved")
        assert "has moved since" in await refused(run, "push", proposal=proposal)


async def test_another_git_at_work_is_a_clear_conflict(place: Place):
    async with place.run() as run:
        await done(run, "begin", name="work")
        await done(run, "patch", path="src/app.py", unified_diff=diff("two", "2"))
        lock = place.repository / ".git" / "refs" / "heads" / "evolve" / "work.lock"
        lock.touch()
        head = place.git("rev-parse", "HEAD")
        assert "another git process is at work" in await refused(run, "commit", message="x", paths=["src/app.py"])
    assert place.git("rev-parse", "HEAD") == head
    assert not list((place.repository / ".git").glob("toolcrib-*"))


async def test_a_branch_is_begun_once(place: Place):
    async with place.run() as run:
        await done(run, "begin", name="work")
        assert "there is a branch evolve/work already" in await refused(run, "begin", name="work")


async def test_an_unchanged_file_is_not_committed(place: Place):
    async with place.run() as run:
        await done(run, "begin", name="work")
        assert "nothing has changed there" in await refused(run, "commit", message="x", paths=["src/app.py"])


# Hostile paths and hostile repositories.

PATHS = [
    "../outside.txt", "/etc/passwd", "src/../../outside.txt", ".git/config", ".git/hooks/post-commit", ".GIT/config",
    "README.md", "src/../README.md", "src/link-out/x", "src/link-in", "/workspace/README.md", "src/../.git/config",
]  # fmt: skip


def files(place: Place) -> dict[Path, bytes]:
    found = [each for each in place.root.rglob("*") if each.is_file() and "home" not in each.parts]
    return {each: each.read_bytes() for each in found}


@pytest.mark.parametrize("path", PATHS)
async def test_no_path_leads_out_of_what_is_allowed(place: Place, path: str):
    (place.repository / "src" / "link-out").symlink_to(place.root)
    (place.repository / "src" / "link-in").symlink_to("../README.md")
    async with place.run() as run:
        await done(run, "begin", name="work")
        before = files(place)
        told = await refused(run, "patch", path=path, unified_diff="@@ -0,0 +1 @@\n+x\n", create_if_missing=True)
        assert told.split(":")[0] in ("write_outside_allowed_roots", "path_outside_root"), told
    assert files(place) == before


async def test_gits_own_folder_is_not_read(place: Place):
    async with place.run() as run:
        assert "belongs to git itself" in await refused(run, "read", path=".git/config")
        assert "one" in (await done(run, "read", path="src/app.py")).text


def trap(place: Place, name: str) -> Path:
    """A program that leaves a trace when it is run."""
    program = place.root / f"{name}.sh"
    program.write_text(f'#!/bin/sh\necho {name} >> "{place.root}/sprung"\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def set_traps(place: Place) -> None:
    repository = place.repository
    for hook in (
        "pre-commit", "post-commit", "prepare-commit-msg", "commit-msg", "reference-transaction", "post-checkout",
        "post-index-change", "pre-push", "post-merge",
    ):  # fmt: skip
        target = repository / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.write_text(trap(place, hook).read_text())
        target.chmod(0o755)
    hooks = place.root / "hooks"
    hooks.mkdir()
    (hooks / "reference-transaction").symlink_to(trap(place, "hooks-path"))
    for key, name in (
        ("core.fsmonitor", "fsmonitor"), ("diff.external", "external"), ("core.pager", "pager"),
        ("core.editor", "editor"), ("credential.helper", "helper"), ("core.sshCommand", "ssh"),
        ("diff.t.textconv", "textconv"), ("diff.t.command", "command"), ("merge.t.driver", "driver"),
        ("filter.t.clean", "clean"), ("filter.t.smudge", "smudge"), ("filter.t.process", "process"),
        ("gpg.program", "gpg"), ("remote.far.receivepack", "receivepack"),
    ):  # fmt: skip
        place.git("config", key, str(trap(place, name)))
    place.git("config", "filter.t.required", "true")
    place.git("config", "commit.gpgSign", "true")
    place.git("config", "core.hooksPath", str(hooks))
    (repository / ".git" / "info" / "attributes").write_text("*.md diff=t merge=t filter=t\n*.py diff=t merge=t\n")
    (place.root / "sprung").unlink(missing_ok=True)


async def test_nothing_that_a_repository_names_is_run(place: Place):
    set_traps(place)
    os.utime(place.repository / "README.md", (1, 1))
    async with place.run() as run:
        await done(run, "list")
        first = await committed(run)
        await done(run, "check")
        proposal = str((await done(run, "propose", title="Count", description="x")).metadata["proposal"])
        await done(run, "show", proposal=proposal)
    async with place.run(caller="person") as run:
        await done(run, "approve", proposal=proposal)
        await done(run, "push", proposal=proposal)
    async with place.run() as run:
        await done(run, "revert", commit=first, paths=["src/app.py"])
    assert not (place.root / "sprung").exists(), (place.root / "sprung").read_text()


async def test_a_file_that_needs_a_filter_is_not_committed(place: Place):
    set_traps(place)
    async with place.run(self_evolution={**place.settings, "allowed_paths": ["**"]}) as run:
        await done(run, "begin", name="work")
        patch = "@@ -1 +1 @@\n-read me\n+read it\n"
        await done(run, "patch", path="README.md", unified_diff=patch)
        told = await refused(run, "commit", message="x", paths=["README.md"])
    assert "README.md goes through the filter 't'" in told
    assert not (place.root / "sprung").exists()


async def test_variables_for_git_do_not_reach_it(place: Place, monkeypatch: pytest.MonkeyPatch):
    other = place.root / "other"
    place.git("init", "-q", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(place.root / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap(place, "variable")))
    config: dict[str, Any] = {"tools.env_allowlist": ["PATH", "HOME", "GIT_DIR", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF"]}
    async with place.run(**config) as run:
        listed = (await done(run, "list")).text
    assert "src/app.py" in listed
    assert not (place.root / "sprung").exists()


async def test_addresses_that_a_repository_rewrites_are_not_pushed_to(place: Place):
    async with place.run() as run:
        await committed(run)
        await done(run, "check")
        proposal = str((await done(run, "propose", title="Count", description="x")).metadata["proposal"])
    place.git("config", f"url.{place.root}/elsewhere.insteadOf", str(place.root / "far"))
    async with place.run(caller="person") as run:
        await done(run, "approve", proposal=proposal)
        assert "rewrite addresses" in await refused(run, "push", proposal=proposal)


# Configuration and switch.


async def test_the_switch_brings_the_tools_and_nothing_else_does(place: Place):
    async with place.run(tools_config={}) as run:
        assert not [name for name in run.tools if name.startswith("self_evolution.")]
    async with place.run(tools_config={}, toolsets=["self_evolution"]) as run:
        why = run.tools.why("self_evolution.patch")
        assert why == "off: toolkit self_evolution_toolkit leaves it off by default"
        assert "- Self evolution: self_evolution.list" in run.guidance
    async with place.run() as run:
        assert "self_evolution.patch" in run.tools
        assert run.guidance.startswith("## Self evolution\n1. Begin every piece of work with self_evolution.begin")
        assert "- Self evolution, in part: self_evolution.approve, self_evolution.push." in run.guidance


async def test_talk_of_its_own_code_brings_the_tools_into_focus(place: Place):
    async with place.run() as run:
        assert run.focus("what is the weather?").json() == {"active_tools": None, "tool_choice": "auto"}
        focus = run.focus("Please fix a bug in your own code")
        assert focus.choice == "required"
        assert "self_evolution.patch" in focus.active
        assert "self_evolution.push" not in focus.active


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "self evolution needs a repository"),
        ({"repository": "ROOT/repo/src"}, "is not a git repository of its own"),
        ({"repository": "ROOT/nowhere"}, "cannot be used"),
    ],
)
async def test_a_switch_without_a_repository_is_an_error_at_the_start(place: Place, settings, told):
    settings = {name: value.replace("ROOT", str(place.root)) for name, value in settings.items()}
    with pytest.raises(ConfigError, match=told):
        async with place.run(self_evolution=settings):
            pass
