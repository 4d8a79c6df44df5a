"""A crib with MCP servers: ours that misbehave, and real ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib

sys.path.insert(0, str(Path(__file__).parent))

from servers_at_hand import Open, allow


@pytest.fixture
def crib_with(tmp_path: Path) -> Open:
    """Opens a crib whose mcp.json names these servers."""

    @asynccontextmanager
    async def opened(config: dict[str, Any] | None = None, **servers: dict[str, object]) -> AsyncGenerator[Toolcrib]:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        settings = {"toolsets": [], **(config or {})}
        async with Toolcrib.open(home=home, project=tmp_path, config=settings, asker=allow) as crib:
            yield crib

    return opened


@pytest.fixture
def git_repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    commit = ["git", "-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "the first commit"]
    subprocess.run(commit, check=True)
    return folder
