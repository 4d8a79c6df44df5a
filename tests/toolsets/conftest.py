"""A crib with the file toolsets over a project, and a person who allows what is asked."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from toolcrib.engine.run import Run
from toolcrib.testing import MemoryStore, make_run
from toolcrib.toolsets import FileLimits, Services, code, workspace
from toolcrib.values.json import Json
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.result import ToolResult
from toolcrib.workspace import Workspace


@dataclass
class Bench:
    """What a test of a toolset works on."""

    project: Path
    scratch: Path
    store: MemoryStore
    workspace: Workspace
    run: Run
    asked: list[PermissionRequest] = field(default_factory=list[PermissionRequest])

    async def call(self, name: str, **arguments: Json) -> ToolResult:
        return await self.run.call(name, arguments)

    async def done(self, name: str, **arguments: Json) -> ToolResult:
        result = await self.run.call(name, arguments)
        assert result.ok, result.error
        return result


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    project, scratch = tmp_path / "project", tmp_path / "scratch"
    project.mkdir()
    scratch.mkdir()
    store = MemoryStore()
    here = Workspace.of(project, scratch)
    services = Services(
        workspace=lambda: here,
        artifacts=store.artifacts,
        holds_secrets=lambda text: "hunter2" in text,
        files=FileLimits(window_characters=100_000),
    )
    asked: list[PermissionRequest] = []

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request)
        return PermissionDecision("allow_once")

    async with make_run(code.toolset(services), workspace.toolset(services), asker=ask, store=store) as run:
        yield Bench(project, scratch, store, here, run, asked)
    here.close()
