"""A process that asks by way of the inbox, or answers there, until it is killed.

`python parked_worker.py ask HOME POINT AFTER` or `python parked_worker.py answer HOME POINT AFTER`
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from toolcrib import Parts, PermissionDecision, Toolcrib, tool
from toolcrib.askers.inbox import answer
from toolcrib.assemble.crib import SystemClock
from toolcrib.ports import NotPending, QuestionState
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import crash_at
from toolcrib.values.identity import Principal, Standing

ROLE, HOME, POINT, AFTER = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
ENDS = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}
crash = crash_at(POINT, AFTER)


@tool.write(name="act.now")
async def act(n: int) -> int:
    """Write, outside of any transaction."""
    crash("before_effect")
    descriptor = os.open(HOME / "effects", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{n}\n".encode())
    os.close(descriptor)
    crash("after_effect")
    return n


def open_store() -> SqliteStore:
    return SqliteStore.open(
        HOME / "toolcrib.db", durability=Durability.NORMAL, clock=SystemClock(), artifacts_dir=HOME / "artifacts",
        crash=crash,
    )  # fmt: skip


async def ask() -> None:
    """See one call through to its result: whatever an earlier life left open, or the call itself."""
    config = {"store.lease_seconds": 1, "toolsets": []}
    async with (
        Toolcrib.open(home=HOME, parts=Parts(store=open_store()), tools=[act], config=config, asker="inbox") as crib,  # type: ignore[arg-type]
        crib.run(session="s") as run,
    ):
        results = [*run.recovered, *[await run.collect(parked.request_id) for parked in run.parked]]
        ended = [event async for event in crib.events("s", follow_on=False) if event.type in ENDS]
        if not ended:
            results.append(await run.call("act.now", {"n": 1}, id="mine"))
        for result in results:
            print("result", result.call_id, result.reason, flush=True)


async def give_answer() -> None:
    """Answer the question that waits."""
    store = open_store()
    try:
        for question in await store.questions(session_id=None, state=QuestionState.PENDING, limit=9):
            who = Principal(str(os.getpid()), Standing.OPERATOR)
            await answer(store, question.request.request_id, PermissionDecision("allow_once"), who)
            print("answered", question.request.request_id, flush=True)
    except NotPending as late:
        print("late", late, flush=True)
    finally:
        await store.close()


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    asyncio.run(ask() if ROLE == "ask" else give_answer())
