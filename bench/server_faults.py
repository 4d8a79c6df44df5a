"""`python bench/server_faults.py`: servers that break, beside one that works: time, memory, and who notices.

Each fault happens once while a server of this process is called 1,500 times. For the other server's calls the CPU
time that the loop spent between the start and the end of a call is compared, without and with the fault: on a machine
that others use too, times on the clock say more about them.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psutil

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

MIB = 1024 * 1024
MOST_MIB, MOST_STALL_MS, MOST_P99 = 32, 50, 1.10
ROUNDS = 1
CALLS = 1_500


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
    print(f"{'a server that breaks':40}{'seconds':>9}{'MiB':>7}{'stall ms':>10}{'p99 of others':>15}")
    for fault in FAULTS:
        found = [asyncio.run(measure(fault)) for _ in range(ROUNDS)]
        seconds, grown, stall, p99 = (statistics.median(each) for each in zip(*found, strict=True))
        over = [seconds > fault.deadline, grown > MOST_MIB, stall > MOST_STALL_MS, p99 > MOST_P99]
        missed += any(over)
        flag = "  MISSED" if any(over) else ""
        print(f"{fault.words:40}{seconds:>9.2f}{grown:>7.1f}{stall:>10.1f}{p99:>15.2f}{flag}")
    print(f"held to: deadline of each, ≤ {MOST_MIB} MiB, ≤ {MOST_STALL_MS} ms of CPU in one piece, ≤ {MOST_P99:.2f}")
    return 1 if missed else 0


async def measure(fault: Fault) -> tuple[float, float, float, float]:
    """Seconds until the fault was over, MiB grown, longest stall, and the other server's p99 in its quiet one."""
    async with AsyncExitStack() as stack:
        entry: dict[str, object] = {"timeout_ms": fault.limit_ms, "connect_timeout_ms": 2_000}
        entry["tools"] = {"misbehave": {"effect": "read"}}
        entry["network"] = False
        if fault.web:
            web = await stack.enter_async_context(Web(fault.how, "http://127.0.0.1:9/mcp").running())
            entry["url"] = web.url
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            entry |= hostile(fault.how, folder / "note")
        crib = await stack.enter_async_context(crib_of({"good": Stub(0)}))
        log = Log(crib.runtime.store, crib.runtime.redactor)
        shelf = Shelf(crib.runtime.registry)
        bad = McpSource(
            [entry_of("bad", cast("Json", entry), "bench")], os.environ, shelf.publish_gently, log.note, family
        )
        stack.push_async_callback(bad.close)
        other = Other(await stack.enter_async_context(crib.run()))
        quiet = await other.during(asyncio.sleep(0))
        gc.collect()
        before = psutil.Process().memory_info().rss
        async with Heart() as heart:
            breaking = Timed(_break(crib, bad))
            noisy = await other.during(breaking.done())
            spent = breaking.seconds
        grown = max(0, psutil.Process().memory_info().rss - before) / MIB
        return spent, grown, heart.longest * 1e3, noisy / quiet


async def _break(crib: Toolcrib, bad: McpSource) -> None:
    """Connect, and call what misbehaves."""
    await bad.ready()
    if "mcp.bad.misbehave" in crib.runtime.registry.snapshot:
        async with crib.run() as run:
            await run.call("mcp.bad.misbehave")


class Timed:
    """Work, and how long it took."""

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self.work = work
        self.seconds = 0.0

    async def done(self) -> None:
        began = time.monotonic()
        await self.work
        self.seconds = time.monotonic() - began


class Other:
    """Somebody who calls the server that works, again and again."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.number = 0

    async def during(self, work: Coroutine[Any, Any, None]) -> float:
        """The 99th percentile of the calls' CPU seconds while the work is done."""
        task = asyncio.ensure_future(work)
        spent: list[float] = []
        while not task.done() or len(spent) < CALLS:
            self.number += 1
            began = time.thread_time()
            result = await self.run.call("mcp.good.tool_3", {"query": f"number {self.number}"})
            spent.append(time.thread_time() - began)
            assert result.ok, result
            await asyncio.sleep(0.002)
        await task
        return statistics.quantiles(spent, n=100)[98]


class Heart:
    """Beats on the loop; the longest CPU time between two beats is what somebody had to wait for."""

    async def __aenter__(self) -> Heart:
        self.longest = 0.0
        self.task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()

    async def _beat(self) -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            self.longest = max(self.longest, time.thread_time() - began)
            await asyncio.sleep(0.001)


if __name__ == "__main__":
    sys.exit(main())
