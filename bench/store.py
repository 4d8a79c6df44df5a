"""What a commit costs: inline, in a group, and durable, each against its own yardstick.

    .venv/bin/python bench/store.py [folder]

A unit is one call's two events. CPU time is that of all threads, except where it is said to be the loop's own: the
rest is the copying of the log and the filing. "Bare SQLite" commits rows like a unit's with nothing around it: what is
above that is the store's own. Every figure is the median of interleaved rounds, so two versions are best compared by
running this in turns with PYTHONPATH set to the one and the other.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolcrib.ports import Unit
from toolcrib.stores.chain import GENESIS, link, seal
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.values.event import Draft, EventType
from toolcrib.values.identity import Ownership
from toolcrib.values.json import Json, JsonObject

ROUNDS = 7
WAITERS = 64
Owned = tuple[SqliteStore, Ownership]


class WallClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


async def main(folder: Path) -> None:
    normal = SqliteStore.open(folder / "normal.db", durability=Durability.NORMAL, clock=WallClock())
    full = SqliteStore.open(folder / "full.db", durability=Durability.FULL, clock=WallClock())
    lease = {"agent_id": "main", "project": "bench", "owner": "bench", "ttl": 3600.0}
    cheap, durable = await normal.claim("s1", **lease), await full.claim("s1", **lease)
    bare = Bare(folder / "bare.db", _unit(cheap, "bare"))
    rounds = [await _round(folder, bare, (normal, cheap), (full, durable), number) for number in range(ROUNDS)]
    await normal.close()
    await full.close()
    _print({name: statistics.median(found[name] for found in rounds) for name in rounds[0]})


async def _round(folder: Path, bare: Bare, cheap: Owned, durable: Owned, number: int) -> dict[str, float]:
    return {
        "raw": await _cpu(_raw, 100_000),
        "seal": await _cpu(lambda n: _seal(cheap, n), 5000),
        "bare": await _cpu(lambda n: bare.commit(n, 1), 2000),
        "bare_group": await _cpu(lambda n: bare.commit(n, WAITERS), 50 * WAITERS),
        "loop": await _own_cpu(lambda n: _alone(cheap, f"o{number}", n), 2000),
        "inline": await _cpu(lambda n: _alone(cheap, f"i{number}", n), 2000),
        "group": await _cpu(lambda n: _together(cheap, f"g{number}", n), 50 * WAITERS),
        "group_wall": await _wall(lambda n: _together(cheap, f"w{number}", n), 50 * WAITERS),
        "fdatasync": await _wall(lambda n: asyncio.to_thread(_sync, folder / "yardstick", n), 50),
        "full": await _wall(lambda n: _alone(durable, f"f{number}", n), 50),
        "full_group": await _wall(lambda n: _together(durable, f"d{number}", n), 20 * WAITERS),
    }


def _print(median: dict[str, float]) -> None:
    raw, sync = median["raw"], median["fdatasync"]
    rows = [
        ("raw `await fn(**args)`", median["raw"], "1 x raw"),
        ("encoding and hashing, CPU", median["seal"], f"{median['seal'] / raw:.0f} x raw"),
        ("bare SQLite, one unit, CPU", median["bare"], f"{median['bare'] / raw:.0f} x raw"),
        ("NORMAL, one caller, loop", median["loop"], f"{median['loop'] / median['bare']:.2f} x bare SQLite"),
        ("NORMAL, one caller, CPU", median["inline"], f"{median['inline'] / raw:.0f} x raw"),
        (f"bare SQLite, {WAITERS} units, CPU", median["bare_group"], f"{median['bare_group'] / raw:.0f} x raw"),
        (f"NORMAL, {WAITERS} callers, CPU", median["group"], f"{median['group'] / raw:.0f} x raw"),
        (f"NORMAL, {WAITERS} callers, wall", median["group_wall"], f"{2 / median['group_wall']:,.0f} events/s"),
        ("one fdatasync, wall", sync, f"{1 / sync:,.0f} /s"),
        ("FULL, one caller, wall", median["full"], f"{median['full'] / sync:.2f} x fdatasync"),
        (
            f"FULL, {WAITERS} callers, wall",
            median["full_group"],
            f"{2 / median['full_group']:,.0f} events/s = {2 / median['full_group'] * sync:.1f} x the fdatasync rate",
        ),
    ]
    for name, seconds, meaning in rows:
        print(f"{name:28} {seconds * 1e6:9.2f} µs per unit   {meaning}")


class Bare:
    """The rows of a unit, committed over and over by SQLite alone."""

    def __init__(self, path: Path, unit: Unit) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, run_seq, facts, payload, hash)")
        self._rows = [
            (2, 2, facts.decode(), salted, link(GENESIS, digest, 2, 2, facts))
            for _, _, facts, salted, digest, _ in seal(unit.drafts, time.time())
        ]
        self._seq = 0

    async def commit(self, units: int, at_once: int) -> None:
        execute, many = self._connection.execute, self._connection.executemany
        statement = f"INSERT INTO events VALUES ({', '.join('?' * len(self._rows[0]))})"
        for _ in range(units // at_once):
            numbered = [(self._seq + place, *row[1:]) for place, row in enumerate(self._rows * at_once, 1)]
            self._seq += len(numbered)
            execute("BEGIN IMMEDIATE")
            many(statement, numbered)
            execute("COMMIT")


def _unit(owner: Ownership, name: str) -> Unit:
    """What a small read leaves in the journal."""
    start: JsonObject = {
        "name": "notes.read",
        "arguments": {"title": "today"},
        "effect": "read",
        "fingerprint": "0" * 64,
    }
    content: Json = [{"type": "json", "data": 3, "summary": None, "artifact_id": None}]
    result: JsonObject = {
        "call_id": name,
        "name": "notes.read",
        "content": content,
        "reason": None,
        "error": None,
        "metadata": {},
    }
    started = Draft(EventType.TOOL_STARTED, "s1", "r1", "main", call_id=name, payload=start)
    completed = Draft(EventType.TOOL_COMPLETED, "s1", "r1", "main", call_id=name, node_id=name, payload=result)
    return Unit((started, completed), owner)


async def _seal(owned: Owned, times: int) -> None:
    drafts = _unit(owned[1], "sealed").drafts
    for _ in range(times):
        for _, _, facts, _, digest, _ in seal(drafts, 0.0):
            link(GENESIS, digest, 2, 2, facts)


async def _raw(times: int) -> None:
    async def add(a: int, b: int) -> int:
        return a + b

    arguments = {"a": 1, "b": 2}
    for _ in range(times):
        await add(**arguments)


async def _alone(owned: Owned, name: str, times: int) -> None:
    store, owner = owned
    for number in range(times):
        await store.append(_unit(owner, f"{name}-{number}"))


async def _together(owned: Owned, name: str, times: int) -> None:
    callers = (_alone(owned, f"{name}-{caller}", times // WAITERS) for caller in range(WAITERS))
    await asyncio.gather(*callers)


def _sync(file: Path, times: int) -> None:
    with open(file, "ab", buffering=0) as stream:
        for _ in range(times):
            stream.write(bytes(4096))
            os.fdatasync(stream.fileno())


async def _cpu(work: Callable[[int], Awaitable[None]], times: int) -> float:
    start = time.process_time()
    await work(times)
    return (time.process_time() - start) / times


async def _own_cpu(work: Callable[[int], Awaitable[None]], times: int) -> float:
    start = time.thread_time()
    await work(times)
    return (time.thread_time() - start) / times


async def _wall(work: Callable[[int], Awaitable[None]], times: int) -> float:
    start = time.perf_counter()
    await work(times)
    return (time.perf_counter() - start) / times


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as place:
        asyncio.run(main(Path(place)))
