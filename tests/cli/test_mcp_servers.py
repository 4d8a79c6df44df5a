"""Servers from the command line: added, taken over from the files of other clients, listed and tried."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .conftest import Toolcrib

HOME = ("--home", "home")
HOSTILE = Path(__file__).parents[1] / "sources" / "mcp" / "hostile.py"
GIT = {"command": "uvx", "args": ["mcp-server-git"]}
FILES = {
    "claude_desktop_config.json": json.dumps({"mcpServers": {"git": GIT}, "theme": "dark"}),
    ".mcp.json": json.dumps({"mcpServers": {"git": {**GIT, "type": "stdio"}}}),
    ".cursor/mcp.json": json.dumps({"mcpServers": {"git": {**GIT, "env": {}}}}),
    ".vscode/mcp.json": """{
        // servers of "this" folder; it's all
        "inputs": [{"type": "promptString", "id": "key"}],
        "servers": {
            /* the "git" one */
            "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git",],},
        },
    }""",
    "settings.json": json.dumps({"mcp": {"servers": {"git": GIT}}, "editor.fontSize": 12}),
    "zed.json": json.dumps({"context_servers": {"git": {"command": {"path": "uvx", "args": ["mcp-server-git"]}}}}),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_client_is_taken_over(name: str, toolcrib: Toolcrib, folder: Path) -> None:
    file = folder / "other" / name
    file.parent.mkdir(parents=True)
    file.write_text(FILES[name])
    done = toolcrib("mcp-servers", "import", str(file), "--json", *HOME)
    assert (done.code, [each["reached_by"] for each in json.loads(done.out)]) == (0, ["uvx mcp-server-git"]), done.err
    listed = json.loads(toolcrib("mcp-servers", "list", "--json", *HOME).out)
    assert [(each["name"], each["transport"], each["disabled"]) for each in listed] == [("git", "stdio", False)]


def test_what_looks_like_a_comment_or_a_trailing_comma_inside_a_string_stays(toolcrib: Toolcrib, folder: Path) -> None:
    args = ["http://x//y", "/* no */", "[a,]", '{"a": 1,}', "\\", ",]"]
    (folder / "other.json").write_text("\ufeff" + json.dumps({"mcpServers": {"a": {"command": "x", "args": args}}}))
    assert toolcrib("mcp-servers", "import", "other.json", *HOME).code == 0
    assert json.loads((folder / "home" / "mcp.json").read_text())["mcpServers"]["a"]["args"] == args


def test_secrets_are_neither_copied_nor_shown(toolcrib: Toolcrib, folder: Path) -> None:
    entry = {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer hunter2", "X-Team": "blue"}}
    other = {**GIT, "env": {"API_KEY": "hunter2", "LEVEL": "debug", "TOKEN": "${env:TOKEN}"}}
    (folder / "other.json").write_text(json.dumps({"mcpServers": {"docs": entry, "git": other}}))
    done = toolcrib("mcp-servers", "import", "other.json", *HOME)
    written = (folder / "home" / "mcp.json").read_text()
    assert "hunter2" not in done.out + done.err + written + toolcrib("mcp-servers", "list", *HOME).out
    assert "set API_KEY in the environment" in done.err
    assert json.loads(written)["mcpServers"]["git"]["env"] | {"TOKEN": ""} == {
        "API_KEY": "${API_KEY}", "LEVEL": "debug", "TOKEN": "",
    }  # fmt: skip
    assert json.loads(written)["mcpServers"]["docs"]["headers"]["X-Team"] == "blue"


def test_only_what_was_asked_for_is_taken_and_nothing_is_overwritten(toolcrib: Toolcrib, folder: Path) -> None:
    (folder / "other.json").write_text(json.dumps({"mcpServers": {"git": GIT, "time": GIT}}))
    assert toolcrib("mcp-servers", "import", "other.json", "--only", "time", *HOME).code == 0
    again = toolcrib("mcp-servers", "import", "other.json", *HOME)
    assert (again.code != 0, "has a server named 'time' already" in again.err) == (True, True)
    assert toolcrib("mcp-servers", "import", "other.json", "--only", "nobody", *HOME).code != 0
    assert [each["name"] for each in json.loads(toolcrib("mcp-servers", "list", "--json", *HOME).out)] == ["time"]


def test_an_added_server_is_tried_and_one_that_cannot_start_is_told(toolcrib: Toolcrib) -> None:
    assert toolcrib("mcp-servers", "add", "good", *HOME, "--", sys.executable, str(HOSTILE)).code == 0
    assert toolcrib("mcp-servers", "add", "bad", *HOME, "--", "no-such-program").code == 0
    good = json.loads(toolcrib("mcp-servers", "test", "good", "--json", *HOME).out)
    assert (good[0]["ok"], good[0]["set_aside"]) == (True, {})
    done = toolcrib("mcp-servers", "test", "bad", *HOME)
    assert (done.code != 0, "no-such-program was not found" in done.out) == (True, True)


@pytest.mark.parametrize(
    "words", [["x"], ["x", "--url", "https://a.example", "--", "b"], ["x", "--env", "A", "--", "b"]]
)
def test_an_order_that_makes_no_sense_adds_nothing(words: list[str], toolcrib: Toolcrib, folder: Path) -> None:
    assert toolcrib("mcp-servers", "add", *HOME, *words).code == 2
    assert not (folder / "home" / "mcp.json").exists()


def test_a_server_is_taken_by_either_of_its_names_and_two_never_become_one(toolcrib: Toolcrib, folder: Path) -> None:
    names = ("my server", "my-server", "Other (beta)")
    (folder / "other.json").write_text(json.dumps({"mcpServers": {name: {"command": "true"} for name in names}}))
    both = toolcrib("mcp-servers", "import", "other.json", *HOME)
    assert (both.code, "would both be named my-server; take one with --only" in both.err) == (1, True)
    assert (
        toolcrib("mcp-servers", "import", "other.json", "--only", "my server", "--only", "Other-beta", *HOME).code == 0
    )
    assert json.loads((folder / "home" / "mcp.json").read_text())["mcpServers"].keys() == {"my-server", "Other-beta"}
    wrong = toolcrib("mcp-servers", "import", "other.json", "--only", "nobody", *HOME)
    assert "it has my server, my-server, Other (beta)" in wrong.err


def test_what_an_entry_says_of_a_tool_that_the_server_does_not_have_is_told(toolcrib: Toolcrib, folder: Path) -> None:
    assert toolcrib("mcp-servers", "add", "ours", *HOME, "--", sys.executable, str(HOSTILE)).code == 0
    file = folder / "home" / "mcp.json"
    written = json.loads(file.read_text())
    written["mcpServers"]["ours"]["tools"] = {"ecco": {"hidden": True}}
    file.write_text(json.dumps(written))
    done = toolcrib("mcp-servers", "test", *HOME)
    assert done.code == 0
    assert "ours: ecco was set aside: its entry says how to treat it" in done.err


def test_an_editor_s_own_references_and_secrets_among_words_become_references_of_ours(
    toolcrib: Toolcrib, folder: Path
) -> None:
    secret = "-".join(("sk", "ant", "api03", "abcdefghijklmnop"))
    servers = {
        "web": {
            "type": "http",
            "url": "https://x.example/mcp",
            "headers": {"Authorization": "Bearer ${input:api-key}"},
        },
        "files": {"command": "npx", "args": ["server", "${workspaceFolder}/docs"], "env": {"A": "${env:HOME}"}},
        "db": {"command": "uvx", "args": ["db", "--token", secret, f"--api-key={secret}", "--verbose", "x"]},
    }
    file = folder / "editor.json"
    file.write_text(json.dumps({"inputs": [{"id": "api-key"}], "servers": servers}))
    done = toolcrib("mcp-servers", "import", str(file), *HOME)
    assert done.code == 0
    for name in ("API_KEY", "DB_TOKEN", "DB_API_KEY"):
        assert name in done.err
    written = (folder / "home" / "mcp.json").read_text()
    assert secret not in written + done.out + done.err
    ours = json.loads(written)["mcpServers"]
    assert ours["web"]["headers"] == {"Authorization": "Bearer ${API_KEY}"}
    assert (ours["files"]["args"], ours["files"]["env"]) == (["server", "./docs"], {"A": "${env:HOME}"})
    assert ours["db"]["args"] == ["db", "--token", "${DB_TOKEN}", "--api-key=${DB_API_KEY}", "--verbose", "x"]


def test_a_server_whose_name_is_there_in_another_case_is_not_added(toolcrib: Toolcrib) -> None:
    assert toolcrib("mcp-servers", "add", "time", *HOME, "--", "one").code == 0
    done = toolcrib("mcp-servers", "add", "Time", *HOME, "--", "two")
    assert (done.code, "has a server named 'time' already" in done.err) == (2, True)
    assert toolcrib("mcp-servers", "list", *HOME).code == 0
