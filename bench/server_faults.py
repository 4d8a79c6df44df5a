"""`python bench/server_faults.py [how …]`: servers that break, beside one that works: time, memory, and who notices.

The one that works is a real server in a process of its own; its tool is called every 5 ms, in windows of 2 s that take
turns: nothing else happens (`alone`, in two of four windows), a second server that works is called and ended (`sound`),
or the one that breaks is (`broken`). One that breaks when it is called is connected before its window begins; where
connecting is what breaks, that is in the window too, and a process that starts takes from those that run, whatever it
then does: those faults are held to `sound`, the others to `alone`. A window does not end before the last process of its
second server has. What counts is the wall time from the moment that a call was due to its end, so that a call that
could not even begin has waited too; the p99 is that of all calls of the windows of one kind. `noise` is the p99 of one
half of the windows in which nothing happened over that of the other half: no ratio can be told from 1 more finely than
that. Memory is the highest that it ever was in windows of the last kind. With names, only those faults are measured.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/sources/mcp"))
from servers_at_hand import hostile
from test_real_web import NODE
from web_at_hand import Web

from toolcrib import Run, Toolcrib
from toolcrib.assemble.servers import Log, Shelf
from toolcrib.executors.tree import family
from toolcrib.sources.mcp.entry import entry_of
from toolcrib.sources.mcp.source import McpSource
from toolcrib.values.json import Json

MOST_MIB, MOST_STALL_MS, MOST_P99 = 32, 50, 1.10
ROUNDS = 8
READ = {"misbehave": {"effect": "read"}, "echo": {"effect": "read"}}
EVERY, WINDOW, NEAR = 0.005, 2.0, 0.0015


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break, how often it is called for, and by when everything must be over."""

    words: str
    how: str
    deadline: float
    web: bool = False
    limit_ms: int = 2_000
    connects: bool = False
    """Whether it is connecting that breaks."""


FAULTS = [
    Fault("exits in the middle of a call", "crash", 1),
    Fault("hangs on a call", "hang", 3, limit_ms=1_000),
    Fault("hangs when it is connected", "deaf", 3, connects=True),
    Fault("garbage between messages", "garbage", 2),
    Fault("a line of 64 MiB", "bigline", 5, limit_ms=10_000),
    Fault("answers nobody asked for", "wrongid", 2),
    Fault("16 MiB of words beside the protocol", "stderrflood", 10, limit_ms=10_000),
    Fault("ignores its end, has children", "survive", 2),
    Fault("connection reset (HTTP)", "reset mid-body", 2, web=True),
    Fault("an answer of 64 MiB (HTTP)", "large", 10, web=True, limit_ms=10_000),
    Fault("half-open (HTTP)", "half-open", 3, web=True, limit_ms=1_000),
    Fault("redirect elsewhere (HTTP)", "redirect", 3, web=True, connects=True),
    Fault("wants another token for ever (HTTP)", "401", 3, web=True, connects=True),
    Fault("1,000 changes a second", "storm", 5, limit_ms=10_000),
    Fault("10,000 tools", "many", 10, connects=True),
    Fault("pages that go round in a circle", "circle", 3, connects=True),
]


