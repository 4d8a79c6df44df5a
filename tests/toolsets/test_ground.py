"""Files and commands of one run work on the same ground, whichever workspace the run was given."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from toolcrib import Toolcrib
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "name.txt").write_text(folder.name)
    return one, two


@pytest.mark.parametrize("sandbox", ["off", "auto"])
async def test_files_and_commands_see_the_workspace_of_their_run(
    tmp_path: Path, folders: tuple[Path, Path], sandbox: str
) -> None:
    one, two = folders
    asker = ScriptedAsker.always("allow_once")
    config = {"tools.sandbox": sandbox}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=one, config=config, asker=asker) as crib,
        crib.run() as first,
        crib.run(workspace=two) as second,
    ):
        for run, folder in ((first, one), (second, two), (first, one)):
            read = await run.call("code.read_file", {"path": "name.txt"})
            shown = await run.call("shell.run", {"command": "pwd; cat name.txt"})
            assert read.text.startswith(folder.name), read.text
            assert shown.text.splitlines() == [str(folder), folder.name]


async def test_a_command_cannot_leave_the_workspace_of_its_run_without_being_asked_about_it(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    one, two = folders
    asker = ScriptedAsker.always("deny")
    config = {"policy": {"commands": [{"pattern": "cat", "verdict": "allow"}]}, "tools": {"sandbox": "off"}}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=one, config=config, asker=asker) as crib,  # type: ignore[arg-type]
        crib.run(workspace=two) as run,
    ):
        assert (await run.call("code.run_command", {"argv": ["cat", "name.txt"]})).ok
        assert asker.requests == []
        outside = await run.call("code.run_command", {"argv": ["cat", str(one / "name.txt")]})
    assert outside.reason == "permission_denied"
    assert "outside" in asker.requests[0].because


DEEP = {
    "grep -r KEY .": ".env",
    "grep -nR KEY": ".env",
    "grep --recursive KEY lib": None,
    "grep KEY name.txt": None,
    "rg KEY": None,
    "rg --hidden KEY": ".env",
    "rg -u KEY .": ".env",
    "rg KEY keys": "keys/server.pem",
    "diff -r keys lib": "keys/server.pem",
    "diff name.txt .env.example": None,
    "cat .env.example": None,
    "rg -g .env KEY": ".env",
    "rg -g *.{env,py} KEY": ".env",
    "rg --glob=* KEY": ".env",
    "rg -g {lib/a.py,.env} KEY": ".env",
    "rg -g {.env,lib/a.py} KEY": ".env",
    "rg -g .en\\v KEY": ".env",
    "rg -g .[e/]nv KEY": ".env",
    "rg -g lib/{a,b}.py KEY": None,
    "rg -g **/{lib,src}/*.py KEY": None,
    "rg -g *.py KEY": None,
    "rg -g !*.py KEY": None,
    "rg --type-add x:.env -tx KEY": ".env",
    "rg -tpy KEY": None,
    "rg -L KEY links": "outside/notes",
    "grep -R KEY links": "outside/notes",
    "grep -r KEY links": None,
    "diff -r links lib": "outside/notes",
    "rg KEY links": None,
    "grep -rn --include=*.py KEY .": None,
    "grep -rn --include=.e* KEY .": ".env",
    "rg KEY again": "again/.env",
    "rg --files keys": "keys/server.pem",
    "git grep --untracked KEY": ".env",
    "cp -rL links copied": "outside/notes",
    "cp -r links copied": None,
    "cp lib/.bashrc .": ".bashrc",
    "cp lib/a.py again": None,
    "git grep KEY": None,
    "git cat-file -p HEAD:.env": ".env",
}


@pytest.mark.parametrize(("line", "found"), DEEP.items())
async def test_a_command_that_reads_a_whole_tree_asks_when_there_are_secrets_in_it(
    tmp_path: Path, folders: tuple[Path, Path], line: str, found: str | None
) -> None:
    project = folders[0]
    names = (".env", ".env.example", "keys/server.pem", "lib/a.py", "lib/site-packages/certifi/cacert.pem")
    for name in (*names, "again/.env", "lib/.bashrc", "links/a.py", "../outside/notes/a.txt"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("KEY=1\n")
    (project / "again" / ".ignore").write_text("*.log\n!.e*\n" if "again" in line else "!other\n")
    (project / "links" / "notes").symlink_to(tmp_path / "outside" / "notes")
    (project / "links" / "round").symlink_to(".")
    if "keys" not in line:
        (project / "keys" / "server.pem").unlink()
    asker = ScriptedAsker.always("deny")
    rules = [{"pattern": name, "verdict": "allow"} for name in ("grep", "rg", "diff", "cat", "git", "cp")]
    config = {"policy": {"commands": rules}, "tools": {"sandbox": "off"}}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=project, config=config, asker=asker) as crib,  # type: ignore[arg-type]
        crib.run() as run,
    ):
        result = await run.call("code.run_command", {"argv": line.split()})
    if found is None:
        assert (asker.requests, result.reason) == ([], None), result.text
    else:
        place = tmp_path if found.startswith("outside") else project
        assert str(place / found) in [target.value for target in asker.requests[0].targets]


async def test_names_that_the_operator_adds_are_left_out_of_searches_and_asked_about(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    project = folders[0]
    for name in ("vault/plan.md", "deploy/prod.conf", "notes.md"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("needle\n")
    asker = ScriptedAsker.always("deny")
    rules = [{"pattern": name, "verdict": "allow"} for name in ("rg", "cat", "tee")]
    tools = {"sensitive_paths": ["vault", "deploy/*.conf"], "protected_paths": ["notes.md"], "sandbox": "off"}
    async with (
        Toolcrib.open(
            home=tmp_path / "home",
            project=project,
            config={"tools": tools, "policy": {"commands": rules}},  # type: ignore[arg-type]
            asker=asker,
        ) as crib,
        crib.run() as run,
    ):
        found = await run.call("code.search", {"query": "needle"})
        assert asker.requests == []
        calls = [
            ("code.read_file", {"path": "vault/plan.md"}),
            ("code.write_file", {"path": "notes.md", "content": "x", "overwrite": True}),
            ("code.run_command", {"argv": ["rg", "needle"]}),
            ("code.run_command", {"argv": ["tee", "notes.md"]}),
        ]
        because = []
        for tool, arguments in calls:
            await run.call(tool, arguments)  # type: ignore[arg-type]
            because.append(asker.requests[-1].targets[-1].marks)
    assert (found.metadata["files"], found.metadata["sensitive_left_out"]) == (1, 2)
    assert because == [{"sensitive"}, {"protected"}, {"sensitive"}, {"protected"}]


async def test_every_run_has_a_scratch_folder_of_its_own(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    asker = ScriptedAsker.always("allow_once")
    async with (
        Toolcrib.open(home=tmp_path / "home", project=folders[0], asker=asker) as crib,
        crib.run() as first,
        crib.run() as second,
    ):
        assert (await first.call("workspace.write", {"path": "/scratch/note.txt", "content": "mine"})).ok
        assert (await first.call("workspace.read", {"path": "/scratch/note.txt"})).ok
        assert (await second.call("workspace.read", {"path": "/scratch/note.txt"})).reason == "file_not_found"


@pytest.mark.parametrize(("limit", "least", "most"), [(4_000, 60, 70), (60_000, 1_000, 1_000)])
async def test_a_window_of_a_file_is_as_long_as_results_may_be_and_never_an_artifact(
    tmp_path: Path, folders: tuple[Path, Path], limit: int, least: int, most: int
) -> None:
    (folders[0] / "long.txt").write_text("".join(f"line {number:>47}\n" for number in range(5_000)))
    config = {"tools.result_limit_chars": limit}
    async with Toolcrib.open(home=tmp_path / "home", project=folders[0], config=config) as crib, crib.run() as run:
        read = await run.call("code.read_file", {"path": "long.txt", "max_lines": 1_000})
    assert (read.artifacts, read.metadata["truncated"]) == ((), True)
    assert least <= read.metadata["end_line"] <= most


async def test_what_a_command_writes_is_told_while_it_runs(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    fifo = tmp_path / "go on"
    os.mkfifo(fifo)
    asker = ScriptedAsker.always("allow_once")
    config = {"tools.sandbox": "off"}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=folders[0], config=config, asker=asker) as crib,
        crib.run() as run,
    ):
        events = crib.events(session=run.origin.session_id)
        call = asyncio.create_task(run.call("shell.run", {"command": f"echo half; read x < '{fifo}'; echo whole"}))
        async with asyncio.timeout(10):
            while (event := await anext(events)).type != "tool_progress":
                pass
        await asyncio.to_thread(fifo.write_text, "x\n")
        result = await call
        await events.aclose()  # type: ignore[attr-defined]
    assert ((event.payload or {})["message"], result.text) == ("half", "half\nwhole")


async def test_what_is_told_of_a_running_command_holds_no_secret_nor_half_of_one(
    tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    first, second = "ghp_a1B2c3D4e5F6g7H8", "i9J0k1L2m3N4o5P6q7R8"
    asker = ScriptedAsker.always("allow_once")
    async with (
        Toolcrib.open(home=tmp_path / "home", project=folders[0], config={"tools.sandbox": "off"}, asker=asker) as crib,
        crib.run() as run,
    ):
        events = crib.events(session=run.origin.session_id)
        assert (await anext(events)).type
        for number, line in enumerate([f"printf 'key {first}'; sleep 0.5; echo '{second} used'", "echo ready"]):
            assert (await run.call("shell.run", {"command": f"{line}; # {number}"})).ok
        said: list[str] = []
        async with asyncio.timeout(10):
            while "ready" not in said:
                event = await anext(events)
                said += [str((event.payload or {})["message"])] if event.type == "tool_progress" else []
        await events.aclose()  # type: ignore[attr-defined]
    assert any("used" in message for message in said)
    assert not any(part in message for message in said for part in (first, second))


HOSTILE = {
    "many patterns": "rg x " + " ".join(f"{number}*" for number in range(3_000)),
    "the same pattern": "rg x " + "* " * 3_000,
    "alternatives upon alternatives": "rg x -g '" + "{a,b}" * 18 + "'",
    "wrappers": "env " * 20_000 + "x",
    "parts": "1>" * 40_000,
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_line_that_is_written_to_take_forever_is_asked_about(
    tmp_path: Path, folders: tuple[Path, Path], line: str
) -> None:
    for number in range(300):
        (folders[0] / f"{number}.env").write_text("x")
    asker = ScriptedAsker.always("deny")
    rules = [{"pattern": "rg", "verdict": "allow"}, {"pattern": "rm", "verdict": "deny"}]
    config = {"policy": {"commands": rules}, "tools": {"sandbox": "off"}}
    async with (
        Toolcrib.open(home=tmp_path / "home", project=folders[0], config=config, asker=asker) as crib,  # type: ignore[arg-type]
        crib.run() as run,
    ):
        result = await run.call("shell.run", {"command": line})
    assert (result.reason, len(asker.requests)) == ("permission_denied", 1)
