"""One short measurement of the kernel, printed as one line of JSON: `python bench/kernel.py MODE`.

Every mode measures itself beside its own yardstick in the same process: `await fn(**args)` for calls, one `fdatasync`
for durable commits. Times are CPU times of all threads, except where a disk is waited for.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from measure import ARGUMENT_TEXT, Function, make_functions, measure_import, time_raw
from toolcrib import Parts, PostHook, PreHook, Run, Toolcrib, tool
from toolcrib.testing import MemoryStore
from toolcrib.values.receipt import Receipt

ROUNDS = 5
Figures = dict[str, float]


class NoSink(MemoryStore):
    """A store that takes every record and keeps none: what the counter itself costs."""

    def __init__(self) -> None:
        super().__init__()
        self._done = Receipt(asyncio.get_running_loop())
        self._done.say(0)

    def append(self, unit: object) -> Receipt:
        return self._done

    def queue(self, unit: object) -> None:
        return


async def allow(invocation: object, origin: object) -> None:
    """A pre hook that has no objection."""


async def look(invocation: object, result: object, origin: object) -> None:
    """A post hook that looks away."""


@asynccontextmanager
async def governed_run(
    tools: list[object], name: str, *, sink: bool, config: dict[str, object] | None = None
) -> AsyncIterator[Run]:
    """A run with everything on: 50 rules, a rate limit, two pre hooks, one post hook."""
    rules = [{"tool": f"other{number}.*", "verdict": "deny"} for number in range(50)]
    settings = {
        "toolsets": [],
        "policy": {"rules": rules},
        "limits": {"rate": {name: {"max_calls": 1_000_000_000, "per_seconds": 1}}},
        **(config or {}),
    }
    hooks = [PreHook(run=allow), PreHook(run=allow), PostHook(run=look)]
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as home:
        parts = Parts() if sink else Parts(store=NoSink())
        async with (
            Toolcrib.open(home=home, tools=tools, hooks=hooks, config=settings, parts=parts) as crib,
            crib.run() as run,
        ):
            yield run


async def cpu_each(count: int, work: Callable[[], Awaitable[object]]) -> float:
    start = time.process_time()
    for _ in range(count):
        await work()
    return (time.process_time() - start) / count


async def beside(count: int, work: Callable[[], Awaitable[object]], raw: Function) -> Figures:
    """Medians of alternating rounds of the work and of `await raw(**arguments)`."""
    await cpu_each(count // 5 + 5, work)
    gc.collect()
    works, raws = list[float](), list[float]()
    for _ in range(ROUNDS):
        works.append(await cpu_each(count, work))
        raws.append(await time_raw(raw, max(count * 10, 20_000)))
    call, bare = statistics.median(works) * 1e6, statistics.median(raws) * 1e6
    return {"call_us": round(call, 2), "raw_us": round(bare, 4), "ratio": round(call / bare, 1)}


def new_arguments(count: int) -> Callable[[], str]:
    """Arguments that were not used before, again and again: the same call with the same result would be a loop."""
    return iter([json.dumps({"a": number, "b": 2}) for number in range(1, count + 1)]).__next__


async def call(tools: int) -> Figures:
    """A governed call with no sink, among many tools."""
    functions = make_functions(tools)
    function = functions[tools // 2]
    name = function.__name__
    async with governed_run([tool.read(each) for each in functions], name, sink=False) as run:
        result = await run.call(name, ARGUMENT_TEXT)
        assert result.data == 3, result
        new = new_arguments(25_000)
        return await beside(4_000, lambda: run.call(name, new()), function)


async def wide(tools: int) -> Figures:
    """A call with 30 fields, in multiples of our own call with two."""
    fields = ", ".join(f"field_{number}: int" for number in range(30))
    namespace: dict[str, object] = {}
    exec(f"async def wide({fields}) -> int:\n    '''Take many fields.'''\n    return field_0", namespace)
    (function,) = make_functions(1)
    text = json.dumps({f"field_{number}": number for number in range(30)})
    wides = iter([text.replace('"field_0": 0', f'"field_0": {number}') for number in range(1, 16_000)]).__next__
    new = new_arguments(16_000)
    both = [tool.read(function), tool.read(namespace["wide"])]  # type: ignore[arg-type]
    async with governed_run(both, "wide", sink=False) as run:
        assert (await run.call("wide", text)).ok
        many = [await cpu_each(3_000, lambda: run.call("wide", wides())) for _ in range(ROUNDS)]
        few = [await cpu_each(3_000, lambda: run.call("add_0", new())) for _ in range(ROUNDS)]
    return {"ratio": round(statistics.median(many) / statistics.median(few), 2)}


async def journalled(tools: int) -> Figures:
    """One agent, NORMAL durability, both events committed and awaited."""
    functions = make_functions(10)
    async with governed_run([tool.read(each) for each in functions], "add_5", sink=True) as run:
        new = new_arguments(10_000)
        return await beside(1_500, lambda: run.call("add_5", new()), functions[5])


async def crowd(tools: int) -> Figures:
    """64 agents at once, NORMAL durability, completion awaited."""
    functions = make_functions(10)
    new = new_arguments(64 * 10 * 50)
    async with governed_run([tool.read(each) for each in functions], "add_5", sink=True) as run:

        async def agent() -> None:
            for _ in range(10):
                await run.call("add_5", new())

        async def all_agents() -> None:
            await asyncio.gather(*(agent() for _ in range(64)))

        figures = await beside(8, all_agents, functions[5])
    each = figures["call_us"] / 640
    return {"call_us": round(each, 2), "ratio": round(each / figures["raw_us"], 1)}


def sync_seconds(folder: str, count: int) -> float:
    """The time of one fdatasync of a few kilobytes, as a commit has to write."""
    spent = list[float]()
    with open(Path(folder) / "probe", "wb", buffering=0) as file:
        for _ in range(count):
            file.write(os.urandom(8192))
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            spent.append(time.perf_counter() - start)
    return statistics.median(spent)


async def full(tools: int) -> Figures:
    """FULL durability, in multiples of one fdatasync: a read, a write with its start written ahead, 64 waiters."""
    (function,) = make_functions(1)
    rules = [{"tool": "act.now", "verdict": "allow"}]

    async def act(a: int, b: int) -> int:
        """Add, and call it a write."""
        return a + b

    both = [tool.read(function), tool.write(name="act.now")(act)]
    new = new_arguments(5_000)
    config: dict[str, object] = {"store": {"durability": "full"}, "policy": {"rules": rules}}
    async with governed_run(both, "none", sink=True, config=config) as run:
        folder = str(run.runtime.store.path.parent)  # type: ignore[attr-defined]
        syncs, reads, writes = list[float](), list[float](), list[float]()
        for _ in range(40):
            syncs.append(sync_seconds(folder, 2))
            reads.append(await wall(lambda: run.call("add_0", new())))
            writes.append(await wall(lambda: run.call("act.now", new())))
        sync, rates = statistics.median(syncs), list[float]()
        for _ in range(ROUNDS):
            start = time.perf_counter()
            await asyncio.gather(*(repeat(run, 10, new) for _ in range(64)))
            spent = time.perf_counter() - start
            rates.append(64 * 10 * 2 / spent * sync_seconds(folder, 10))
    return {
        "read": round(statistics.median(reads) / sync, 2),
        "write": round(statistics.median(writes) / sync, 2),
        "rate": round(statistics.median(rates), 1),
        "sync_ms": round(sync * 1000, 2),
    }


async def repeat(run: Run, count: int, new: Callable[[], str]) -> None:
    for _ in range(count):
        await run.call("add_0", new())


async def wall(work: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def effective(tools: int) -> Figures:
    """Screening every tool and deciding about each by 50 rules; following the change of one tool."""
    functions = make_functions(tools)
    async with governed_run([tool.read(each) for each in functions], "add_1", sink=False) as run:
        runtime = run.runtime
        wish = next(iter(runtime._sets))
        runtime._sets.clear()
        start = time.process_time()
        fresh = runtime.effective(wish)
        for spec in fresh.specs:
            runtime.policy.decide(spec)
        compiled = time.process_time() - start
        changed = list[float]()
        for each in runtime.registry.snapshot.items():
            start = time.process_time()
            runtime.registry.replace(each[1])
            runtime.effective(wish)
            changed.append(time.process_time() - start)
            if len(changed) == 50:
                break
    return {"per_tool_us": round(compiled / tools * 1e6, 1), "change_ms": round(statistics.median(changed) * 1e3, 3)}


async def advertise(tools: int) -> Figures:
    """The provider's list, cold and warm."""
    functions = make_functions(tools)
    async with governed_run([tool.read(each) for each in functions], "add_1", sink=False) as run:
        start = time.process_time()
        run.advertise("openai")
        cold = time.process_time() - start
        start = time.process_time()
        for _ in range(20):
            run.advertise("openai")
        warm = (time.process_time() - start) / 20
    return {"cold_ms": round(cold * 1e3, 2), "warm_ms": round(warm * 1e3, 3)}


