"""Tools that agents made, at the command line: made by hand, listed with who made them, and out until approved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
GREET = json.dumps(
    {
        "name": "greet",
        "description": "Greet whoever is there.",
        "implementation": {"kind": "script", "language": "bash", "script": "echo hello"},
    }
)


@pytest.fixture
def home(folder: Path) -> Path:
    path = folder.parent / "me" / ".toolcrib"
    path.mkdir(mode=0o700)
    command = "bash --noprofile --norc -c -- dynamic.greet"
    rule = f'[[policy.rules]]\ntool = "dynamic.greet"\ncommand = "{command}"\nverdict = "allow"\nbecause = "read"\n'
    rule += '[[policy.rules]]\ntool = "tools.*"\nverdict = "allow"\nbecause = "mine"\n'
    (path / "config.toml").write_text(f'toolsets = ["code", "shell", "dynamic"]\n{rule}')
    return path


def test_a_tool_that_was_made_by_hand_is_shown_with_its_maker_and_waits(toolcrib: Command, home: Path) -> None:
    assert json.loads(toolcrib("tools", "list", "--all", "--json").out)
    made = toolcrib("tools", "call", "tools.create", "--args", GREET)
    assert made.code == 0, made.err
    assert "toolcrib guard approve-contract runtime dynamic.greet" in made.out

    assert "dynamic.greet" not in toolcrib("tools", "list").out
    entries = json.loads(toolcrib("tools", "list", "--all", "--json").out)
    entry = next(each for each in entries if each["name"] == "dynamic.greet")
    assert (entry["type"], entry["version"], entry["creator"]) == ("dynamic", "1", "main (main, local)")
    assert "was not approved" in entry["out"]

    shown = toolcrib("tools", "show", "dynamic.greet").out
    assert "main (main, local)" in shown
    assert "dynamic script 1" in shown

    called = toolcrib("tools", "call", "dynamic.greet")
    assert called.code == 1
    assert "was not approved" in called.err


def test_a_name_that_no_tool_can_have_is_told_at_the_command_line(toolcrib: Command, home: Path) -> None:
    done = toolcrib("tools", "call", "tools.create", "--args", GREET.replace("greet", "gr eet", 1))
    assert done.code == 1
    assert "not a tool name" in done.err


def test_the_operator_approves_with_the_guard_and_then_it_runs(toolcrib: Command, home: Path) -> None:
    assert toolcrib("tools", "call", "tools.create", "--args", GREET).code == 0
    approved = toolcrib("guard", "approve-contract", "runtime", "dynamic.greet", "--approved-by", "ada")
    assert approved.code == 0, approved.err
    called = toolcrib("tools", "call", "dynamic.greet")
    assert (called.code, called.out) == (0, "hello\n"), called.err
    assert "dynamic.greet" in toolcrib("tools", "list").out


def test_a_tool_that_waits_is_listed_and_fails_a_build_and_the_operator_reads_what_it_does(
    toolcrib: Command, home: Path
) -> None:
    assert toolcrib("guard", "mismatches", "--fail-on-drift").code == 0
    assert toolcrib("tools", "call", "tools.create", "--args", GREET).code == 0
    listed = toolcrib("guard", "mismatches", "--fail-on-drift", "--json")
    assert listed.code == 1
    assert [(each["name"], each["contract_status"]) for each in json.loads(listed.out)] == [("dynamic.greet", "new")]
    assert "+ echo hello" in toolcrib("guard", "diff", "dynamic.greet").out
    assert "dynamic.greet" not in toolcrib("tools", "list", "--surface", "runtime").out

    approved = toolcrib("guard", "approve-contract", "runtime", "dynamic.greet", "--approved-by", "ada")
    assert "+ echo hello" in approved.out
    assert toolcrib("guard", "mismatches", "--fail-on-drift").code == 0
    body = {"kind": "script", "language": "bash", "script": "echo hello\u200b you"}
    changed = {"name": "greet", "version": 1, "implementation": body}
    assert toolcrib("tools", "call", "tools.update", "--args", json.dumps(changed)).code == 0
    looked = toolcrib("guard", "diff", "dynamic.greet")
    assert "- echo hello\n" in looked.out
    assert "+ echo hello\\u200b you" in looked.out

    command = looked.err.split("to approve it as shown: toolcrib ")[1].split()
    again = {"name": "greet", "version": 2, "implementation": {**body, "script": "echo bye"}}
    assert toolcrib("tools", "call", "tools.update", "--args", json.dumps(again)).code == 0
    refused = toolcrib(*command, "--approved-by", "ada")
    assert refused.code == 1
    assert "another fingerprint" in refused.err
