"""`python bench/server_faults.py [how …]`: servers that break, beside one that works: time, memory, and who notices.

Windows with and without the fault take turns. In both a server of this process is called every 2 ms. What counts is the
CPU time of the loop from the moment that a call was due to its end: what the loop did for somebody else while the call
could not even begin is waiting too, what other programs of the machine did is not. A window with a fault lasts from the
start of the bad server to the end of its last process. The server of this process answers at once; the ratio is that of
one that takes 5 ms to answer, as a quick server does. Memory is the highest that it ever was in these windows. With
names, only those faults are measured.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/sources/mcp"))
from servers_at_hand import hostile
from web_at_hand import Web

from servers import Stub, crib_of
from toolcrib import Run, Toolcrib
from toolcrib.assemble.servers import Log, Shelf
from toolcrib.executors.tree import family
from toolcrib.sources.mcp.entry import entry_of
from toolcrib.sources.mcp.source import McpSource
from toolcrib.values.json import Json

MOST_MIB, MOST_STALL_MS, MOST_P99 = 32, 50, 1.10
ROUNDS = 2
EVERY, WINDOW = 0.002, 3.0
ANSWER_MS = 5.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break, how often it is called for, and by when everything must be over."""

    words: str
    how: str
    deadline: float
    web: bool = False
    limit_ms: int = 2_000


FAULTS = [
    Fault("exits in the middle of a call", "crash", 1),
    Fault("hangs on a call", "hang", 3, limit_ms=1_000),
    Fault("hangs when it is connected", "deaf", 3),
    Fault("garbage between messages", "garbage", 2),
    Fault("a line of 64 MiB", "bigline", 5, limit_ms=10_000),
    Fault("answers nobody asked for", "wrongid", 2),
    Fault("16 MiB of words beside the protocol", "stderrflood", 10, limit_ms=10_000),
    Fault("ignores its end, has children", "survive", 2),
    Fault("connection reset (HTTP)", "reset mid-body", 2, web=True),
    Fault("an answer of 64 MiB (HTTP)", "large", 10, web=True, limit_ms=10_000),
    Fault("half-open (HTTP)", "half-open", 3, web=True, limit_ms=1_000),
    Fault("redirect elsewhere (HTTP)", "redirect", 3, web=True),
    Fault("wants another token for ever (HTTP)", "401", 3, web=True),
    Fault("1,000 changes a second", "storm", 5, limit_ms=10_000),
    Fault("10,000 tools", "many", 10),
    Fault("pages that go round in a circle", "circle", 3),
]


def main() -> int:
    missed = 0
    named = sys.argv[1:]
    print(f"{'a server that breaks':40}{'seconds':>9}{'MiB':>7}{'worst ms':>10}{'p99 ms':>9}{'with it':>9}{'ratio':>7}")
    for fault in FAULTS:
        if named and fault.how not in named:
            continue
        found = asyncio.run(measure(fault))
        over = [found.seconds > fault.deadline, found.grown > MOST_MIB, found.worst > MOST_STALL_MS]
        over.append(found.ratio > MOST_P99)
        missed += any(over)
        print(f"{fault.words:40}{found.seconds:>9.2f}{found.grown:>7.1f}{found.worst:>10.1f}", end="")
        print(f"{found.quiet:>9.2f}{found.noisy:>9.2f}{found.ratio:>7.2f}{'  MISSED' if any(over) else ''}", flush=True)
    print(f"held to: deadline of each, ≤ {MOST_MIB} MiB, no call waits > {MOST_STALL_MS} ms, ≤ {MOST_P99:.2f}")
    return 1 if missed else 0


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds until the fault was over, MiB at the peak, and how long calls of the other server took, in ms."""

    seconds: float
    grown: float
    worst: float
    quiet: float
    noisy: float

    @property
    def ratio(self) -> float:
        return (ANSWER_MS + self.noisy) / (ANSWER_MS + self.quiet)


async def measure(fault: Fault) -> Found:
    async with AsyncExitStack() as stack:
        crib = await stack.enter_async_context(crib_of({"good": Stub(0)}))
        entry = await _entry(fault, stack)
        other = Other(await stack.enter_async_context(crib.run()))
        await other.during(asyncio.create_task(_broken(crib, entry)))  # what is loaded once is no fault's doing
        quiet: list[float] = []
        noisy: list[float] = []
        ended: list[float] = []
        peak = 0.0
        for _ in range(ROUNDS):
            gc.collect()
            quiet += await other.during(asyncio.create_task(asyncio.sleep(0)))
            before = _fresh_peak()
            breaking = asyncio.create_task(_broken(crib, entry))
            noisy += await other.during(breaking)
            peak = max(peak, _memory("VmHWM") - before)
            ended.append(breaking.result())
        return Found(max(ended), peak, max(noisy) * 1e3, _p99(quiet), _p99(noisy))


async def _entry(fault: Fault, stack: AsyncExitStack) -> Json:
    entry: dict[str, object] = {"timeout_ms": fault.limit_ms, "connect_timeout_ms": 2_000, "network": False}
    entry["tools"] = {"misbehave": {"effect": "read"}}
    if fault.web:
        web = await stack.enter_async_context(Web(fault.how, "http://127.0.0.1:9/mcp").running())
        return cast("Json", entry | {"url": web.url})
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return cast("Json", entry | hostile(fault.how, folder / "note"))


async def _broken(crib: Toolcrib, entry: Json) -> float:
    """Connect, call what misbehaves, and end it all; the seconds until whoever called knew."""
    log, shelf = Log(crib.runtime.store, crib.runtime.redactor), Shelf(crib.runtime.registry)
    bad = McpSource([entry_of("bad", entry, "bench")], os.environ, shelf.publish_gently, log.note, family)
    began = time.monotonic()
    try:
        await bad.ready()
        if "mcp.bad.misbehave" in crib.runtime.registry.snapshot:
            async with crib.run() as run:
                await run.call("mcp.bad.misbehave")
        return time.monotonic() - began
    finally:
        await bad.close()
        shelf.publish("bad", [])


class Other:
    """Somebody who calls the server that works, again and again."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.number = 0

    async def during(self, work: asyncio.Task[Any]) -> list[float]:
        """How long each call took from the moment it was due, while the work is done and for a window at least."""
        spent: list[float] = []
        due = time.perf_counter()
        until = due + WINDOW
        while not work.done() or due < until:
            due = max(due + EVERY, time.perf_counter())
            before = time.thread_time()
            await asyncio.sleep(due - time.perf_counter())
            late, began = time.perf_counter() - due, time.thread_time()
            self.number += 1
            result = await self.run.call("mcp.good.tool_3", {"query": f"number {self.number}"})
            spent.append(min(max(late, 0), began - before) + time.thread_time() - began)
            assert result.ok, result
        await work
        return spent


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
