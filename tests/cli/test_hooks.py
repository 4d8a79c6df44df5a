"""`toolcrib hooks` shows what watches, tries it without side effects, and `doctor` finds what is broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def home(folder: Path) -> Path:
    path = folder.parent / "me" / ".toolcrib"
    path.mkdir(mode=0o700)
    return path


def write(home: Path, *hooks: dict[str, Any]) -> None:
    document = {"version": 1, "hooks": {"PreToolUse": [{"matcher": {"tool": "notes.*"}, "hooks": list(hooks)}]}}
    (home / "hooks.json").write_text(json.dumps(document, indent=1))


def saying(answer: str, code: int = 0) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", f"import sys; print({answer!r}); sys.exit({code})"]


def test_hooks_are_listed_in_the_order_in_which_they_are_asked(toolcrib: Command, home: Path) -> None:
    assert toolcrib("hooks", "list").out == "There are no hooks.\n"
    write(home, {"type": "command", "command": "guard --strict", "name": "guard"}, {"type": "http", "url": "http://x/"})
    first, second = json.loads(toolcrib("hooks", "list", "--json").out)
    assert first == {
        "name": "guard", "event": "PreToolUse", "type": "command", "runs": "guard --strict",
        "matcher": {"tool": "notes.*", "tag": None, "path_prefix": None}, "timeout_ms": 30000, "on_error": "deny",
        "place": f"{home}/hooks.json:10",
    }  # fmt: skip
    assert (second["name"], second["runs"]) == ("PreToolUse[0].hooks[1]", "http://x/")
    assert "guard --strict" in toolcrib("hooks", "list").out


@pytest.mark.parametrize(
    ("argv", "code", "decision", "shown"),
    [
        (saying('{"decision": "allow"}'), 0, "allow", "allow\n"),
        (saying('{"decision": "deny", "reason": "no"}'), 3, "deny", "deny: no\n"),
        (saying("nonsense"), 1, None, "BadAnswer"),
        (["/no/such/program"], 1, None, "there is no program"),
    ],
    ids=["allows", "denies", "talks nonsense", "is missing"],
)
def test_a_hook_can_be_tried(
    toolcrib: Command, home: Path, argv: list[str], code: int, decision: str | None, shown: str
) -> None:
    write(home, {"type": "command", "argv": argv, "name": "guard"})
    done = toolcrib("hooks", "test", "guard", "--tool", "notes.read", "--args", '{"title": "x"}')
    assert done.code == code
    assert shown in done.out
    told = json.loads(toolcrib("hooks", "test", "guard", "--json").out)
    assert told["decision"] == decision
    assert not (home / "toolcrib.db").exists()


def test_a_broken_file_is_found_with_its_line_and_denies_meanwhile(toolcrib: Command, home: Path) -> None:
    write(home, {"type": "command", "argz": ["x"]})
    done = toolcrib("doctor")
    assert done.code == 1
    assert f"{home}/hooks.json:12: hooks.PreToolUse[0].hooks[0].argz is not a known key; did you mean argv?" in done.out
    called = toolcrib("tools", "call", "notes.read", "title=x", "--module", "notes.py")
    assert called.code != 0
    assert "hooks.json" in called.out + called.err
    write(home, {"type": "command", "argv": saying("{}")})
    assert toolcrib("doctor").code == 0
