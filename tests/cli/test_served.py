"""Tools of servers and of HTTP interfaces, as commands that only look see them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .conftest import Toolcrib

HOSTILE = Path(__file__).parents[1] / "sources" / "mcp" / "hostile.py"
DOCUMENT = {
    "openapi": "3.0.0",
    "info": {"title": "shop", "version": "1"},
    "servers": [{"url": "https://shop.example/v1"}],
    "paths": {"/items": {"get": {"operationId": "list_items", "responses": {"200": {"description": "ok"}}}}},
}


@pytest.fixture
def home(tmp_path: Path, toolcrib: Toolcrib, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def write_servers(home: Path, **servers: object) -> None:
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


def test_tools_of_servers_are_listed_shown_and_found_like_all_others(toolcrib: Toolcrib, home: Path) -> None:
    write_servers(
        home,
        good={"command": sys.executable, "args": [str(HOSTILE)]},
        gone={"command": "/nowhere/at/all"},
    )
    listed = toolcrib("tools", "list", "--json")
    assert {"mcp.good.echo", "mcp.good.misbehave"} <= {each["name"] for each in json.loads(listed.out)}
    assert "the MCP server 'gone' is not available" in listed.err
    assert "Say it again." in toolcrib("tools", "show", "mcp.good.echo").out
    assert "mcp.good.echo" in toolcrib("tools", "search", "say it again").out
    assert "it reaches the network" in toolcrib("policy", "explain", "mcp.good.echo", "--args", "{}").out


def test_a_server_is_not_started_to_show_a_tool_that_is_not_its(toolcrib: Toolcrib, home: Path, tmp_path: Path) -> None:
    note = tmp_path / "started"
    write_servers(home, noisy={"command": "touch", "args": [str(note)]})
    assert "tool" in toolcrib("tools", "show", "code.read_file").out
    assert not note.exists()


def test_tools_of_an_http_interface_are_listed_and_shown(toolcrib: Toolcrib, home: Path) -> None:
    (home / "shop.json").write_text(json.dumps(DOCUMENT))
    (home / "config.toml").write_text('[apis.shop]\ndocument = "shop.json"\n')
    assert "api.shop.list_items" in toolcrib("tools", "list").out
    assert "GET /items" in toolcrib("tools", "show", "api.shop.list_items").out
