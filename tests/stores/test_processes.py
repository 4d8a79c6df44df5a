"""Several processes on one store at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock

WORKER = Path(__file__).with_name("worker.py")
PROCESSES, UNITS = 8, 60
OPENINGS = 150
COMES_AND_GOES = """
import sqlite3, sys
while True:
    connection = sqlite3.connect(sys.argv[1])
    connection.execute("SELECT count(*) FROM events").fetchone()
    connection.close()
    print("gone", flush=True)
"""


@pytest.mark.parametrize("durability", Durability)
def test_eight_processes_lose_nothing_and_leave_no_gap(path: Path, durability: Durability) -> None:
    command = [sys.executable, str(WORKER), str(path), durability.value, str(UNITS)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * PROCESSES
    acked = [line.split() for output in outputs for line in output.splitlines() if line.startswith("ack")]
    assert len(acked) == PROCESSES * UNITS
    asyncio.run(_check(path, {name: int(seq) for _, name, seq in acked}))


def test_a_store_opens_while_others_come_and_go(path: Path) -> None:
    asyncio.run(_open_and_close(path))
    command = [sys.executable, "-c", COMES_AND_GOES, str(path)]
    guests = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        assert [guest.stdout.readline() for guest in guests if guest.stdout] == ["gone\n"] * 2
        for _ in range(OPENINGS):
            asyncio.run(_open_and_close(path))
        assert [guest.poll() for guest in guests] == [None, None]
    finally:
        for guest in guests:
            guest.kill()
            guest.communicate()


async def _open_and_close(path: Path) -> None:
    await SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock()).close()


async def _check(path: Path, acked: dict[str, int]) -> None:
    store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
    found = await store.verify(None)
    assert found.faults == ()
    events = await store.events(session_id="s1", after=0, limit=100_000)
    completed = {event.call_id: event.seq for event in events if event.type == "tool_completed"}
    assert completed == acked
    assert len(set(acked.values())) == len(acked)
    assert {event.call_id for event in events if event.type == "tool_started"} == set(completed)
    await store.close()
