"""How often everyday calls are asked about: every benign control through a whole crib with the shipped policy."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib, tool
from toolcrib.policy.network.rules import host_target
from toolcrib.policy.network.url import read_url
from toolcrib.testing import ScriptedAsker
from toolcrib.values.target import Target

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "benign_friction.jsonl").open()]
NAMES = {"code.run_command": "code.run_command", "shell_exec": "shell.run", "web_fetch": "web.fetch"}
PROGRAMS = "git ls cat grep rg find head wc sort python npm cargo make echo jq diff"
ENOUGH = 0.97


def hosts(arguments: Mapping[str, Any]) -> Sequence[Target]:
    return [host_target(read_url(arguments["url"]))]


@tool.read(name="web.fetch", tags={"network"}, targets=hosts)
async def fetch(url: str) -> str:
    """Fetch a page."""
    return url


async def test_at_least_97_of_100_everyday_calls_run_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    make_programs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    outcomes = {case["id"]: await outcome(case, tmp_path / case["id"]) for case in CASES}
    quiet = sum(each == "ran" for each in outcomes.values())
    figure = quiet / len(outcomes)
    record_property("benign calls without a question", f"{quiet} of {len(outcomes)}")
    print(f"\nbenign calls without a question: {quiet} of {len(outcomes)} ({figure:.1%})")
    assert figure >= ENOUGH, {name: each for name, each in outcomes.items() if each != "ran"}


def make_programs(folder: Path) -> None:
    """Programs that end at once: the test is about questions, not about what they do."""
    folder.mkdir()
    for name in PROGRAMS.split():
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


async def outcome(case: Mapping[str, Any], world: Path) -> str:
    """`ran`, or what stood in the way of it."""
    project = made_project(case, world)
    asker = ScriptedAsker.always("deny")
    action = case["action"]
    if "register" in action:
        async with Toolcrib.open(home=world / "home", tools=[tool.read(name=action["register"])(_nothing)]):
            return "ran"
    async with (
        Toolcrib.open(
            home=world / "home", project=project, config=config(case["setup"]), tools=[fetch], asker=asker
        ) as crib,
        crib.run() as run,
    ):
        name = action["tool"]
        result = await run.call(NAMES.get(name, name), action["args"])
    if asker.requests:
        return f"asked: {asker.requests[0].because}"
    return "ran" if result.ok else f"{result.reason}: {result.text[:200]}"


def made_project(case: Mapping[str, Any], world: Path) -> Path:
    project = world / "project"
    project.mkdir(parents=True)
    for step in case["setup"]:
        if "file" in step:
            path = Path(step["file"].replace("${P}", str(project)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["content"])
    return project


def config(setup: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    policy: dict[str, Any] = {key: value for step in setup for key, value in step.get("policy", {}).items()}
    rules = [{"pattern": rule["pattern"], "verdict": rule["approval"]} for rule in policy.get("commands", [])]
    network = {"allow_hosts": policy.get("network", {}).get("allow_hosts", [])}
    return {"policy": {"commands": rules}, "network": network, "tools": {"sandbox": "off"}}


async def _nothing() -> str:
    """Do nothing."""
    return ""
