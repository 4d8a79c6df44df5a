"""Servers that a project proposes: none before its file is trusted, and never looser than the home's word."""

from __future__ import annotations

import json
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from servers_at_hand import allow, hostile

from toolcrib import ConfigError, Toolcrib
from toolcrib.sources.mcp.entry import read_entries
from toolcrib.trust import TrustBook, read_content
from toolcrib.values.spec import Effect

pytestmark = pytest.mark.anyio


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    folder.mkdir()
    loose = hostile(network=False, tools={"echo": {"effect": "read"}, "misbehave": {"hidden": True}})
    propose(folder / ".mcp.json", theirs=loose, both=hostile("crash"))
    return folder


def propose(file: Path, **servers: object) -> None:
    file.write_text(json.dumps({"mcpServers": servers}))


def trust(project: Path) -> None:
    book = TrustBook(project.parent / "home" / "trust.json")
    book.trust(read_content(project / ".mcp.json"), "me", time.time())


def opened(project: Path) -> AbstractAsyncContextManager[Toolcrib]:
    return Toolcrib.open(home=project.parent / "home", project=project, config={"toolsets": []}, asker=allow)


async def test_a_project_s_servers_wait_until_their_file_is_trusted(project: Path) -> None:
    async with opened(project) as crib:
        assert crib.servers is None
    async with opened(project) as crib:
        said = [str(event.payload) async for event in crib.events("mcp", follow_on=False)]
    assert any("toolcrib trust" in words for words in said)


async def test_a_trusted_project_s_servers_work(project: Path) -> None:
    trust(project)
    async with opened(project) as crib, crib.run() as run:
        assert (await run.call("mcp.theirs.echo", {"text": "hello"})).text == "hello"


async def test_a_changed_file_is_not_trusted_any_more(project: Path) -> None:
    trust(project)
    propose(project / ".mcp.json", theirs=hostile("hang"))
    async with opened(project) as crib:
        assert crib.servers is None


async def test_a_project_loosens_nothing_and_may_hide(project: Path) -> None:
    trust(project)
    async with opened(project) as crib, crib.run() as run:
        echo = crib.runtime.registry.snapshot["mcp.theirs.echo"].spec
        assert echo.effect is Effect.WRITE
        assert "network" in echo.tags
        assert "mcp.theirs.misbehave" not in run.tools


@pytest.mark.parametrize("name", ["both", "Both"])
async def test_the_home_s_server_of_the_same_name_is_the_one(name: str, project: Path) -> None:
    trust(project)
    propose(project.parent / "home" / "mcp.json", **{name: hostile()})
    async with opened(project) as crib, crib.run() as run:
        assert crib.servers is not None
        assert {each for each in crib.servers.keepers if each.lower() == "both"} == {name}
        assert (await run.call(f"mcp.{name}.misbehave")).text == "fine"


def test_two_servers_whose_names_differ_only_in_case_are_an_error() -> None:
    with pytest.raises(ConfigError, match="'mail' and 'Mail' differ only in case"):
        read_entries('{"mcpServers": {"mail": {"command": "x"}, "Mail": {"command": "y"}}}', "mcp.json")
