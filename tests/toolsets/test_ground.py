"""Files and commands of one run work on the same ground, whichever workspace the run was given."""

from __future__ import annotations

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