def main() -> int:
    if sys.argv[1:2] == ["--web"]:
        asyncio.run(_serve(sys.argv[2]))
        return 0
    missed = 0
    named = sys.argv[1:]
    print(f"{'a server that breaks':36}{'s':>6}{'MiB':>6}{'worst':>6} | p99, ms: alone  sound broken", end="")
    print(f" | {'broken':>15}{'noise':>7}{'calls':>7}")
    for fault in FAULTS:
        if named and fault.how not in named:
            continue
        found = asyncio.run(measure(fault))
        over = [found.seconds > fault.deadline, found.grown > MOST_MIB, found.worst > MOST_STALL_MS]
        ratio = found.broken / (found.sound if fault.connects else found.alone)
        over.append(ratio > MOST_P99)
        missed += any(over)
        print(f"{fault.words:36}{found.seconds:>6.2f}{found.grown:>6.1f}{found.worst:>6.1f} |{'':9}", end="")
        print(f"{found.alone:>6.2f}{found.sound:>7.2f}{found.broken:>7.2f} | {ratio:>6.2f}", end="")
        print(f" of {'sound' if fault.connects else 'alone'}{found.noise:>7.2f}{found.calls:>7}", end="")
        print("  MISSED" if any(over) else "", flush=True)
    print(f"held to: each deadline, ≤ {MOST_MIB} MiB, worst ≤ {MOST_STALL_MS} ms, p99 ≤ {MOST_P99:.2f} ×")
    return 1 if missed else 0


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds until the fault was over, MiB at the peak, and how long calls of the other server took, in ms."""

    seconds: float
    grown: float
    worst: float
    alone: float
    sound: float
    broken: float
    noise: float
    calls: int


async def measure(fault: Fault) -> Found:
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        script = NODE / "server-everything" / "dist" / "index.js"
        good = {"command": "node", "args": [str(script), "stdio"], "network": False, "tools": READ}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"good": good}}))
        crib = await stack.enter_async_context(Toolcrib.open(home=home, config={"toolsets": []}))
        entry, sound = await _entry(fault, stack), await _entry(replace(fault, how=""), stack)
        other = Other(await stack.enter_async_context(crib.run()))
        await other.during(asyncio.create_task(Use(crib, entry).whole()))  # what is loaded once is no fault's doing
        spent: dict[str, list[float]] = {"alone": [], "sound": [], "broken": [], "again": []}
        ended: list[float] = []
        peak = 0.0
        gc.collect()
        gc.freeze()  # as a program does that runs for long: else everything it holds is walked through now and then
        for number in range(ROUNDS):
            for kind in list(spent)[number % 4 :] + list(spent)[: number % 4]:
                use = Use(crib, {"sound": sound, "broken": entry}.get(kind))
                if not fault.connects:
                    await use.connect()
                before = _fresh_peak()
                work = asyncio.create_task(use.whole())
                spent[kind] += await other.during(work)
                if kind == "broken":
                    peak = max(peak, _memory("VmHWM") - before)
                    ended.append(work.result())
        alone = _p99(spent["alone"] + spent["again"])
        noise = _p99(spent["alone"]) / _p99(spent["again"])
        worst = max(spent["broken"]) * 1e3
        p99s = alone, _p99(spent["sound"]), _p99(spent["broken"])
        return Found(max(ended), peak, worst, *p99s, noise, len(spent["broken"]))


async def _entry(fault: Fault, stack: AsyncExitStack) -> Json:
    entry: dict[str, object] = {"timeout_ms": fault.limit_ms, "connect_timeout_ms": 2_000, "network": False}
    entry["tools"] = READ
    if fault.web:
        return cast("Json", entry | {"url": await stack.enter_async_context(_web(fault.how))})
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return cast("Json", entry | hostile(fault.how, folder / "note"))


@asynccontextmanager
async def _web(how: str) -> AsyncGenerator[str]:
    """The address of a server over HTTP that breaks like this."""
    argv = (sys.executable, __file__, "--web", how)
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.kill()
        await process.wait()


async def _serve(how: str) -> None:
    async with Web(how, "http://127.0.0.1:9/mcp").running() as web:
        print(web.url, flush=True)
        await asyncio.Event().wait()


class Use:
    """A second server from its start to its end; None is no server at all."""

    def __init__(self, crib: Toolcrib, entry: Json) -> None:
        self.crib = crib
        self.shelf = Shelf(crib.runtime.registry)
        log = Log(crib.runtime.store, crib.runtime.redactor)
        entries = [] if entry is None else [entry_of("bad", entry, "bench")]
        self.source = McpSource(entries, os.environ, self.shelf.publish_gently, log.note, family)
        self.stack = AsyncExitStack()
        self.run: Run | None = None

    async def connect(self) -> None:
        await self.source.ready()
        if "mcp.bad.misbehave" in self.crib.runtime.registry.snapshot:
            self.run = await self.stack.enter_async_context(self.crib.run())

    async def whole(self) -> float:
        """Call what misbehaves and end it all; the seconds until whoever called knew."""
        began = time.monotonic()
        try:
            if self.run is None:
                await self.connect()
            if self.run is not None:
                await self.run.call("mcp.bad.misbehave")
            return time.monotonic() - began
        finally:
            await self.stack.aclose()
            await self.source.close()
            self.shelf.publish("bad", [])


class Other:
    """Somebody who calls the server that works, again and again."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.number = 0

    async def during(self, work: asyncio.Task[Any]) -> list[float]:
        """How long each call took from the moment it was due, while the work is done and for a window at least."""
        spent: list[float] = []
        due = time.perf_counter() + EVERY
        until = due + WINDOW
        while not work.done() or due < until:
            await _moment(due)
            self.number += 1
            result = await self.run.call("mcp.good.echo", {"message": f"number {self.number}"})
            spent.append(time.perf_counter() - due)
            assert result.ok, result
            due += EVERY
        await work
        return spent


async def _moment(due: float) -> None:
    """Until then, and not until the millisecond after, to which the loop's own timers round."""
    if (left := due - time.perf_counter()) > NEAR:
        await asyncio.sleep(left - NEAR)
    while time.perf_counter() < due:
        await _others()


async def _others() -> None:
    """Everybody else's turn."""
    await asyncio.sleep(0)


def _p99(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98] * 1e3


def _fresh_peak() -> float:
    """Forget the highest use of memory so far; MiB now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(which: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))


if __name__ == "__main__":
    sys.exit(main())
