"""Rate limits hold across real processes, and across those that die."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolcrib import Toolcrib, tool
from toolcrib.testing import make_run

WORKER = Path(__file__).with_name("limit_worker.py")


def work(home: Path, processes: int, seconds: float, max_calls: int, per_seconds: float) -> tuple[int, float]:
    """Let processes call as often as they may; how often they could in all, and the longest it can have taken."""
    words = [sys.executable, str(WORKER), str(home), str(seconds), str(max_calls), str(per_seconds)]
    workers = [
        subprocess.Popen(words + ["--die"] * (n == 0), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(processes)
    ]
    for worker in workers:
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
    began = time.monotonic()
    done = [int(worker.communicate("go\n", timeout=60)[0]) for worker in workers]
    return sum(done), time.monotonic() - began


def test_processes_together_never_go_over_the_limit_and_do_use_it(tmp_path: Path) -> None:
    done, took = work(tmp_path, 3, 1.5, max_calls=200, per_seconds=4.0)
    assert done <= 200 + took * 50
    assert done >= 150


def test_a_slow_limit_holds_to_the_very_call(tmp_path: Path) -> None:
    done, _ = work(tmp_path, 3, 0.5, max_calls=7, per_seconds=86_400)
    assert done == 7


@pytest.mark.anyio
async def test_what_was_spent_before_a_restart_is_spent_after_it(tmp_path: Path) -> None:
    @tool.read(name="look.up")
    async def look(n: int) -> int:
        """Look."""
        return n

    config = {"toolsets": [], "limits": {"rate": {"**": {"max_calls": 5, "per_seconds": 86_400}}}}
    done: list[bool] = []
    for start in (0, 10):
        async with Toolcrib.open(home=tmp_path, tools=[look], config=config) as crib, crib.run() as run:
            done += [(await run.call("look.up", {"n": start + n})).ok for n in range(3)]
    assert done == [True, True, True, True, True, False]


@pytest.mark.anyio
@pytest.mark.parametrize(("table", "allowed"), [("agent_rate", 2), ("session_rate", 4)])
async def test_agents_and_sessions_have_limits_for_many_tools_together(
    tmp_path: Path, table: str, allowed: int
) -> None:
    @tool.read(name="look.here")
    async def here(n: int) -> int:
        """Look here."""
        return n

    @tool.read(name="look.there")
    async def there(n: int) -> int:
        """Look there."""
        return n

    config = {"toolsets": [], "limits": {table: {"look.*": {"max_calls": 2, "per_seconds": 3600}}}}
    done = 0
    async with Toolcrib.open(home=tmp_path, tools=[here, there], config=config) as crib:
        for session in ("one", "two"):
            async with crib.run(session=session) as run:
                for n, name in enumerate(("look.here", "look.there", "look.here")):
                    result = await run.call(name, {"n": n + 10 * done})
                    done += result.ok
        assert done == allowed
        assert result.error
        assert result.error.details["retry_after"] == pytest.approx(1800, rel=0.01)


@pytest.mark.anyio
async def test_a_limit_that_cannot_be_looked_up_denies() -> None:
    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    config = {"limits": {"rate": {"**": {"max_calls": 5, "per_seconds": 60}}}}
    async with make_run(look, config=config) as run:

        async def fail(*_: object) -> None:
            from toolcrib import StoreError

            raise StoreError("disk on fire")

        run.runtime.store.draw = fail  # type: ignore[method-assign, assignment]
        result = await run.call("look.up")
    assert result.reason == "storage_error"
    assert "rate limit" in result.text
