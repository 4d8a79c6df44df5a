"""A process that works through a session until it is killed: `python killed_worker.py HOME POINT AFTER`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from toolcrib import Document, Parts, ToolCall, ToolContext, Toolcrib, tool
from toolcrib.assemble.crib import SystemClock
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import ScriptedAsker, crash_at

HOME, POINT, AFTER = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
EFFECTS = HOME / "effects"
crash = crash_at(POINT, AFTER)


def effect(line: str) -> None:
    """A side effect that outlives the process, written in one system call."""
    descriptor = os.open(EFFECTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


@tool.read(name="look.up")
async def look(n: int) -> int:
    """Read."""
    crash("in_read")
    await asyncio.sleep(0)
    return n


@tool.write(name="act.now")
async def act(context: ToolContext, n: int) -> int:
    """Write, outside of any transaction."""
    crash("before_effect")
    effect(f"{context.call_id} {n}")
    crash("after_effect")
    return n


@tool.write(name="count.up", tags={"internal"}, transactional=True)
async def count(context: ToolContext) -> int:
    """Add one to a stored number, in the transaction of the result."""
    found = await context.load("counter", "main")
    value = (found.body if found and isinstance(found.body, int) else 0) + 1
    context.put(Document("counter", "main", value, found.version if found else 0))
    return value


def turn(number: int, life: int) -> list[ToolCall]:
    """A turn of reads, a write, more reads and a transactional write, with ids that name process, turn and place."""
    calls = [
        ("look.up", {"n": 1}),
        ("look.up", {"n": 2}),
        ("act.now", {"n": number}),
        ("look.up", {"n": 3}),
        ("count.up", {}),
    ]
    return [ToolCall(name, arguments, f"{life}.{number}.{index}") for index, (name, arguments) in enumerate(calls)]


async def work(turns: int, life: int) -> None:
    store = SqliteStore.open(
        HOME / "toolcrib.db",
        durability=Durability.NORMAL,
        clock=SystemClock(),
        artifacts_dir=HOME / "artifacts",
        crash=crash,
    )
    options = {
        "tools": [look, act, count],
        "asker": ScriptedAsker.always("allow_once"),
        "config": {"store.lease_seconds": 1, "toolsets": []},
    }
    async with Toolcrib.open(home=HOME, parts=Parts(store=store), **options) as crib, crib.run(session="s") as run:  # type: ignore[arg-type]
        for result in run.recovered:
            print("recovered", result.call_id, result.reason, flush=True)
        for number in range(turns):
            for result in await run.turn(turn(number, life)):
                print("result", result.call_id, result.reason, flush=True)


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    if POINT == "random":
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, AFTER / 1000)
    lives = HOME / "lives"
    lives.touch()
    life = len(lives.read_text())
    lives.write_text("x" * (life + 1))
    asyncio.run(work(10_000 if POINT == "random" else 6, life))
