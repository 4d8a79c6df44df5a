# ruff: noqa: ASYNC240 - the files are small and nothing else runs on the loop
"""A store that cannot do its work says so, says where, and loses nothing that it acknowledged."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.ports import Unit
from toolcrib.stores.migrations import Step, steps
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.stores.sqlite.opening import prepare
from toolcrib.stores.sqlite.store import no_crash
from toolcrib.testing.clock import FrozenClock
from toolcrib.values.event import Draft
from toolcrib.values.json import Json
from toolcrib.values.refusal import StoreError

pytestmark = pytest.mark.anyio
Open = Callable[..., SqliteStore]
Outside = Callable[[], sqlite3.Connection]


def unit(**payload: Json) -> Unit:
    return Unit((Draft("note", "s1", "r1", payload=payload),))


async def count(store: SqliteStore) -> int:
    return len(await store.events(session_id=None, after=0, limit=100_000))


class TestLocked:
    @pytest.mark.parametrize("durability", Durability)
    async def test_a_lock_is_waited_for_a_bounded_time_and_the_loop_stays_free(
        self, opened: Open, outside: Outside, durability: Durability
    ) -> None:
        store, other = opened(durability), outside()
        other.execute("BEGIN IMMEDIATE")
        future = store.append(unit())
        assert not future.done()
        with pytest.raises(StoreError, match="locked by another process"):
            await future
        other.execute("COMMIT")
        assert await store.append(unit()) == 1
        await store.close()

    async def test_what_waited_is_committed_when_the_lock_goes(self, opened: Open, outside: Outside) -> None:
        store, other = opened(patience=30), outside()
        other.execute("BEGIN IMMEDIATE")
        store.queue(unit(i=0))
        futures = [store.append(unit(i=i)) for i in range(1, 20)]
        assert await count(store) == 0
        other.execute("COMMIT")
        assert await asyncio.gather(*futures) == list(range(2, 21))
        assert (await store.verify(None)).faults == ()
        await store.close()

    async def test_a_queued_unit_outlives_the_failure_of_its_append(self, opened: Open, outside: Outside) -> None:
        store, other = opened(), outside()
        other.execute("BEGIN IMMEDIATE")
        store.queue(unit(i=1))
        with pytest.raises(StoreError):
            await store.append(unit(i=2))
        other.execute("COMMIT")
        await store.append(unit(i=3))
        assert [event.payload for event in await store.events(session_id=None, after=0, limit=9)] == [
            {"i": 1},
            {"i": 3},
        ]
        await store.close()

    async def test_another_process_between_two_appends_is_noticed(self, opened: Open) -> None:
        one, two = opened(), opened(Durability.FULL)
        mine = await one.claim("s1", agent_id="a", project="p", owner="one", ttl=0)
        await one.append(Unit((Draft("note", "s1", "r1"),), owner=mine))
        theirs = await two.claim("s1", agent_id="a", project="p", owner="two", ttl=9)
        await two.append(Unit((Draft("note", "s1", "r1"),), owner=theirs))
        with pytest.raises(StoreError, match="two"):
            await one.append(Unit((Draft("note", "s1", "r1"),), owner=mine))
        await one.append(Unit((Draft("note", "s1", "r1"),)))
        assert [event.run_seq for event in await one.events(session_id="s1", after=0, limit=9)] == [0, 1, 0, 2, 3]
        assert (await one.verify(None)).faults == ()
        await one.close()
        await two.close()


class TestFull:
    async def test_a_full_store_refuses_and_goes_on_when_there_is_space(self, opened: Open) -> None:
        store = opened()
        limit = store._ledger.connection.execute
        acked = 0
        limit("PRAGMA max_page_count = 40")
        refused: StoreError | None = None
        while refused is None:
            try:
                acked = await store.append(unit(text="x" * 2000))
            except StoreError as error:
                refused = error
        assert re.search(r"no space left for the store .*store\.db", str(refused))
        assert 0 < acked == await count(store)
        store.queue(unit(text="x" * 2000))
        with pytest.raises(StoreError, match="no space"):
            await store.append(unit(text="x" * 2000))
        limit("PRAGMA max_page_count = 4000")
        assert await store.append(unit()) == acked + 2
        assert (await store.verify(None)).faults == ()
        await store.close()

    async def test_a_unit_too_large_fails_alone(self, opened: Open) -> None:
        store = opened(Durability.FULL)
        store._ledger.connection.execute("PRAGMA max_page_count = 40")
        small = [store.append(unit(i=i)) for i in range(10)]
        large = store.append(unit(text="x" * 1_000_000))
        small += [store.append(unit(i=i)) for i in range(10, 20)]
        outcomes = await asyncio.gather(large, *small, return_exceptions=True)
        assert isinstance(outcomes[0], StoreError)
        assert outcomes[1:] == list(range(1, 21))
        await store.close()


class TestDamaged:
    async def fill(self, opened: Open, events: int = 300) -> str:
        store = opened()
        for i in range(events):
            await store.append(unit(i=i, text="x" * 500))
        head = (await store.verify(None)).head
        await store.close()
        return head

    async def test_a_file_that_is_no_database_is_refused_and_left_alone(self, opened: Open, path: Path) -> None:
        path.write_bytes(b"dear diary, " * 1000)
        with pytest.raises(StoreError, match=r"store\.db is damaged.*recover"):
            opened()
        assert path.read_bytes() == b"dear diary, " * 1000

    async def test_a_broken_header_is_refused_and_left_alone(self, opened: Open, path: Path) -> None:
        await self.fill(opened)
        broken = b"broken header..." + path.read_bytes()[16:]
        path.write_bytes(broken)
        with pytest.raises(StoreError, match=r"store\.db is damaged.*recover"):
            opened()
        assert path.read_bytes() == broken

    async def test_a_broken_page_is_reported_when_it_is_met(self, opened: Open, path: Path) -> None:
        await self.fill(opened)
        content = bytearray(path.read_bytes())
        last = len(content) // 4096
        content[(last - 30) * 4096 : (last - 10) * 4096] = b"\xa5" * (20 * 4096)
        path.write_bytes(content)
        store = opened()
        with pytest.raises(StoreError, match=r"store\.db is damaged.*recover"):
            await store.verify(None)
        await store.close()

    async def test_an_emptied_file_is_refused_and_its_log_kept(self, opened: Open, path: Path) -> None:
        path.write_bytes(b"")
        log = path.with_name("store.db-wal")
        log.write_bytes(b"precious")
        with pytest.raises(StoreError, match="0 bytes"):
            opened()
        assert (path.read_bytes(), log.read_bytes()) == (b"", b"precious")

    async def test_a_log_without_its_file_is_refused_and_kept(self, opened: Open, path: Path) -> None:
        log = path.with_name("store.db-wal")
        log.write_bytes(b"precious")
        with pytest.raises(StoreError, match="is missing but its log"):
            opened()
        assert (path.exists(), log.read_bytes()) == (False, b"precious")

    async def test_a_cut_log_leaves_a_whole_chain_and_the_expected_head_tells(
        self, opened: Open, path: Path, tmp_path: Path
    ) -> None:
        store = opened()
        for i in range(50):
            await store.append(unit(i=i))
        head = (await store.verify(None)).head
        copy = tmp_path / "copy" / "store.db"
        copy.parent.mkdir()
        shutil.copy(path, copy)
        log = path.with_name("store.db-wal").read_bytes()
        copy.with_name("store.db-wal").write_bytes(log[: len(log) // 2])
        await store.close()
        cut = SqliteStore.open(copy, durability=Durability.NORMAL, clock=FrozenClock())
        found = await cut.verify(None)
        assert found.faults == ()
        assert 0 < found.events < 50
        assert any("cut" in fault.problem for fault in (await cut.verify(head)).faults)
        await cut.append(unit())
        await cut.close()

    async def test_a_lost_index_of_the_log_is_rebuilt(self, opened: Open, path: Path, tmp_path: Path) -> None:
        store = opened()
        await store.append(unit())
        copy = tmp_path / "copy" / "store.db"
        copy.parent.mkdir()
        for name in ("store.db", "store.db-wal"):
            shutil.copy(path.with_name(name), copy.with_name(name))
        await store.close()
        again = SqliteStore.open(copy, durability=Durability.NORMAL, clock=FrozenClock())
        assert await count(again) == 1
        await again.close()

    async def test_a_folder_is_no_store(self, opened: Open, path: Path) -> None:
        path.mkdir()
        with pytest.raises(StoreError, match=r"store\.db"):
            opened()

    async def test_a_missing_artifact_file_is_reported(self, opened: Open, tmp_path: Path) -> None:
        store = opened()
        kept = await store.artifacts.put([b"body"], mime_type="text/plain", session_id="s1", call_id=None)
        shutil.rmtree(tmp_path / "artifacts")
        with pytest.raises(StoreError, match="is missing below"):
            await store.artifacts.read(kept.artifact_id, offset=0, limit=10)
        await store.close()


class TestSchema:
    def test_a_newer_schema_is_refused_and_left_alone(self, opened: Open, path: Path, outside: Outside) -> None:
        asyncio.run(opened().close())
        other = outside()
        other.execute("INSERT INTO migrations VALUES (99, 'future', 0)")
        other.close()
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"store\.db has schema 99.*upgrade toolcrib"):
            opened()
        assert path.read_bytes() == before

    def test_the_database_of_another_program_is_refused(self, opened: Open, outside: Outside) -> None:
        outside().execute("CREATE TABLE bookmarks (url)")
        with pytest.raises(StoreError, match="another program"):
            opened()

    def test_a_step_that_fails_leaves_the_store_as_it_was(self, opened: Open, path: Path, outside: Outside) -> None:
        asyncio.run(opened().close())
        half = Step(9_999, "half", ("CREATE TABLE fine (x)", "CREATE TABLE broken ("))
        with pytest.raises(StoreError):
            prepare(path, FrozenClock(), no_crash, (*steps(), half))
        assert outside().execute("SELECT count(*) FROM sqlite_master WHERE name = 'fine'").fetchone() == (0,)
        asyncio.run(opened().close())
        whole = Step(9_999, "whole", ("CREATE TABLE fine (x)",))
        prepare(path, FrozenClock(), no_crash, (*steps(), whole))
        numbers = [(step.number,) for step in (*steps(), whole)]
        assert outside().execute("SELECT number FROM migrations").fetchall() == numbers

    def test_a_new_store_belongs_to_its_user_alone(self, opened: Open, path: Path) -> None:
        asyncio.run(opened().close())
        assert path.stat().st_mode & 0o777 == 0o600


async def test_units_of_several_event_loops_and_threads_are_all_committed(opened: Open) -> None:
    store = opened()

    async def work() -> list[int]:
        return [await store.append(unit(i=i)) for i in range(50)]

    acked = await asyncio.gather(*(asyncio.to_thread(asyncio.run, work()) for _ in range(4)), work())
    assert sorted(seq for seqs in acked for seq in seqs) == list(range(1, 251))
    assert (await store.verify(None)).faults == ()
    await store.close()


async def test_the_log_is_copied_back_and_stays_small(opened: Open, path: Path) -> None:
    store = opened()
    for _ in range(800):
        await store.append(unit(text="x" * 100_000))
    log = path.with_name("store.db-wal")
    assert log.stat().st_size < 50_000_000
    await store.close()
    assert not log.exists()
    assert path.stat().st_size > 80_000_000
