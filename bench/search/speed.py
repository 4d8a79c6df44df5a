"""Latency, build time, memory and snapshot of the index, over catalogs grown from the real tools."""

import gc
import random
import re
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench.search.data import Tool
from toolcrib.catalog.index import Arithmetic, ToolIndex

QUERIES = 500
RELOADS = 9


def measure_speed(tools: Sequence[Tool], texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Rows of (what, measured); times are CPU times of this process."""
    queries = [text for text in texts if len(text) < 80][:QUERIES]
    for size, arithmetic in ((10_000, Arithmetic.FASTEST), (10_000, Arithmetic.PLAIN), (100_000, Arithmetic.FASTEST)):
        catalog = grow(tools, size)
        started = time.process_time()
        index = ToolIndex.build(catalog, arithmetic=arithmetic)
        built = time.process_time() - started
        label = f"{size:,} tools, {'numpy' if arithmetic is Arithmetic.FASTEST else 'plain Python'}"
        yield f"{label}: search p50 / p99", " / ".join(f"{value:.2f} ms" for value in latency(index, queries))
        yield f"{label}: build", f"{built:.2f} s"
        if size == 10_000 and arithmetic is Arithmetic.FASTEST:
            yield from _upkeep(index, catalog)
            del index
            yield f"{label}: memory per tool", f"{memory_per_tool(catalog):.2f} KiB"


def grow(tools: Sequence[Tool], size: int) -> list[Tool]:
    """`size` tools: the real ones, then copies under other names with a few other words each."""
    chance = random.Random(3)
    words = sorted({word for tool in tools for word in re.findall("[a-z]{4,}", tool.description)})
    grown = list(tools[:size])
    while len(grown) < size:
        tool = tools[len(grown) % len(tools)]
        name = f"{chance.choice(words)}{len(grown) // len(tools)}.{tool.name}"
        grown.append(replace(tool, name=name, description=f"{tool.description} {' '.join(chance.choices(words, k=3))}"))
    return grown


def latency(index: ToolIndex, queries: Sequence[str]) -> tuple[float, float]:
    """p50 and p99 of CPU milliseconds per search, each query asked once, after a single other one."""
    index.search("warm up", 5)
    times: list[float] = []
    for query in queries:
        started = time.process_time()
        index.search(query, 5)
        times.append(time.process_time() - started)
    times.sort()
    return 1e3 * times[len(times) // 2], 1e3 * times[int(len(times) * 0.99)]


def memory_per_tool(catalog: Sequence[Tool]) -> float:
    gc.collect()
    tracemalloc.start()
    index = ToolIndex.build(catalog)
    index.search("serach wiht typos everywhre and trnslatoin", 5)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return used / 1024 / len(index)


def _upkeep(index: ToolIndex, catalog: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    data = index.snapshot()
    times: list[float] = []
    for _ in range(RELOADS):
        started = time.process_time()
        ToolIndex.from_snapshot(data)
        times.append(time.process_time() - started)
    # The median: a collection of this program's own garbage, which holds all the tools, takes longer than a reload.
    yield f"10,000 tools: reload from a snapshot (median of {RELOADS})", f"{1e3 * sorted(times)[RELOADS // 2]:.1f} ms"
    times.clear()
    for number, tool in enumerate(catalog[:200]):
        added = replace(tool, name=f"added.{number}")
        started = time.process_time()
        index.add(added)
        times.append(time.process_time() - started)
    yield "10,000 tools: add one (median / worst of 200)", f"{1e3 * sorted(times)[100]:.2f} / {1e3 * max(times):.2f} ms"
    started = time.process_time()
    index.remove("added.7")
    yield "10,000 tools: remove one", f"{1e3 * (time.process_time() - started):.1f} ms"
