"""`python bench/server_faults.py [how …]`: servers that break, beside one that works: time, memory, and who notices.

The one that works is in a process of its own, and has neither a compiler nor a collector of garbage that would make it
slow at times of its own; its tool is called every 2.5 ms, in windows of 2 s of two kinds that come in random order: in
half of them a second server is called and breaks (`broken`), in the others (`without`) it is called and works. It is
connected before its window and ended after it, unless connecting or ending is what breaks: then both are in the window,
whatever the server does, which does not end before all of that has. A process that starts takes from those that run:
where one is started anew because it crashed, the one that works is started in its window too. All that is measured has
priority over the second server's process: what any busy process does to a machine is not the doing of a client.

What counts is the wall time from the moment that a call was due to its end, so that a call that could not even begin
has waited too. Machines have bad moments, which only ever add, and each makes the p99 of one window what it never is
otherwise: so what is compared is the mean p99 of the quieter half of the windows of each kind. `from` and `to` are what
the ratio is in nine of ten draws of as many windows from those that were measured, and `same` how far it is from 1, in
nine of ten draws, between windows without a fault and others without one.
Memory is the highest that it ever was in a window with a fault. With names, only those faults are measured.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import math
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/sources/mcp"))
from servers_at_hand import hostile
from web_at_hand import Web

from toolcrib import Run, Toolcrib
from toolcrib.assemble.servers import Log, Shelf
from toolcrib.executors.tree import family
from toolcrib.sources.mcp.entry import entry_of
from toolcrib.sources.mcp.source import McpSource
from toolcrib.values.json import Json

MOST_MIB, MOST_STALL_MS, MOST_P99 = 32, 50, 1.10
ROUNDS, DRAWS = 16, 200
READ = {"misbehave": {"effect": "read"}, "echo": {"effect": "read"}}
EVERY, WINDOW = 0.0025, 2.0
ORDINARY = ("chrt", "--other", "0")
LIBC, TIMER_ABSTIME = ctypes.CDLL(None), 1
IDLER = """
import ctypes, os
ctypes.CDLL(None).prctl(1, 9)  # ends with whoever measures, however that ends
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
group = "/proc/self/autogroup"  # some kernels share time among sessions first
if os.path.exists(group):
    with open(group, "w") as nice:
        nice.write("19")
while True:
    pass
