"""kill -9 at every named point: still one result per call, no effect without a record, no effect twice."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from toolcrib import Event
from toolcrib.assemble.crib import SystemClock
from toolcrib.stores.sqlite import Durability, SqliteStore

WORKER = Path(__file__).with_name("killed_worker.py")
ENDS = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}
POINTS = [
    ("before_begin", 3), ("after_insert", 4), ("before_commit", 5), ("after_commit", 6), ("after_commit", 9),
    ("in_read", 0), ("in_read", 2), ("before_effect", 0), ("after_effect", 0), ("after_effect", 1),
]  # fmt: skip


def run_worker(home: Path, point: str, after: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(WORKER), str(home), point, str(after)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


async def read_store(home: Path) -> tuple[list[Event], object]:
    store = SqliteStore.open(
        home / "toolcrib.db", durability=Durability.NORMAL, clock=SystemClock(), artifacts_dir=home / "artifacts"
    )
    try:
        events = list(await store.events(session_id="s", after=0, limit=100_000))
        report = await store.verify(None)
        assert report.faults == ()
        document = await store.load("counter", "main")
        return events, document.body if document else 0
    finally:
        await store.close()


def check(home: Path, outputs: list[str]) -> None:
    """The invariants, from the journal, the side effects and what the callers were told."""
    events, counter = asyncio.run(read_store(home))
    asked = {
        call["id"]: call["name"]
        for event in events
        if event.type == "turn_started" and event.payload
        for call in event.payload["calls"]  # type: ignore[union-attr]
    }
    ends = Counter(event.call_id for event in events if event.type in ENDS)
    assert set(ends) == set(asked), "every call that was asked for has a result"
    assert set(ends.values()) <= {1}, "and exactly one"
    reasons = {event.call_id: (event.payload or {}).get("reason") for event in events if event.type in ENDS}
    started = {event.call_id for event in events if event.type == "tool_started"}
    effects = Counter(line.split()[0] for line in (home / "effects").read_text().splitlines())
    assert set(effects.values()) <= {1}, "no write ran twice"
    assert set(effects) <= started, "no effect without its start on record"
    writes = {call_id for call_id, name in asked.items() if name == "act.now"}
    assert all(call_id in effects for call_id in writes if reasons[call_id] is None), "what was reported done was done"
    counted = [call_id for call_id, name in asked.items() if name == "count.up" and reasons[call_id] is None]
    assert counter == len(counted), "documents are committed exactly with their results"
    for line in "".join(outputs).splitlines():
        word, call_id, reason = line.split()
        assert word in ("result", "recovered")
        assert str(reasons[call_id]) == reason, "nothing that was acknowledged is lost or changed"


@pytest.mark.parametrize(("point", "after"), POINTS)
def test_a_kill_at_a_named_point_keeps_the_invariants(tmp_path: Path, point: str, after: int) -> None:
    home = tmp_path / "home"
    killed = run_worker(home, point, after)
    assert killed.returncode == -9, killed.stderr
    time.sleep(1.1)
    finished = run_worker(home, "nowhere", 0)
    assert finished.returncode == 0, finished.stderr
    check(home, [killed.stdout, finished.stdout])


def test_a_write_that_had_started_is_reported_interrupted_and_not_repeated(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run_worker(home, "after_effect", 0).returncode == -9
    time.sleep(1.1)
    finished = run_worker(home, "nowhere", 0)
    recovered = dict(line.split()[1:] for line in finished.stdout.splitlines() if line.startswith("recovered"))
    assert recovered["0.0.2"] == "interrupted"
    assert recovered["0.0.3"] == "None"
    assert (home / "effects").read_text().splitlines().count("0.0.2 0") == 1


@pytest.mark.slow
def test_two_hundred_random_kills_keep_the_invariants(tmp_path: Path) -> None:
    dice = random.Random(20240)
    kills = 0
    for round_number in range(25):
        home = tmp_path / f"home{round_number}"
        outputs = []
        for _ in range(8):
            killed = run_worker(home, "random", dice.randint(150, 900))
            assert killed.returncode == -9, killed.stderr
            kills += 1
            outputs.append(killed.stdout[: killed.stdout.rfind("\n") + 1])
            time.sleep(1.1)
        finished = run_worker(home, "nowhere", 0)
        assert finished.returncode == 0, finished.stderr
        if (home / "effects").exists():
            check(home, [*outputs, finished.stdout])
    assert kills == 200
