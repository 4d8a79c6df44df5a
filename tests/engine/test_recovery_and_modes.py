"""A call that a crash left open is made up for only by who asked for it, in a run that is no looser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib, tool

pytestmark = pytest.mark.anyio
ran: list[str] = []


@tool.write(name="notes.add")
def add(title: str) -> str:
    ran.append(title)
    return title


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


async def leave_open(home: Path, **options: Any) -> None:
    """A turn that was written down and never settled, as a crash leaves it."""
    asked = {"id": "call_lost", "name": "notes.add", "arguments": {"title": "lost"}, "redacted": 0}
    async with opened(home) as crib, crib.run(session="s", **options) as run:
        run.queue(run.draft("turn_started", None, {"calls": [asked]}))


def opened(home: Path):
    rules = [{"tool": "notes.add", "verdict": "allow"}]
    return Toolcrib.open(home=home, tools=[add], config={"toolsets": [], "policy": {"rules": rules}})


async def recovered(home: Path, **options: Any) -> list[tuple[str, str | None]]:
    async with opened(home) as crib, crib.run(session="s", **options) as run:
        return [(result.call_id, result.reason) for result in run.recovered]


async def test_it_is_settled_when_the_same_agent_is_back(tmp_path: Path) -> None:
    await leave_open(tmp_path)
    assert await recovered(tmp_path) == [("call_lost", None)]
    assert ran == ["lost"]
    assert await recovered(tmp_path) == []


async def test_a_call_of_plan_mode_does_not_act_in_the_run_that_comes_after(tmp_path: Path) -> None:
    await leave_open(tmp_path, mode="plan")
    assert await recovered(tmp_path, approved_by="anna") == [("call_lost", "interrupted")]
    assert ran == []


async def test_a_call_is_decided_by_the_stricter_mode_of_the_run_that_makes_up_for_it(tmp_path: Path) -> None:
    await leave_open(tmp_path)
    assert await recovered(tmp_path, mode="plan") == [("call_lost", "tool_not_available")]
    assert ran == []


async def test_what_a_model_asked_for_does_not_run_because_a_person_makes_a_call(tmp_path: Path) -> None:
    await leave_open(tmp_path)
    assert await recovered(tmp_path, caller="person") == []
    assert ran == []
    assert await recovered(tmp_path) == [("call_lost", None)]


async def test_the_calls_of_one_agent_wait_for_that_agent(tmp_path: Path) -> None:
    await leave_open(tmp_path, agent="orchestrator")
    assert await recovered(tmp_path) == []
    assert await recovered(tmp_path, agent="orchestrator") == [("call_lost", None)]


async def test_the_calls_of_a_child_end_with_it(tmp_path: Path) -> None:
    await leave_open(tmp_path, role="sub")
    assert await recovered(tmp_path) == [("call_lost", "interrupted")]
    assert ran == []
