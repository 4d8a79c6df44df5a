"""A store on a file system of its own that fills up, becomes read-only, or fails: run below `unshare -m` or alone.

unshare --user --map-root-user --mount python starved.py full|readonly FOLDER DURABILITY
python starved.py broken FOLDER DURABILITY
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from worker import WallClock, unit

from toolcrib.ports import Unit
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.values.event import Draft
from toolcrib.values.refusal import StoreError

LARGE = Unit((Draft("note", "s1", payload={"text": "x" * 20_000}),))


async def full(folder: Path, durability: Durability) -> None:
    """Refused while there is no space, reads go on, the same process continues once there is."""
    _mount(folder, "size=1m")
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(200_000))
    store = SqliteStore.open(folder / "store.db", durability=durability, clock=WallClock())
    acked, error = await _until_refused(store)
    assert "no space left" in str(error), error
    assert acked == await store.changed() > 0
    assert len(await store.events(session_id=None, after=0, limit=1000)) == acked
    await _refuse_artifact(store, folder)
    ballast.unlink()
    again = await store.append(unit("x:1"))
    assert again == acked + 2
    assert (await store.verify(None)).faults == ()
    await store.close()


async def readonly(folder: Path, durability: Durability) -> None:
    """Refused with the path, existing or new; nothing is lost."""
    _mount(folder, "size=8m")
    path = folder / "store.db"
    store = SqliteStore.open(path, durability=durability, clock=WallClock())
    acked = await store.append(unit("x:1"))
    await store.close()
    _mount(folder, "remount,ro")
    for place in (path, folder / "new.db", folder / "new" / "store.db"):
        with pytest.raises(StoreError, match=str(place)):
            SqliteStore.open(place, durability=durability, clock=WallClock())
    _mount(folder, "remount,rw")
    store = SqliteStore.open(path, durability=durability, clock=WallClock())
    assert await store.append(unit("x:2")) == acked + 2
    assert (await store.verify(None)).faults == ()
    await store.close()


async def broken(folder: Path, durability: Durability) -> None:
    """After a failed write nothing more is accepted until the store is opened again."""
    path = folder / "store.db"
    store = SqliteStore.open(path, durability=durability, clock=WallClock())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    acked, error = await _until_refused(store)
    assert str(path) in str(error), error
    assert "until then" in str(error), error
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with pytest.raises(StoreError, match="until then"):
        await store.append(LARGE)
    assert acked == await store.changed() > 0
    await store.close()
    store = SqliteStore.open(path, durability=durability, clock=WallClock())
    assert await store.changed() >= acked
    await store.append(unit("x:1"))
    assert (await store.verify(None)).faults == ()
    await store.close()


async def _until_refused(store: SqliteStore) -> tuple[int, StoreError]:
    acked = 0
    while True:
        try:
            acked = await store.append(LARGE)
        except StoreError as error:
            return acked, error


async def _refuse_artifact(store: SqliteStore, folder: Path) -> None:
    with pytest.raises(StoreError, match=str(folder)):
        await store.artifacts.put([b"y" * 500_000], mime_type="text/plain", session_id="s1", call_id=None)
    assert [file for file in (folder / "artifacts").rglob("*") if file.is_file()] == []


def _mount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


if __name__ == "__main__":
    scenario = {"full": full, "readonly": readonly, "broken": broken}[sys.argv[1]]
    asyncio.run(scenario(Path(sys.argv[2]), Durability(sys.argv[3])))
