"""`doctor` finds what is wrong, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.executors.sandbox.selftest import Row, Selftest

Command = Callable[..., Any]
READ = ("tools", "call", "notes.read", "title=x", "--module", "notes.py")


@pytest.fixture
def home(folder: Path) -> Path:
    return folder.parent / "me" / ".toolcrib"


def findings(toolcrib: Command, state: str) -> dict[str, tuple[str, str | None]]:
    done = toolcrib("doctor", "--json")
    told = json.loads(done.out)
    assert (done.code == 0) is told["ok"]
    assert told["ok"] is all(each["state"] != "wrong" for each in told["findings"])
    return {each["subject"]: (each["finding"], each["fix"]) for each in told["findings"] if each["state"] == state}


def test_a_new_home_is_in_order(toolcrib: Command) -> None:
    toolcrib("init")
    toolcrib(*READ)
    assert findings(toolcrib, "wrong") == {}


def test_a_home_that_others_can_read_is_wrong(toolcrib: Command, home: Path) -> None:
    toolcrib("init")
    home.chmod(0o755)
    finding, fix = findings(toolcrib, "wrong")["home"]
    assert "is open to everybody" in finding
    assert fix == f"chmod go-rwx {home}"


def test_every_wrong_key_is_found(toolcrib: Command, home: Path) -> None:
    toolcrib("init")
    (home / "config.toml").write_text("[tool]\n[limits]\nmax_depth = 0\n")
    done = toolcrib("doctor")
    assert done.code == 1
    assert f"{home}/config.toml:1: tool is not a known key" in done.out
    assert f"{home}/config.toml:3: limits.max_depth must be" in done.out
    assert done.out.endswith("2 things to put right.\n")


def test_a_damaged_store_is_found(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ)
    (home / "toolcrib.db").write_bytes(b"something else entirely " * 200)
    finding, fix = findings(toolcrib, "wrong")["store"]
    assert "is damaged" in finding
    assert fix is not None
    assert "restore a backup" in fix


def test_a_store_of_a_later_version_is_found(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ)
    with sqlite3.connect(home / "toolcrib.db") as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'later', 0)")
    finding, fix = findings(toolcrib, "wrong")["store"]
    assert "has schema 999" in finding
    assert fix == "upgrade toolcrib"


def test_a_session_whose_process_died_is_noted(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ)
    with sqlite3.connect(home / "toolcrib.db") as connection:
        connection.execute("UPDATE sessions SET owner = 'gone', lease_until = 1, state = 'active'")
    assert findings(toolcrib, "note")["sessions"][0] == "1 session whose process ended without a word"
    assert "  lost " in toolcrib("sessions", "list").out


def test_looking_leaves_the_files_as_they_were(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if not path.name.endswith(("-shm", "-wal"))}
    toolcrib("doctor")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_the_sandbox_is_tried_and_every_attempt_told(toolcrib: Command) -> None:
    done = toolcrib("doctor", "--sandbox", "--json")
    told = json.loads(done.out)
    assert (done.code == 0) is told["ok"]
    if told["backend"] is None:
        assert told["missing"]
        assert told["attempts"] == []
    else:
        assert len(told["attempts"]) >= 20
        assert told["holds"] is all(attempt["held"] for attempt in told["attempts"])


@pytest.mark.parametrize(("mode", "code"), [("off", 0), ("auto", 0), ("require", 1)])
def test_a_machine_without_a_sandbox_is_wrong_only_where_one_is_required(
    toolcrib: Command, home: Path, monkeypatch: pytest.MonkeyPatch, mode: str, code: int
) -> None:
    toolcrib("init")
    (home / "config.toml").write_text(f'[tools]\nsandbox = "{mode}"\n')
    monkeypatch.setattr("toolcrib.cli.sandbox.run_selftest_sync", lambda: Selftest(None, (), ("it is too old",)))
    done = toolcrib("doctor", "--sandbox")
    assert done.code == code
    assert "This machine has no sandbox for commands.\n- it is too old\n" in done.out


def test_an_attempt_that_got_out_is_wrong(toolcrib: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (Row("read the hashes", held=False, detail="it was read"), Row("mount", held=True, detail="no"))
    monkeypatch.setattr("toolcrib.cli.sandbox.run_selftest_sync", lambda: Selftest("landlock", rows, ()))
    done = toolcrib("doctor", "--sandbox")
    assert done.code == 1
    assert "GOT OUT  read the hashes  it was read" in done.out
    assert "landlock: 1 of 2 attempts got out." in done.out


def test_each_server_that_cannot_be_started_is_wrong(toolcrib: Command, home: Path) -> None:
    toolcrib("init")
    servers = {"gone": {"command": "no-such-program"}, "off": {"command": "x", "disabled": True}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert "no-such-program was not found" in findings(toolcrib, "wrong")["mcp gone"][0]
    assert "mcp off" in findings(toolcrib, "note")
    (home / "mcp.json").write_text("{")
    assert "this is no JSON" in findings(toolcrib, "wrong")["mcp"][0]
