"""Names that other systems have for the tools of files and commands: each finds ours, and only one of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Toolcrib
from toolcrib.catalog.index import ToolIndex

pytestmark = pytest.mark.anyio
NAMES = {
    "FileRead": "code.read_file",
    "read_file": "code.read_file",
    "FileWrite": "code.write_file",
    "write_file": "code.write_file",
    "FileEdit": "code.edit_file",
    "FileDelete": "workspace.delete",
    "delete_file": "workspace.delete",
    "FileMove": "workspace.move",
    "file_exists": "workspace.info",
    "file_info": "workspace.info",
    "list_files": "workspace.list",
    "CodeSearch": "code.search",
    "ShellExec": "shell.run",
    "workspace_read": "workspace.read",
    "workspace_write": "workspace.write",
    "workspace_edit": "workspace.edit",
    "workspace_list": "workspace.list",
    "workspace_search": "workspace.search",
    "workspace_glob": "workspace.glob",
}


async def test_every_other_name_finds_the_tool_that_it_means_first(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    async with Toolcrib.open(home=tmp_path / "home", project=tmp_path / "project") as crib:
        index = ToolIndex.build([tool.spec for tool in crib.runtime.registry.snapshot.values()])
    assert {name: index.search(name, limit=1)[0].name for name in NAMES} == NAMES
