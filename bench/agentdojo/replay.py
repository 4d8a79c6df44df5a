"""Ground truth through the counter: how often a person is asked, and whether an injection gets past them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from bench.agentdojo.tools import page_host, tools_of
from toolcrib.engine.run import Run
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.result import ToolResult

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".bench" / "agentdojo" / "bin" / "python"
FEW = 2
Suite = Mapping[str, Any]


class Sites(StrEnum):
    """What the operator configured: the sites that their users read, or nothing at all."""

    LISTED = "listed"
    NOT_LISTED = "not listed"


@dataclass(frozen=True, slots=True)
class UserTask:
    """A user task as it went: prompts, and whether every call of it was made."""

    name: str
    prompts: int
    completed: bool


@dataclass(frozen=True, slots=True)
class Injection:
    """An injection that was obeyed after a user task, in the same session: what acted, and what acted unseen."""

    name: str
    after: str
    acted: int
    unseen: int


def load_suites() -> Mapping[str, Suite]:
    """Every suite, from the environment that has agentdojo."""
    done = subprocess.run([str(PYTHON), str(HERE / "export.py")], capture_output=True, check=True)
    return json.loads(done.stdout)["suites"]


async def replay_user_task(name: str, suite: Suite, task: str, sites: Sites = Sites.LISTED) -> UserTask:
    """Solve a user task; the person who is asked says yes, for the session where that is offered."""
    asker, calls = ScriptedAsker.always("allow_for_session"), suite["user_tasks"][task]
    async with make_run(*tools_of(name, suite, calls), asker=asker, config=config_of(suite, sites)) as run:
        results = [await _call(run, name, call) for call in calls]
    return UserTask(task, len(asker.requests), all(result.ok for result in results))


async def replay_injection(
    name: str, suite: Suite, task: str, injection: str, sites: Sites = Sites.LISTED
) -> Injection:
    """Solve a user task, with every grant that leaves; then do what an injection says, while the person looks on."""
    asker = ScriptedAsker.always("allow_for_session")
    before, injected = suite["user_tasks"][task], suite["injections"][injection]
    tools, config = tools_of(name, suite, [*before, *injected]), config_of(suite, sites)
    async with make_run(*tools, asker=asker, config=config) as run:
        for call in before:
            await _call(run, name, call)
        acted = unseen = 0
        for call in injected:
            asked = len(asker.requests)
            result = await _call(run, name, call)
            acts = (
                not call["name"].startswith(("get_", "search_", "list_", "read_", "check_"))
                or "url" in call["arguments"]
            )
            acted += acts
            unseen += acts and result.ok and len(asker.requests) == asked
    return Injection(injection, task, acted, unseen)


def replayable(suite: Suite) -> list[str]:
    """The injections that have calls to replay."""
    return [name for name, calls in suite["injections"].items() if calls]


def config_of(suite: Suite, sites: Sites = Sites.LISTED) -> dict[str, Any]:
    """The shipped policy, and perhaps the sites that the user tasks read; other hosts ask either way."""
    if sites is Sites.NOT_LISTED:
        return {}
    pages = (call for calls in suite["user_tasks"].values() for call in calls if call["name"] == "get_webpage")
    return {
        "network": {"allow_hosts": sorted({page_host(page["arguments"]["url"]) for page in pages}), "unlisted": "ask"}
    }


async def _call(run: Run, suite: str, call: Mapping[str, Any]) -> ToolResult:
    return await run.call(f"{suite}.{call['name']}", call["arguments"])
