"""What an explanation at the command line takes into account, and that it leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOOKS = {"version": 1, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/bin/false"}]}]}}
LIMITS = '[limits.rate."notes.*"]\nmax_calls = 3\nper_seconds = 60\n'


def test_an_explanation_names_limits_and_hooks_without_asking_them_and_records_nothing(
    toolcrib: Callable[..., Any], folder: Path
) -> None:
    home = folder / "desk"
    home.mkdir()
    (home / "config.toml").write_text(LIMITS)
    (home / "hooks.json").write_text(json.dumps(HOOKS))
    before = sorted(folder.rglob("*"))
    done = toolcrib("policy", "explain", "notes.read", "title=x", "-m", "notes.py", "--home", "desk", "--json")
    found = {stage["stage"]: stage["finding"] for stage in json.loads(done.out)["stages"]}
    assert found["limits"].startswith("3 per 60 s of each tool")
    assert found["hooks"].startswith("asked first at a call, not here: ")
    assert [path for path in sorted(folder.rglob("*")) if "__pycache__" not in str(path)] == [
        path for path in before if "__pycache__" not in str(path)
    ]


def test_what_was_approved_again_and_again_is_proposed_as_a_rule_that_then_answers(
    toolcrib: Callable[..., Any], folder: Path
) -> None:
    for _ in range(3):
        toolcrib("policy", "suggest", "--home", "desk")
        assert approved(folder, "Monday") is True
    done = toolcrib("policy", "suggest", "--home", "desk")
    assert 'resource = "note Monday"' in done.out
    (folder / "desk" / "policy.toml").write_text(done.out)
    told = toolcrib("policy", "explain", "notes.add", "title=Monday", "-m", "notes.py", "--home", "desk")
    assert told.out.startswith("ALLOW")
    other = toolcrib("policy", "explain", "notes.add", "title=Tuesday", "-m", "notes.py", "--home", "desk")
    assert other.out.startswith("ASK")


def approved(folder: Path, title: str) -> bool:
    """One call that a person allows, in a session of its own."""
    import anyio

    from toolcrib import Toolcrib
    from toolcrib.cli.modules import load_tools
    from toolcrib.testing import ScriptedAsker

    async def call() -> bool:
        async with (
            Toolcrib.open(home=folder / "desk", tools=load_tools(("notes.py",)),
                          asker=ScriptedAsker.always("allow_once")) as crib,
            crib.run(caller="person") as run,
        ):  # fmt: skip
            return (await run.call("notes.add", {"title": title})).ok

    return anyio.run(call)
