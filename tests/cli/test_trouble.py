"""Trouble that a person can put right is told in one line that says how; it never shows a traceback."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
READ = ("tools", "call", "notes.read", "title=x", "--module", "notes.py")


@pytest.fixture
def home(folder: Path) -> Path:
    return folder.parent / "me" / ".toolcrib"


@pytest.mark.parametrize("command", [("config", "show"), ("sessions", "list"), ("tools", "list"), READ, ("events",)])
def test_a_wrong_key_is_named_with_its_place_and_the_key_that_was_meant(
    toolcrib: Command, home: Path, command: tuple[str, ...]
) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[tools]\nmax_thread = 3\n[store]\ndurability = 7\n")
    done = toolcrib(*command)
    assert (done.code, done.out) == (2, "")
    first, second = done.err.splitlines()
    assert first.startswith(f"toolcrib: {home}/config.toml:2: tools.max_thread is not a known key; did you mean")
    assert second.startswith(f"toolcrib: {home}/config.toml:4: store.durability must be")


def test_the_file_to_mend_can_be_found_while_it_is_wrong(toolcrib: Command, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("nonsense\n")
    assert toolcrib("config", "path").out == f"{home}/config.toml\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"not a database, but long enough to be looked at " * 100, "is damaged"), (b"", "is empty (0 bytes)")],
)
@pytest.mark.parametrize("command", [("sessions", "list"), ("sessions", "verify"), ("events",), READ])
def test_a_store_that_cannot_be_read_is_named(
    toolcrib: Command, home: Path, command: tuple[str, ...], content: bytes, said: str
) -> None:
    home.mkdir()
    (home / "toolcrib.db").write_bytes(content)
    done = toolcrib(*command)
    assert (done.code, done.out) == (1, "")
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(f"toolcrib: the store {home}/toolcrib.db {said}")


def test_looking_at_records_makes_none(toolcrib: Command, home: Path) -> None:
    for command in (("sessions", "list"), ("sessions", "verify"), ("events",), ("doctor",), ("tools", "list")):
        toolcrib(*command)
    assert not home.exists()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET facts = json_set(facts, '$[4]', 'note') WHERE seq = 4",
        "UPDATE events SET payload = '{}' WHERE seq = 4",
        "DELETE FROM events WHERE seq = 4",
    ],
)
def test_verify_finds_a_changed_and_a_removed_event(toolcrib: Command, home: Path, damage: str) -> None:
    toolcrib(*READ)
    with sqlite3.connect(home / "toolcrib.db") as connection:
        connection.execute(damage)
    done = toolcrib("sessions", "verify")
    assert done.code == 1
    assert done.out.startswith("SEQ  PROBLEM\n3    ")
    told = toolcrib("sessions", "verify", "--json")
    found = json.loads(told.out)
    assert (told.code, found["ok"], found["faults"][0]["seq"]) == (1, False, 3)


def test_verify_finds_a_cut_end_when_it_knows_what_to_expect(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ)
    head = json.loads(toolcrib("sessions", "verify", "--json").out)["head"]
    assert toolcrib("sessions", "verify", "--expect", head).code == 0
    with sqlite3.connect(home / "toolcrib.db") as connection:
        connection.execute("DELETE FROM events WHERE seq > 4")
        connection.execute("UPDATE head SET seq = 4, hash = (SELECT hash FROM events WHERE seq = 4)")
    assert toolcrib("sessions", "verify", "--expect", head).code == 1


def test_a_session_that_another_process_holds_is_left_alone(toolcrib: Command, home: Path) -> None:
    toolcrib(*READ, "--session", "work")
    with sqlite3.connect(home / "toolcrib.db") as connection:
        connection.execute("UPDATE sessions SET owner = 'elsewhere', lease_until = 1e12")
    done = toolcrib(*READ, "--session", "work")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("toolcrib: session work is owned by elsewhere")


def test_a_reader_that_goes_away_ends_the_program_quietly(toolcrib: Command, environment: dict[str, str]) -> None:
    for _ in range(3):
        toolcrib(*READ)
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "toolcrib.cli", "events", "--json"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, env=environment, timeout=30)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_bug_is_not_dressed_up_as_the_users_mistake(toolcrib: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("toolcrib.config.load", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        toolcrib("config", "show")
