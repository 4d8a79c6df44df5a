"""A session whose owner's process has ended is taken over at once; one whose owner may live is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib import Toolcrib
from toolcrib.ports import SessionBusy
from toolcrib.stores.owners import is_gone, owner_name

pytestmark = pytest.mark.anyio

HOLD = """
import asyncio, sys
from toolcrib import Toolcrib
async def main():
    async with Toolcrib.open(home=sys.argv[1], config={"toolsets": []}) as crib, crib.run(session="s"):
        print("held", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def hold(home: Path) -> subprocess.Popen[str]:
    """A process that has the session open."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(home)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder.stdout as words:
        assert words.readline() == "held\n"
    return holder


async def test_a_session_is_free_as_soon_as_its_owner_was_killed(tmp_path: Path) -> None:
    holder = hold(tmp_path)
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}) as crib:
        with pytest.raises(SessionBusy):
            await crib.run(session="s").__aenter__()
        holder.kill()
        holder.wait()
        async with crib.run(session="s") as run:
            assert run.origin.session_id == "s"


def test_an_owner_that_cannot_be_looked_up_counts_as_alive() -> None:
    ours = owner_name()
    host, pid, tail = ours.split(":")
    machine, started, _ = tail.split("-")
    assert not is_gone(ours)
    assert is_gone(f"{host}:{pid}:{machine}-{int(started) + 1}-00")
    assert is_gone(f"{host}:{2**22 + 1}:{machine}-{started}-00")
    for doubtful in ("", "a", "host:1:2", f"{host}:{pid}:0123456789ab-1-00", f"{host}:x:{machine}-1-00"):
        assert not is_gone(doubtful)
