"""Attacks on command rules and everyday commands, as data: each case against real files and the real toolset."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.worlds import Folders

from toolcrib import Toolcrib
from toolcrib.executors.process import ProcessRunner
from toolcrib.policy.commands import CommandRule, CommandRules, decide_commands
from toolcrib.policy.rules import decide_targets, default_decision
from toolcrib.policy.verdict import Decision, Verdict, verdict_of
from toolcrib.testing import ScriptedAsker
from toolcrib.toolsets.shell import Background, CommandServices, Ground, run_command_tool, toolset
from toolcrib.toolsets.shell.places import HostPlaces
from toolcrib.values.refusal import ConfigError, Refusal
from toolcrib.values.tool import Tool

HERE = Path(__file__).parent
TOOLS = {"code.run_command": "code.run_command", "shell_exec": "shell.run"}
PROGRAMS = (
    "awk cargo cat cp curl date diff docker echo env find git grep head jq ls make nohup npm printf python rg rm sed "
    "sh sleep sort split sudo tar tee timeout touch true wc wget xargs"
)
RUN = ("OUTP-010",)
"""Cases about what a command does when it runs: they are held in the tests of the toolset."""


class World(Folders):
    """A case's folders, and one with the programs that its commands find."""

    @property
    def programs(self) -> Path:
        return self.base / "bin"

    def prepare(self, setup: Sequence[Mapping[str, Any]]) -> None:
        """Write the files that a case is about."""
        for step in setup:
            if "file" in step:
                Path(self.filled(step["file"])).write_text(step["content"])


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    for folder in (world.home / ".ssh", world.programs):
        folder.mkdir()
    (world.home / ".ssh" / "id_ed25519").write_text("key")
    for name in ("a.txt", "README.md", "t.txt", "git"):
        (world.project / name).write_text("#!/bin/sh\n")
    (world.project / "git").chmod(0o755)
    for name in PROGRAMS.split():
        (world.programs / name).write_text("#!/bin/sh\n")
        (world.programs / name).chmod(0o755)
    return world


def cases(*files: str) -> list[Any]:
    lines = [line for name in files for line in (HERE / name).read_text().splitlines()]
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines) if case["id"] not in RUN]


def tools(world: World) -> dict[str, Tool]:
    processes = ProcessRunner()
    services = CommandServices(
        processes=processes,
        background=Background(processes),
        ground=lambda: Ground(
            str(world.project),
            HostPlaces(roots=(str(world.project),), sensitive=lambda path: "/.ssh/" in path or path.endswith("/.env")),
        ),
        environment={"PATH": str(world.programs)},
    )
    return {tool.name: tool for tool in (run_command_tool(services), *toolset(services).tools)}


def rules_of(setup: Sequence[Mapping[str, Any]]) -> CommandRules:
    rules: list[CommandRule] = []
    for step in setup:
        policy = step.get("policy", {})
        rules += [CommandRule(verdict_of(rule["approval"]), rule["pattern"]) for rule in policy.get("commands", [])]
        rules += [CommandRule(Verdict.DENY, rule["command"]) for rule in policy.get("deny", [])]
    return CommandRules(tuple(rules))


def outcome(case: Mapping[str, Any], world: World) -> str:
    """allow, ask, deny or error: what the gate makes of a call, from its targets."""
    action = world.filled(case["action"])
    try:
        rules = rules_of(case["setup"])
        if "cli" in action:
            return "allow"
        tool = tools(world)[TOOLS[action["tool"]]]
        targets = tool.targets(action["args"])
    except (ConfigError, Refusal) as error:
        return f"error:{error.reason}"
    decision: Decision = default_decision(tool.spec)
    judged = decide_commands(rules, targets)
    if judged is not None:
        decision = judged if judged.verdict is Verdict.ALLOW else decision.at_least(judged)
    marked = decide_targets(targets)
    return (decision if marked is None else decision.at_least(marked)).verdict.name.lower()


STRICTNESS = {"allow": 0, "ask": 1, "deny": 2, "error:config_error": 2}


@pytest.mark.parametrize("case", cases("command_allowlist.jsonl", "benign_commands.jsonl"))
def test_no_attack_is_let_through_and_no_everyday_command_asks(case: Mapping[str, Any], world: World) -> None:
    expected = "error:config_error" if case["expected"] == "error:config_invalid" else case["expected"]
    world.prepare(case["setup"])
    reached = outcome(case, world)
    if case["kind"] == "control":
        assert reached == expected
    else:
        assert STRICTNESS[reached] >= STRICTNESS[expected]


def test_programs_are_looked_for_outside_the_workspace(world: World) -> None:
    os.symlink(world.project / "git", world.programs / "gitlink")
    target = tools(world)["code.run_command"].targets({"argv": ["gitlink", "status"]})[0]
    assert target.scope == ""


@pytest.mark.anyio
@pytest.mark.parametrize("case", cases("command_allowlist.jsonl", "benign_commands.jsonl"))
async def test_the_whole_counter_decides_the_same_and_shows_the_whole_command(
    case: Mapping[str, Any], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(world.programs))
    monkeypatch.setenv("HOME", str(world.home))
    world.prepare(case["setup"])
    expected = "error:config_error" if case["expected"] == "error:config_invalid" else case["expected"]
    asker = ScriptedAsker.always("deny")
    reached = await outcome_of_a_call(case, world, asker)
    if case["kind"] == "control":
        assert reached == expected
    else:
        assert STRICTNESS[reached] >= STRICTNESS[expected]
    if reached == "ask":
        assert len(asker.requests) == 1
        arguments = world.filled(case["action"])["args"]
        command = arguments["command"] if "command" in arguments else shlex.join(map(str, arguments["argv"]))
        assert command in [target.value for target in asker.requests[0].targets]


async def outcome_of_a_call(case: Mapping[str, Any], world: World, asker: ScriptedAsker) -> str:
    """What becomes of the case's call in a crib of its own, where the person who is asked says no."""
    action = world.filled(case["action"])
    rules = [
        {"pattern": rule["pattern"] if "pattern" in rule else rule["command"], "verdict": rule.get("approval", "deny")}
        for step in case["setup"]
        for rule in (*step.get("policy", {}).get("commands", []), *step.get("policy", {}).get("deny", []))
    ]
    config = {"policy": {"commands": rules}, "tools": {"sandbox": "off"}}
    try:
        async with (
            Toolcrib.open(home=world.home / "crib", project=world.project, config=config, asker=asker) as crib,  # type: ignore[arg-type]
            crib.run() as run,
        ):
            if "cli" in action:
                return "allow"
            result = await run.call(TOOLS[action["tool"]], action["args"])
    except ConfigError:
        return "error:config_error"
    if asker.requests:
        return "ask"
    return "deny" if result.reason == "permission_denied" else "allow"
