"""The measurements of `bench`: the same function called bare, governed, and governed and recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from toolcrib.assemble.crib import Parts, Toolcrib
from toolcrib.catalog.decorate import tool
from toolcrib.engine.run import Run
from toolcrib.ports import Store, Unit
from toolcrib.testing.memory import MemoryStore
from toolcrib.values.noun import frozen
from toolcrib.values.receipt import Receipt

ROUNDS = 5
ARGUMENTS = '{"title": "Monday", "count": 3}'
Once = Callable[[], Awaitable[object]]


@frozen
class Measure:
    """One way to call, and what a call costs: CPU time of all threads, and time on the wall."""

    what: str
    meaning: str
    cpu: float
    wall: float


class NoSink(MemoryStore):
    """Takes every record and keeps none: what the counter itself costs."""

    def __init__(self) -> None:
        super().__init__()
        self._done = Receipt(asyncio.get_running_loop())
        self._done.say(0)

    def append(self, unit: Unit) -> Receipt:
        return self._done

    def queue(self, unit: Unit) -> None:
        return


@tool.read(name="bench.read")
async def subject(title: str, count: int) -> str:
    """A function that does almost nothing, so that the way to it is what is measured."""
    return title * count


async def measure(calls: int) -> list[Measure]:
    """Every way in turn, round after round, so that a busy moment of the machine falls on all of them."""
    async with AsyncExitStack() as stack:
        in_memory = await stack.enter_async_context(_run("normal", NoSink()))
        normal = await stack.enter_async_context(_run("normal", None))
        full = await stack.enter_async_context(_run("full", None))
        ways: list[tuple[str, str, Once, int]] = [
            ("raw", "await the function itself", lambda: subject(title="Monday", count=3), calls * 10),
            (
                "governed",
                "validated, permitted, limited, redacted and bounded; records thrown away",
                _calling(in_memory),
                calls,
            ),
            ("recorded", "the same with both events committed to SQLite", _calling(normal), calls),
            ("durable", "the same, each commit forced to the disk", _calling(full), max(calls // 20, 10)),
        ]
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in ways}
        for _ in range(ROUNDS):
            for name, _meaning, once, count in ways:
                taken[name].append(await _cost(once, count))
    return [Measure(name, meaning, *map(median, zip(*taken[name], strict=True))) for name, meaning, *_ in ways]


@asynccontextmanager
async def _run(durability: str, store: Store | None) -> AsyncGenerator[Run, None]:
    with TemporaryDirectory(prefix="toolcrib-bench-") as folder:
        async with (
            Toolcrib.open(
                home=Path(folder), config={"store.durability": durability}, tools=[subject], parts=Parts(store=store)
            ) as crib,
            crib.run() as run,
        ):
            yield run


def _calling(run: Run) -> Once:
    return lambda: run.call("bench.read", ARGUMENTS)


async def _cost(once: Once, count: int) -> tuple[float, float]:
    """Microseconds per call: on the processor, and on the wall."""
    processor, wall = time.process_time(), time.perf_counter()
    for _ in range(count):
        await once()
    return (time.process_time() - processor) / count * 1e6, (time.perf_counter() - wall) / count * 1e6