async def register(tools: int) -> Figures:
    """Registration from typed functions, and what it leaves in memory."""
    from toolcrib.catalog.registry import Registry

    Registry().add(make_functions(10))
    functions = make_functions(tools)
    registry = Registry()
    gc.collect()
    start = time.process_time()
    registry.add(functions)
    spent = time.process_time() - start
    return {"register_us": round(spent / tools * 1e6, 2), "kib_per_tool": round(_memory_per_tool(tools), 2)}


def _memory_per_tool(tools: int) -> float:
    import tracemalloc

    from toolcrib.catalog.registry import Registry

    functions = make_functions(tools)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    registry = Registry()
    registry.add(functions)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / tools / 1024


async def concurrent(tools: int) -> Figures:
    """10,000 calls at once."""
    (function,) = make_functions(1)
    async with governed_run([tool.read(function)], "none", sink=True) as run:
        calls = (run.call("add_0", {"a": number, "b": 0}) for number in range(10_000))
        results = await asyncio.gather(*calls)
    right = sum(result.data == number for number, result in enumerate(results))
    return {"right": right, "rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)}


async def imports(tools: int) -> Figures:
    """Imports and the CLI, each in a fresh interpreter."""
    ours = measure_import("from toolcrib import Toolcrib, tool")["import_ms"]
    lazy = measure_import("import toolcrib")["import_ms"]
    yardstick = measure_import("import asyncio, sqlite3")["import_ms"]
    with tempfile.TemporaryDirectory() as home:
        command = [str(Path(sys.executable).parent / "toolcrib"), "--home", home, "tools", "list"]
        cli, bare = command_cpu(command), command_cpu([sys.executable, "-c", "import click, sqlite3"])
    return {
        "import_ratio": round(lazy / yardstick, 2),
        "front_door_ratio": round(ours / yardstick, 2),
        "cli_ratio": round(cli / bare, 2),
        "import_ms": ours,
    }


def command_cpu(command: list[str]) -> float:
    """CPU time of a command, median of four after the first, with bytecode in place."""
    spent = list[float]()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent[1:])


MODES: dict[str, Callable[[int], Awaitable[Figures]]] = {
    mode.__name__: mode
    for mode in (call, wide, journalled, crowd, full, effective, advertise, register, concurrent, imports)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--tools", type=int, default=1000, help="how many tools are registered")
    options = parser.parse_args()

    async def measured() -> Figures:
        return await MODES[options.mode](options.tools)

    figures = asyncio.run(measured())
    print(json.dumps({"peer": "toolcrib", "mode": options.mode, "tools": options.tools, **figures}))


if __name__ == "__main__":
    main()
