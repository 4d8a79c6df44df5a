"""Commands: starting one beside a bare subprocess, in each sandbox of this machine, and the cost of a long output.

`commands.py spawn` prints medians in milliseconds; `commands.py output` prints the memory that 1 GB of output costs.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable

from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.sandbox import Mode, Sandbox
from toolcrib.toolsets.shell.spool import Spool
from toolcrib.values.process import MIB, Confinement, Job

ROUNDS = 60
TRUE = shutil.which("true") or "/bin/true"


def main(mode: str) -> None:
    print(json.dumps(asyncio.run({"spawn": spawn, "output": output}[mode]())))


async def spawn() -> dict[str, float]:
    """Median time from asking for a command to knowing its end; interleaved, so that all see the same machine."""
    with tempfile.TemporaryDirectory() as folder:
        runner, sandbox = ProcessRunner(), Sandbox(Mode.AUTO)
        bounds = Bounds.of([folder])
        ways: dict[str, Callable[[], Awaitable[object]]] = {"raw": _raw, "plain": _run(runner, folder, None)}
        for backend in sandbox.backends():
            ways[backend.name] = _run(runner, folder, backend.confine(bounds, folder))
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                began = time.perf_counter()
                await way()
                times[name].append((time.perf_counter() - began) * 1_000)
        await runner.close()
        sandbox.close()
        found = {f"{name}_ms": statistics.median(each) for name, each in times.items()}
        return found | {f"{name}_best_ms": min(each) for name, each in times.items()}


async def output() -> dict[str, float]:
    """Memory before and after a command wrote 1 GB, with an artifact of 64 MiB kept on the way."""
    runner, spool = ProcessRunner(), Spool(64 * MIB)
    await _run(runner, "/", None)()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = ("head", "-c", "1000000000", "/dev/zero")
    job = Job(executable=shutil.which("head") or "/usr/bin/head", argv=words, cwd="/", environment={}, timeout=300)
    began = time.perf_counter()
    ended = await runner.run(job, stdout=spool.take)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await runner.close()
    assert (ended.stdout.total, spool.size) == (1_000_000_000, 64 * MIB)
    return {"grown_mb": (after - before) / 1024, "rss_mb": after / 1024, "seconds": seconds}


async def _raw() -> object:
    return subprocess.run([TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: ASYNC221 - the yardstick


def _run(runner: ProcessRunner, cwd: str, confinement: Confinement | None) -> Callable[[], Awaitable[object]]:
    environment = {"PATH": os.defpath}
    job = Job(
        executable=TRUE, argv=("true",), cwd=cwd, environment=environment, timeout=30, confinement=confinement
    )  # fmt: skip
    return lambda: runner.run(job)


if __name__ == "__main__":
    main(sys.argv[1])
