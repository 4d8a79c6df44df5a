"""Bombs beside ordinary work: the command ends with an error, and other calls go on as if it were not there."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.catalog.decorate import tool
from toolcrib.engine.run import Run
from toolcrib.executors.process import ProcessRunner
from toolcrib.testing import make_run
from toolcrib.values.process import MIB, End, Job, ProcessLimits

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ROUNDS = 5
SLICE = 0.020
"""A turn of the scheduler, which anything that runs on the same machine may cost."""
NO_LOOPS = {f"limits.loop.{name}": 0 for name in ("same_call", "same_tool", "oscillation", "no_progress")}
"""The other calls are the same one over and over, which is what they are here for."""
FORKS = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
HOARDS = "held = []\nwhile True: held.append(bytearray(b'x' * 10_000_000))"
WRITES = "file = open('big', 'wb')\nwhile True: file.write(bytes(1_000_000))"
OPENS = "import os\nfiles = []\nwhile True: files.append(os.open('/dev/null', 0))"
BOMBS = {
    "processes": (FORKS, ProcessLimits(processes=200), End.TOO_MANY_PROCESSES),
    "memory": (HOARDS, ProcessLimits(memory=1_000 * MIB), End.OUT_OF_MEMORY),
    "file size": (WRITES, ProcessLimits(file_size=500_000_000), End.EXITED),
    "open files": (OPENS, ProcessLimits(open_files=2_000), End.EXITED),
}


@tool.read
async def look() -> str:
    """Look."""
    return "seen"


@pytest.mark.parametrize(("code", "limits", "end"), BOMBS.values(), ids=BOMBS.keys())
async def test_other_calls_stay_within_twice_their_time(
    code: str, limits: ProcessLimits, end: End, tmp_path: Path
) -> None:
    words = (sys.executable, "-I", "-S", "-c", code)
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    job = Job(
        executable=sys.executable, argv=words, cwd=str(tmp_path), environment=environment, timeout=60, limits=limits
    )  # fmt: skip
    runner, seen = ProcessRunner(), []
    async with make_run(look, config=NO_LOOPS) as run:
        for _ in range(ROUNDS):
            until = time.monotonic() + 0.5
            alone = await _slowest_but_one_in_a_hundred(run, lambda until=until: time.monotonic() > until)
            bomb = asyncio.create_task(runner.run(job))
            beside = await _slowest_but_one_in_a_hundred(run, bomb.done)
            ended = await bomb
            assert ended.end is end
            assert ended.code != 0
            seen.append((alone, beside))
            if beside < 2 * alone + SLICE:
                break
    await runner.close()
    assert any(beside < 2 * alone + SLICE for alone, beside in seen), seen


async def _slowest_but_one_in_a_hundred(run: Run, over: Callable[[], bool]) -> float:
    times: list[float] = []
    while not over():
        began = time.perf_counter()
        result = await run.call("look", {})
        times.append(time.perf_counter() - began)
        assert result.ok
        await asyncio.sleep(0.001)
    return sorted(times)[len(times) * 99 // 100]
