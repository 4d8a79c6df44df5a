"""kill -9 at every named point and at random times: what was acknowledged is there, nothing is there by half."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock

pytestmark = pytest.mark.slow
WORKER = Path(__file__).parent.parent / "stores" / "worker.py"
RESTARTS = 200
AT_START = ["migrating", "before_migrated", "created"]
AT_WORK = ["before_begin", "after_insert", "before_commit", "after_commit"]
WITH_ARTIFACT = ["artifact_before_rename", "artifact_after_rename"]


@dataclass(slots=True)
class Seen:
    """What workers were told before they died."""

    acked: dict[str, int] = field(default_factory=dict[str, int])
    kept: set[str] = field(default_factory=set[str])
    head: str | None = None

    def read(self, lines: Iterator[str]) -> None:
        for line in lines:
            match line.split():
                case ["ack", name, seq]:
                    self.acked[name] = int(seq)
                case ["kept", artifact_id]:
                    self.kept.add(artifact_id)
                case _:
                    pass


@pytest.mark.parametrize("durability", Durability)
@pytest.mark.parametrize(
    ("point", "after"),
    [(point, after) for point in AT_START for after in (0, 1)]
    + [(point, after) for point in AT_WORK for after in (0, 7, 12, 45)]
    + [(point, after) for point in WITH_ARTIFACT for after in (0, 1)],
)
def test_a_kill_at_a_named_point_loses_and_halves_nothing(
    tmp_path: Path, durability: Durability, point: str, after: int
) -> None:
    path, seen = tmp_path / "store.db", Seen()
    done = subprocess.run(
        [sys.executable, str(WORKER), str(path), durability.value, "60", point, str(after)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (-9, 0), done.stderr
    assert done.returncode == -9 or (point in AT_START and after > 0)
    seen.read(iter(done.stdout.splitlines()))
    asyncio.run(_check(path, seen))
    again = subprocess.run(
        [sys.executable, str(WORKER), str(path), durability.value, "60"], capture_output=True, text=True, timeout=60
    )
    assert again.returncode == 0, again.stderr
    seen.read(iter(again.stdout.splitlines()))
    asyncio.run(_check(path, seen))


@pytest.mark.parametrize("durability", Durability)
def test_random_kills_lose_and_halve_nothing(tmp_path: Path, durability: Durability) -> None:
    path, seen, chance = tmp_path / "store.db", Seen(), random.Random(20)
    for _ in range(RESTARTS // len(Durability)):
        worker = subprocess.Popen(
            [sys.executable, str(WORKER), str(path), durability.value, "100000"], stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        seen.read(_some_lines(worker.stdout, chance.randrange(60)))
        worker.kill()
        seen.read(iter(worker.stdout))
        worker.wait()
        asyncio.run(_check(path, seen))
    assert len(seen.acked) > RESTARTS


def _some_lines(stream: Iterator[str], most: int) -> Iterator[str]:
    for _, line in zip(range(most), stream, strict=False):
        yield line


async def _check(path: Path, seen: Seen) -> None:
    store = SqliteStore.open(path, durability=Durability.NORMAL, clock=FrozenClock())
    found = await store.verify(seen.head)
    assert found.faults == ()
    seen.head = found.head
    events = await store.events(session_id="s1", after=0, limit=1_000_000)
    started = [event.call_id for event in events if event.type == "tool_started"]
    completed = {event.call_id: event.seq for event in events if event.type == "tool_completed"}
    assert started == list(completed), "a unit is there by half"
    assert seen.acked.items() <= completed.items(), "an acknowledged unit is missing"
    for artifact_id in seen.kept:
        artifact = await store.artifacts.find(artifact_id)
        if artifact is not None:  # a purge may have taken it since
            assert len(await store.artifacts.read(artifact_id, offset=0, limit=artifact.size + 1)) == artifact.size
    await store.close()
    connection = sqlite3.connect(path)
    documents = {name for (name,) in connection.execute("SELECT document_key FROM documents")}
    assert documents == set(completed), "a document is there without its events, or the other way round"
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
