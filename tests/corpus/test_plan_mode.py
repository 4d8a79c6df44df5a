"""Attempts to act in plan mode, as data, through the whole counter; stand-ins where a tool does not exist yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Tool, Toolcrib
from toolcrib.testing import ScriptedAsker
from toolcrib.values.spec import Effect, ToolSpec

pytestmark = pytest.mark.anyio
CASES = [json.loads(line) for line in (Path(__file__).parent / "plan_mode.jsonl").open()]
NAMES = {
    "workspace_read": "workspace.read",
    "workspace_write": "workspace.write",
    "checklist_read": "checklist.read",
    "checklist_update": "checklist.update",
    "schedule_create": "schedule.create",
    "tool_create": "tools.create",
    "web_fetch": "web.fetch",
}
STAND_INS = {
    "checklist.read": (Effect.READ, {"internal"}),
    "checklist.update": (Effect.WRITE, {"internal"}),
    "schedule.create": (Effect.WRITE, set()),
    "tools.create": (Effect.WRITE, {"dangerous"}),
    "web.fetch": (Effect.READ, {"network"}),
}
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


def stand_ins(ran: list[str]) -> list[Tool]:
    def made(name: str) -> Tool:
        async def handler(context, arguments) -> str:
            ran.append(name)
            return "done"

        effect, tags = STAND_INS[name]
        spec = ToolSpec(
            name=name, description=name, input_schema={"type": "object"}, effect=effect, tags=frozenset(tags)
        )
        return Tool(spec, handler)

    return [made(name) for name in STAND_INS]


def config_of(case: Mapping[str, Any]) -> dict[str, Any]:
    rules = [
        {"pattern": rule["pattern"].strip(), "verdict": rule["approval"]}
        for step in case["setup"]
        for rule in step.get("policy", {}).get("commands", [])
    ]
    return {"policy": {"commands": rules}}


async def outcome(case: Mapping[str, Any], folder: Path, config: Mapping[str, Any]) -> tuple[str, list[str]]:
    """allow, ask or deny, and what ran meanwhile."""
    project, ran = folder / "project", list[str]()
    project.mkdir()
    (project / "a.txt").write_text("before")
    asker = ScriptedAsker(["allow_for_session"] if granted(case) else [])
    name = NAMES.get(case["action"]["tool"], case["action"]["tool"])
    async with (
        Toolcrib.open(home=folder / "home", project=project, config=config, tools=stand_ins(ran), asker=asker) as crib,
        crib.run(session="s") as before,
    ):
        if granted(case):
            assert (await before.call(name, {"path": "earlier.txt", "content": "x"})).ok
            assert (await before.call(name, {"path": "later.txt", "content": "x"})).ok
        asker.answers.append("deny")
        async with crib.run(session="s", mode="plan") as run:
            result = await run.call(name, case["action"]["args"])
    assert (project / "a.txt").read_text() == "before"
    if not asker.answers:
        return "ask", ran
    return ("allow" if result.ok else "deny"), ran


def granted(case: Mapping[str, Any]) -> bool:
    return any("session_grant" in step for step in case["setup"])


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_plan_mode_holds(case: Mapping[str, Any], tmp_path: Path) -> None:
    found, ran = await outcome(case, tmp_path, config_of(case))
    expected = "deny" if case["expected"].startswith("error") else case["expected"]
    if case["kind"] == "control":
        assert found == expected
    else:
        assert STRICTNESS[found] >= STRICTNESS[expected]
        assert ran == []


async def test_a_network_read_that_the_operator_lists_for_plan_mode_still_asks(tmp_path: Path) -> None:
    (case,) = [case for case in CASES if case["id"] == "PLAN-021"]
    assert (await outcome(case, tmp_path, {"modes": {"plan_tools": ["web.*"]}}))[0] == "ask"