"""
CHANCE = random.Random(7)
"""The same order of windows each time."""


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
    ends: bool = False
    """Whether it is ending it that breaks."""
    restarts: bool = False
    """Whether it is started anew in its window; then the one that works is started in its own."""


FAULTS = [
    Fault("exits in the middle of a call", "crash", 1, restarts=True),
    Fault("hangs on a call", "hang", 3, limit_ms=1_000),
    Fault("hangs when it is connected", "deaf", 3, connects=True),
    Fault("garbage between messages", "garbage", 2),
    Fault("a line of 64 MiB", "bigline", 5, limit_ms=10_000),
    Fault("answers nobody asked for", "wrongid", 2),
    Fault("16 MiB of words beside the protocol", "stderrflood", 10, limit_ms=10_000),
    Fault("ignores its end, has children", "survive", 2, ends=True),
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
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # for all that is measured, ahead of all that is not
    with _awake():
        return _all_measured()


def _all_measured() -> int:
    missed = 0
    named = sys.argv[1:]
    print(f"{'a server that breaks':36}{'s':>6}{'MiB':>6}{'worst':>6} | p99, ms: without broken", end="")
    print(f" |{'ratio':>6}{'from':>6}{'to':>6}{'same':>6}{'calls':>7}")
    for fault in FAULTS:
        if named and fault.how not in named:
            continue
        found = asyncio.run(measure(fault))
        ratio = found.broken / found.without
        over = [found.seconds > fault.deadline, found.grown > MOST_MIB, found.worst > MOST_STALL_MS, ratio > MOST_P99]
        missed += any(over)
        print(f"{fault.words:36}{found.seconds:>6.2f}{found.grown:>6.1f}{found.worst:>6.1f} |{'':9}", end="")
        print(f"{found.without:>8.2f}{found.broken:>7.2f} |{ratio:>6.2f}{found.least:>6.2f}{found.most:>6.2f}", end="")
        print(f"{found.same:>6.2f}{found.calls:>7}", "  MISSED" if any(over) else "", flush=True)
    print(f"held to: each deadline, ≤ {MOST_MIB} MiB, worst ≤ {MOST_STALL_MS} ms, p99 ≤ {MOST_P99:.2f} ×")
    return 1 if missed else 0


@dataclass(frozen=True, slots=True)
class Found:
    """Seconds until the fault was over, MiB at the peak, and how long calls of the other server took, in ms."""

    seconds: float
    grown: float
    worst: float
    without: float
    broken: float
    least: float
    most: float
    same: float
    calls: int


async def measure(fault: Fault) -> Found:
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        good = hostile() | {"network": False, "tools": READ}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"good": good}}))
        crib = await stack.enter_async_context(Toolcrib.open(home=home, config={"toolsets": []}))
        entry = await _entry(fault, stack)
        sound = await _entry(replace(fault, how=""), stack)
        other = Other(await stack.enter_async_context(crib.run()))
        first = Use(crib, entry)
        await other.during(asyncio.create_task(first.whole()))  # what is loaded once is no fault's doing
        first.clear()
        spent: dict[str, list[list[float]]] = {"without": [], "broken": []}
        ended: list[float] = []
        peak = 0.0
        gc.collect()
        gc.freeze()  # as a program does that runs for long: else everything it holds is walked through now and then
        for kind in CHANCE.sample(list(spent) * ROUNDS, 2 * ROUNDS):
            use = Use(crib, entry if kind == "broken" else sound)
            if not fault.connects and not (fault.restarts and kind == "without"):
                await use.connect()
            before = _fresh_peak()
            work = asyncio.create_task(use.whole() if fault.connects or fault.ends else use.call())
            spent[kind] += _windows(await other.during(work))
            if kind == "broken":
                peak = max(peak, _memory("VmHWM") - before)
                ended.append(work.result())
            await use.end()
            use.clear()
        return _found(spent["without"], spent["broken"], max(ended), peak)


def _windows(calls: list[float]) -> list[list[float]]:
    """Windows of one length: of short ones the quietest are quieter than of long ones."""
    size = round(WINDOW / EVERY)
    return [calls[start : start + size] for start in range(0, max(len(calls) - size, 0) + 1, size)]


def _found(without: list[list[float]], broken: list[list[float]], seconds: float, grown: float) -> Found:
    ratios = sorted(_quieter(_drawn(broken)) / _quieter(_drawn(without)) for _ in range(DRAWS))
    same = sorted(abs(math.log(_quieter(_drawn(without)) / _quieter(_drawn(without)))) for _ in range(DRAWS))
    calls = list(chain(*broken))
    least, most, far = ratios[DRAWS // 20], ratios[-DRAWS // 20], math.exp(same[-DRAWS // 10]) - 1
    return Found(seconds, grown, max(calls) * 1e3, _quieter(without), _quieter(broken), least, most, far, len(calls))


def _drawn(windows: list[list[float]]) -> list[list[float]]:
    return CHANCE.choices(windows, k=len(windows))


def _quieter(windows: list[list[float]]) -> float:
    """The mean p99 of the quieter half of the windows, in ms."""
    slowest = sorted(statistics.quantiles(window, n=100)[98] for window in windows)
    return statistics.mean(slowest[: len(slowest) // 2]) * 1e3


@contextmanager
def _awake() -> Generator[None]:
    """Keep the machine from falling asleep between calls, by work that steps back for any other: waking up takes as
    long as a call, or twice as long, or half."""
    argv = (sys.executable, "-c", IDLER)
    idlers = [subprocess.Popen(argv, start_new_session=True) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for idler in idlers:
            idler.kill()
            idler.wait()


async def _entry(fault: Fault, stack: AsyncExitStack) -> Json:
    entry: dict[str, object] = {"timeout_ms": fault.limit_ms, "connect_timeout_ms": 2_000, "network": False}
    entry["tools"] = READ
    if fault.web:
        return cast("Json", entry | {"url": await stack.enter_async_context(_web(fault.how))})
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    server = hostile(fault.how, folder / "note")
    argv = [*ORDINARY, server["command"], *cast("list[str]", server["args"])]
    return cast("Json", entry | {"command": argv[0], "args": argv[1:]})


@asynccontextmanager
async def _web(how: str) -> AsyncGenerator[str]:
    """The address of a server over HTTP that breaks like this."""
    argv = (*ORDINARY, sys.executable, __file__, "--web", how)
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
    """A second server from its start to its end."""

    def __init__(self, crib: Toolcrib, entry: Json) -> None:
        self.crib = crib
        self.shelf = Shelf(crib.runtime.registry)
        log = Log(crib.runtime.store, crib.runtime.redactor)
        entries = [entry_of("bad", entry, "bench")]
        assert crib.servers is not None
        self.source = McpSource(
            entries, os.environ, self.shelf.publish_gently, log.note, family, traffic=crib.servers.traffic
        )
        self.stack = AsyncExitStack()
        self.run: Run | None = None

    async def connect(self) -> None:
        await self.source.ready()
        if "mcp.bad.misbehave" in self.crib.runtime.registry.snapshot:
            self.run = await self.stack.enter_async_context(self.crib.run())

    async def whole(self) -> float:
        """All of it; the seconds until whoever called knew."""
        spent = await self.call()
        await self.end()
        return spent

    async def call(self) -> float:
        """Call what misbehaves, once it is connected; the seconds until whoever called knew."""
        began = time.monotonic()
        if self.run is None:
            await self.connect()
        if self.run is not None:
            await self.run.call("mcp.bad.misbehave")
        return time.monotonic() - began

    async def end(self) -> None:
        await self.stack.aclose()
        await self.source.close()

    def clear(self) -> None:
        """Take what is left of it off the shelf: the doing of whoever measures."""
        self.shelf.publish("bad", [])


class Other:
    """Somebody who calls the server that works, again and again."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.number = 0

    async def during(self, work: asyncio.Task[Any]) -> list[float]:
        """How long each call took from the moment it was due, while the work is done and for a window at least."""
        spent: list[float] = []
        due = time.monotonic() + EVERY
        until = due + WINDOW
        with Clock() as clock:
            while not work.done() or due < until:
                await clock.reach(due)
                self.number += 1
                result = await self.run.call("mcp.good.echo", {"text": f"number {self.number}"})
                spent.append(time.monotonic() - due)
                assert result.ok, result
                due += EVERY
        await work
        return spent


class Clock:
    """Wakes the loop at a moment. The loop's own timers are good to a millisecond, and looking at the time again and
    again would take from those who are measured."""

    def __enter__(self) -> Clock:
        self._timer = LIBC.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._timer >= 0
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._timer)

    async def reach(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        there = loop.create_future()
        moment = struct.pack("qqqq", 0, 0, int(due), int(due % 1 * 1e9))
        assert LIBC.timerfd_settime(self._timer, TIMER_ABSTIME, moment, None) == 0
        loop.add_reader(self._timer, there.set_result, None)
        try:
            await there
        finally:
            loop.remove_reader(self._timer)


def _fresh_peak() -> float:
    """Forget the highest use of memory so far; MiB now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(which: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))


if __name__ == "__main__":
    sys.exit(main())
