"""Commands: starting one beside a bare subprocess, in each sandbox of this machine, and the cost of a long output.

`commands.py spawn` prints medians in milliseconds; `commands.py output` prints the memory that 1 GB of output costs;
`commands.py bombs` prints the 99th percentile of other calls alone and beside commands that fork, hoard memory, write
and open files without end: it should stay within twice.
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

from toolcrib.catalog.decorate import tool
from toolcrib.engine.run import Run
from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.sandbox import Mode, Sandbox
from toolcrib.testing import make_run
from toolcrib.toolsets.shell.spool import Spool
from toolcrib.values.process import MIB, Confinement, Job, ProcessLimits

ROUNDS = 60
PYTHON = os.path.realpath(shutil.which("python3", path=os.defpath) or sys.executable)
BOMB_ROUNDS = 8
NO_LOOPS = {f"limits.loop.{name}": 0 for name in ("same_call", "same_tool", "oscillation", "no_progress")}
BOMBS = {
    "forks": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", ProcessLimits(processes=200)),
    "hoards": ("held = []\nwhile True: held.append(bytearray(b'x' * 10_000_000))", ProcessLimits(memory=1_000 * MIB)),
    "writes": (
        "file = open('big', 'wb')\nwhile True: file.write(bytes(1_000_000))",
        ProcessLimits(file_size=500_000_000),
    ),
    "opens": (
        "import os\nfiles = []\nwhile True: files.append(os.open('/dev/null', 0))",
        ProcessLimits(open_files=2_000),
    ),
}
TRUE = shutil.which("true") or "/bin/true"


def main(mode: str) -> None:
    print(json.dumps(asyncio.run({"spawn": spawn, "output": output, "bombs": bombs}[mode]())))


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


async def bombs() -> dict[str, dict[str, float]]:
    """The 99th percentile in milliseconds over all rounds: in one round it would be the slowest call or two."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        runner, sandbox = ProcessRunner(), Sandbox(Mode.AUTO)
        async with make_run(look, config=NO_LOOPS) as run:
            for name, (code, limits) in BOMBS.items():
                confinement = sandbox.confine(PYTHON, folder, Bounds.of([folder]))
                job = _bomb(code, limits, folder, confinement)
                alone, beside = list[float](), list[float]()
                for _ in range(BOMB_ROUNDS):
                    until = time.monotonic() + 0.4
                    alone += await _times(run, lambda until=until: time.monotonic() > until)
                    bomb = asyncio.create_task(runner.run(job))
                    beside += await _times(run, bomb.done)
                    assert (await bomb).code != 0
                without, with_it = (statistics.quantiles(times, n=100)[98] for times in (alone, beside))
                found[name] = {"alone_ms": without, "beside_ms": with_it, "ratio": with_it / without}
        await runner.close()
        sandbox.close()
    return found


def _bomb(code: str, limits: ProcessLimits, cwd: str, confinement: Confinement | None) -> Job:
    return Job(
        executable=PYTHON,
        argv=(PYTHON, "-I", "-S", "-c", code),
        cwd=cwd,
        environment={"PATH": os.defpath},
        timeout=60,
        limits=limits,
        confinement=confinement,
    )


@tool.read
async def look() -> str:
    """Look."""
    return "seen"


async def _times(run: Run, over: Callable[[], bool]) -> list[float]:
    times: list[float] = []
    while not over():
        began = time.perf_counter()
        assert (await run.call("look", {})).ok
        times.append((time.perf_counter() - began) * 1_000)
        await asyncio.sleep(0.001)
    return times


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
