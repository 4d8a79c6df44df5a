"""When the store cannot record, nothing acts, everyone is told, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolcrib import PermissionDecision, StoreError, Toolcrib, tool

pytestmark = pytest.mark.anyio
SCRIPT = Path(__file__).with_name("failing_home.py")


def test_a_full_disk_refuses_writes_and_the_same_process_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert lines["refused"] == "storage_error storage_error storage_error acted [1]", done.stderr
    assert str(tmp_path) in lines["says"]
    assert lines["readable"] == "True"
    assert lines["after"] == "None acted [1, 3]"
    assert lines["intact"] == "True"


async def test_a_locked_store_makes_a_write_wait_and_then_refuses_it(tmp_path: Path) -> None:
    acted: list[int] = []

    @tool.write(name="act.now")
    async def act() -> None:
        """Act."""
        acted.append(1)

    config = {"policy": {"rules": [{"tool": "act.now", "verdict": "allow"}]}, "store": {"busy_timeout_ms": 200}}
    async with Toolcrib.open(home=tmp_path, tools=[act], config=config) as crib, crib.run() as run:  # type: ignore[arg-type]
        other = sqlite3.connect(tmp_path / "toolcrib.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = await run.call("act.now")
        other.execute("ROLLBACK")
        other.close()
        assert refused.reason == "storage_error"
        assert acted == []
        assert (await run.call("act.now")).ok


async def test_a_call_waits_for_a_locked_store_once_and_not_for_every_record(tmp_path: Path) -> None:
    @tool.write(name="act.now")
    async def act() -> None:
        """Act."""

    async def agree(request: object) -> PermissionDecision:
        return PermissionDecision("allow_for_session")

    config = {"toolsets": [], "store": {"busy_timeout_ms": 1_000}}
    async with Toolcrib.open(home=tmp_path, tools=[act], config=config, asker=agree) as crib, crib.run() as run:  # type: ignore[arg-type]
        other = sqlite3.connect(tmp_path / "toolcrib.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        refused = await run.call("act.now")
        spent = time.monotonic() - began
        other.execute("ROLLBACK")
        other.close()
        assert not refused.ok
        assert 1.0 <= spent < 1.9
        assert (await run.call("act.now")).ok


@pytest.mark.parametrize("damage", [b"not a database at all" * 50, b"SQLite format 3\x00" + b"\xff" * 500])
async def test_a_store_that_is_no_store_is_refused_with_its_path(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "toolcrib.db").write_bytes(damage)
    with pytest.raises(StoreError, match=r"toolcrib\.db"):
        async with Toolcrib.open(home=tmp_path):
            raise AssertionError("it must not open")
    assert (tmp_path / "toolcrib.db").read_bytes() == damage


async def test_a_session_has_one_owner_at_a_time(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path) as one, Toolcrib.open(home=tmp_path) as two:
        async with one.run(session="s"):
            with pytest.raises(StoreError, match="s"):
                async with two.run(session="s"):
                    raise AssertionError("it must not be shared")
        async with two.run(session="s") as run:
            assert run.recovered == ()


async def test_an_owner_that_lost_its_session_cannot_record_into_it(tmp_path: Path) -> None:
    acted: list[int] = []

    @tool.write(name="act.now")
    async def act() -> None:
        """Act."""
        acted.append(1)

    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    config = {"policy": {"rules": [{"tool": "act.now", "verdict": "allow"}]}}
    async with Toolcrib.open(home=tmp_path, tools=[act, look], config=config) as crib, crib.run(session="s") as run:  # type: ignore[arg-type]
        with sqlite3.connect(tmp_path / "toolcrib.db") as other:
            other.execute("UPDATE sessions SET lease_until = 0")
        other.close()
        async with Toolcrib.open(home=tmp_path) as thief, thief.run(session="s"):
            result = await run.call("act.now")
            read = await run.call("look.up")
        notes = []
        async with asyncio.timeout(5):
            async for event in crib.events():
                notes += [event] if event.type == "note" else []
                if len(notes) == 2:
                    break
    assert (result.reason, read.reason) == ("storage_error", "storage_error")
    assert acted == []
    assert [note.call_id for note in notes] == [result.call_id, read.call_id]


async def test_ten_cribs_on_one_home_share_one_gapless_journal(tmp_path: Path) -> None:
    @tool.read(name="look.up")
    async def look(n: int) -> int:
        """Look."""
        return n

    async def agent(number: int) -> None:
        async with Toolcrib.open(home=tmp_path, tools=[look]) as crib, crib.run() as run:
            for n in range(20):
                assert (await run.call("look.up", {"n": n})).data == n

    await asyncio.gather(*(agent(number) for number in range(10)))
    async with Toolcrib.open(home=tmp_path) as crib:
        events = [event async for event in crib.events(follow_on=False)]
        report = await crib.runtime.store.verify(None)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(event.type == "tool_completed" for event in events) == 200
    assert report.faults == ()
