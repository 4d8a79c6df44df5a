"""A process at work on a store, for tests that kill it, starve it or run several at once.

    python worker.py PATH DURABILITY UNITS [CRASH_POINT AFTER]

Each unit is a started and a completed event and a document; `ack N SEQ` is printed once unit N is acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

from toolcrib.ports import Unit
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.stores.sqlite.store import no_crash
from toolcrib.testing.crash import crash_at
from toolcrib.values.context import Document
from toolcrib.values.event import Draft, EventType


class WallClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()


def unit(name: str) -> Unit:
    started = Draft(EventType.TOOL_STARTED, "s1", f"run-{name.split(':')[0]}", call_id=name)
    completed = Draft(EventType.TOOL_COMPLETED, "s1", f"run-{name.split(':')[0]}", call_id=name, payload={"name": name})
    return Unit((started, completed), documents=(Document("done", name, name),))


async def work(path: str, durability: str, units: int, point: str, after: int) -> None:
    crash = crash_at(point, after) if point else no_crash
    store = SqliteStore.open(path, durability=Durability(durability), clock=WallClock(), patience=30, crash=crash)
    me = f"{os.getpid()}-{time.monotonic_ns()}"
    print("ready", flush=True)
    for number in range(units):
        name = f"{me}:{number}"
        seq = await store.append(unit(name))
        print("ack", name, seq, flush=True)
        if number % 20 == 10:
            body = [f"artifact {name} ".encode() * 50]
            kept = await store.artifacts.put(body, mime_type="text/plain", session_id="s1", call_id=name)
            print("kept", kept.artifact_id, flush=True)
        if number % 50 == 40:
            await store.purge(session_id="s1", before=None)
    await store.close()


if __name__ == "__main__":
    crash_point, passes = (sys.argv[4], int(sys.argv[5])) if len(sys.argv) > 4 else ("", 0)
    asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3]), crash_point, passes))
