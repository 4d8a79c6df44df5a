"""What every store promises: one suite, run against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

from toolcrib.ports import Conflict, Fenced, RunClosed, RunOpened, RunRow, SessionBusy, SessionRow, Store, Unit
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing.clock import FrozenClock
from toolcrib.testing.memory import MemoryStore
from toolcrib.values.context import Document
from toolcrib.values.event import Draft, EventType, Level
from toolcrib.values.identity import Ownership
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import StoreError

pytestmark = pytest.mark.anyio
GENESIS = "0" * 64


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=["normal", "full", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> AsyncIterator[Store]:
    kept: Store
    if request.param == "memory":
        kept = MemoryStore(clock, artifact_bytes=1000)
    else:
        durability = Durability(request.param)
        kept = SqliteStore.open(tmp_path / "store.db", durability=durability, clock=clock, artifact_bytes=1000)
    yield kept
    await kept.close()


def note(session_id: str = "s1", run_id: str | None = "r1", **payload: Json) -> Draft:
    return Draft(EventType.NOTE, session_id, run_id, payload=payload)


def unit(*drafts: Draft, owner: Ownership | None = None, documents: tuple[Document, ...] = ()) -> Unit:
    return Unit(drafts or (note(),), owner=owner, documents=documents)


async def claim(store: Store, session_id: str = "s1", owner: str = "me", ttl: float = 30) -> Ownership:
    return await store.claim(session_id, agent_id="main", project="p", owner=owner, ttl=ttl)


async def payloads(store: Store, session_id: str | None = None) -> list[JsonObject | None]:
    return [event.payload for event in await store.events(session_id=session_id, after=0, limit=1000)]


class TestJournal:
    async def test_an_event_comes_back_as_it_was_drafted(self, store: Store, clock: FrozenClock) -> None:
        draft = Draft("custom_type", "s1", "r1", "main", "c1", "n1", Level.WARNING, {"a": [1, None, "ü"]})
        assert await store.append(unit(draft)) == 1
        [event] = await store.events(session_id="s1", after=0, limit=10)
        assert (event.seq, event.run_seq, event.session_id, event.run_id, event.agent_id) == (1, 1, "s1", "r1", "main")
        assert (event.type, event.level, event.call_id, event.node_id) == ("custom_type", "warning", "c1", "n1")
        assert (event.payload, event.created_at, event.prev_hash) == ({"a": [1, None, "ü"]}, clock.now(), GENESIS)
        assert event.event_id == f"evt_{event.hash[:24]}"

    @pytest.mark.parametrize(
        "value",
        [2**63, -(2**64), 10**308, 0.1, "\x00", "🦀", True, None, [], {"": {}}, MappingProxyType({"a": (1, 2)})],
        ids=repr,
    )
    async def test_every_json_value_survives(self, store: Store, value: Json) -> None:
        await store.append(unit(note(value=value)))
        expected = {"a": [1, 2]} if isinstance(value, MappingProxyType) else value
        assert await payloads(store) == [{"value": expected}]

    async def test_deep_nesting_survives(self, store: Store) -> None:
        deep: Json = "bottom"
        for _ in range(400):
            deep = [deep]
        await store.append(unit(note(deep=deep)))
        assert await payloads(store) == [{"deep": deep}]

    async def test_a_draft_that_is_not_json_is_refused_and_leaves_nothing(self, store: Store) -> None:
        for bad in (object(), {1, 2}, "\ud800"):
            with pytest.raises(StoreError, match="cannot be stored"):
                await store.append(Unit((note(), Draft("bad", "s1", payload={"value": bad}))))  # pyright: ignore[reportArgumentType]
        assert await store.changed() == 0

    async def test_the_chain_is_gapless_and_each_run_counts_for_itself(self, store: Store) -> None:
        await store.append(unit(note("s1", "r1"), note("s1", "r2"), note("s1", None)))
        await store.append(unit(note("s2", "r1"), note("s1", "r1"), note("s1", "r2")))
        events = await store.events(session_id=None, after=0, limit=100)
        assert [event.seq for event in events] == [1, 2, 3, 4, 5, 6]
        assert [event.run_seq for event in events] == [1, 1, 0, 1, 2, 2]
        assert [event.prev_hash for event in events] == [GENESIS, *(event.hash for event in events[:-1])]
        assert len({event.event_id for event in events}) == 6

    async def test_events_are_read_by_session_from_a_place_up_to_a_limit(self, store: Store) -> None:
        await store.append(unit(*(note("s1" if i % 2 else "s2", i=i) for i in range(10))))
        assert await payloads(store, "s1") == [{"i": i} for i in (1, 3, 5, 7, 9)]
        part = await store.events(session_id="s1", after=4, limit=2)
        assert [event.payload for event in part] == [{"i": 5}, {"i": 7}]
        assert [event.seq for event in await store.events(session_id=None, after=8, limit=100)] == [9, 10]
        assert await store.events(session_id="nobody", after=0, limit=10) == []

    async def test_what_was_committed_together_can_be_read_event_by_event(self, store: Store) -> None:
        await store.append(unit(*(note(i=i) for i in range(5))))
        await store.append(unit(note(i=5)))
        whole = await store.events(session_id="s1", after=0, limit=100)
        for session_id in (None, "s1"):
            single = [await store.events(session_id=session_id, after=after, limit=1) for after in range(6)]
            assert [event for part in single for event in part] == whole
            assert await store.events(session_id=session_id, after=2, limit=3) == whole[2:5]
        for event in whole:
            assert (await store.verify(f"{event.seq}:{event.hash}")).faults == ()
            [fault] = (await store.verify(f"{event.seq}:{'0' * 64}")).faults
            assert (fault.seq, "expected at this place" in fault.problem) == (event.seq, True)

    async def test_the_same_draft_may_stand_in_a_unit_more_than_once(self, store: Store) -> None:
        for said in (1, 2**70):
            same = note(i=said)
            await store.append(unit(same, same))
            await store.append(unit(same, same, same))
        assert await payloads(store) == [{"i": said} for said in (1, 2**70) for _ in range(5)]
        assert (await store.verify(None)).faults == ()

    async def test_many_appends_at_once_keep_the_order_they_were_made_in(self, store: Store) -> None:
        futures = [store.append(unit(note(i=i), note(i=-i))) for i in range(200)]
        assert await asyncio.gather(*futures) == [2 * i + 2 for i in range(200)]
        assert await payloads(store) == [{"i": sign * i} for i in range(200) for sign in (1, -1)]
        assert (await store.verify(None)).faults == ()

    async def test_a_queued_unit_goes_before_the_next_append(self, store: Store) -> None:
        store.queue(unit(note(i=1)))
        store.queue(unit(note(i=2)))
        await store.append(unit(note(i=3)))
        assert await payloads(store) == [{"i": 1}, {"i": 2}, {"i": 3}]

    async def test_a_queued_unit_is_committed_by_itself(self, store: Store) -> None:
        heard = asyncio.Event()
        store.subscribe(lambda _: heard.set())
        store.queue(unit(note(i=1)))
        await asyncio.wait_for(heard.wait(), 5)
        assert await payloads(store) == [{"i": 1}]

    async def test_a_queued_unit_that_cannot_be_committed_is_reported(self, store: Store) -> None:
        heard: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context["exception"]))
        store.queue(unit(owner=Ownership("s1", "nobody", 1)))
        await store.append(unit(note(i=1)))
        await asyncio.sleep(0)
        assert [type(error) for error in heard] == [Fenced]
        assert await payloads(store) == [{"i": 1}]

    async def test_subscribers_hear_of_commits_until_they_stop(self, store: Store) -> None:
        heard: list[int] = []
        stop = store.subscribe(heard.append)
        await store.append(unit(note(), note()))
        await asyncio.sleep(0)
        assert heard[-1] == 2
        stop()
        await store.append(unit())
        await asyncio.sleep(0)
        assert heard[-1] == 2
        assert await store.changed() == 3

    async def test_a_closed_store_refuses(self, store: Store) -> None:
        await store.append(unit())
        await store.close()
        with pytest.raises(StoreError, match="closed"):
            await store.append(unit())
        with pytest.raises(StoreError, match="closed"):
            await store.events(session_id=None, after=0, limit=1)


class TestCalls:
    async def test_the_events_of_a_call_are_found_within_its_session(self, store: Store) -> None:
        def event(kind: EventType, call_id: str, session_id: str = "s1") -> Draft:
            return Draft(kind, session_id, "r1", call_id=call_id)

        start, end, said = EventType.TOOL_STARTED, EventType.TOOL_COMPLETED, EventType.NOTE
        for call_id in ("c4", 'a "quoted" ü', "c"):
            await store.append(unit(event(start, call_id), event(said, "c44"), event(end, call_id)))
            await store.append(unit(event(said, call_id), event(said, call_id, "s2")))
        for call_id in ("c4", 'a "quoted" ü', "c"):
            found = await store.call_events("s1", call_id)
            assert [one.type for one in found] == ["tool_started", "tool_completed", "note"]
            assert [one.type for one in await store.call_events("s2", call_id)] == ["note"]
        assert await store.call_events("s1", "nobody") == []


class TestDocuments:
    async def test_a_document_is_committed_with_its_unit_and_versions_count_up(self, store: Store) -> None:
        assert await store.load("list", "k") is None
        await store.append(unit(documents=(Document("list", "k", {"big": 2**80}),)))
        assert await store.load("list", "k") == Document("list", "k", {"big": 2**80}, 1)
        await store.append(unit(documents=(Document("list", "k", None, 1),)))
        assert await store.load("list", "k") == Document("list", "k", None, 2)

    @pytest.mark.parametrize("version", [0, 1, 3])
    async def test_a_document_on_another_version_is_a_conflict_and_nothing_is_committed(
        self, store: Store, version: int
    ) -> None:
        await store.append(unit(documents=(Document("list", "k", 1),)))
        await store.append(unit(documents=(Document("list", "k", 2, 1),)))
        before = await store.changed()
        other = Document("list", "other", 1)
        run = RunOpened("r9", "s1", "main", "main", "default", None, 1.0)
        with pytest.raises(Conflict):
            await store.append(Unit((note(),), documents=(other, Document("list", "k", 9, version)), runs=(run,)))
        assert await store.changed() == before
        assert await store.load("list", "other") is None
        assert await store.load("list", "k") == Document("list", "k", 2, 2)
        assert await store.runs("s1") == []

    async def test_a_conflict_fails_only_its_own_unit(self, store: Store) -> None:
        good = [store.append(unit(note(i=i))) for i in range(3)]
        bad = store.append(unit(note(i=-1), documents=(Document("list", "k", 9, 7),)))
        good += [store.append(unit(note(i=i), documents=(Document("list", f"k{i}", i),))) for i in range(3, 6)]
        outcomes = await asyncio.gather(bad, *good, return_exceptions=True)
        assert isinstance(outcomes[0], Conflict)
        assert outcomes[1:] == [1, 2, 3, 4, 5, 6]
        assert await payloads(store) == [{"i": i} for i in range(6)]

    async def test_of_two_writers_of_one_version_one_wins(self, store: Store) -> None:
        writers = [store.append(unit(note(i=i), documents=(Document("list", "k", i),))) for i in range(8)]
        outcomes = await asyncio.gather(*writers, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [int] + [Conflict] * 7
        assert await payloads(store) == [{"i": 0}]

    async def test_a_document_that_is_not_json_is_refused(self, store: Store) -> None:
        with pytest.raises(StoreError, match="cannot be stored"):
            await store.append(unit(documents=(Document("list", "k", object()),)))  # pyright: ignore[reportArgumentType]
        assert await store.changed() == 0


class TestLeases:
    async def test_a_session_is_created_by_its_first_owner(self, store: Store, clock: FrozenClock) -> None:
        assert await claim(store) == Ownership("s1", "me", 1)
        row = SessionRow("s1", "main", "p", "active", "me", 1, clock.now() + 30, clock.now(), 1)
        assert await store.session("s1") == row
        assert await store.session("s2") is None
        assert [event.type for event in await store.events(session_id="s1", after=0, limit=9)] == ["session_claimed"]

    async def test_a_live_lease_is_respected_and_its_owner_named(self, store: Store, clock: FrozenClock) -> None:
        await claim(store, owner="alice")
        clock.advance(10)
        for owner in ("bob", "alice"):
            with pytest.raises(SessionBusy, match=r"alice.* 20 s"):
                await claim(store, owner=owner)

    async def test_an_expired_lease_can_be_taken_over_and_the_old_owner_is_fenced(
        self, store: Store, clock: FrozenClock
    ) -> None:
        old = await claim(store, owner="alice")
        await store.append(unit(owner=old))
        clock.advance(31)
        await store.append(unit(owner=old))
        new = await claim(store, owner="bob")
        assert new == Ownership("s1", "bob", 2)
        before = await store.changed()
        with pytest.raises(Fenced, match="alice"):
            await store.append(unit(owner=old, documents=(Document("list", "k", 1),)))
        with pytest.raises(Fenced):
            await store.renew(old, 30)
        with pytest.raises(Fenced):
            await store.release(old, "idle")
        assert await store.changed() == before
        assert await store.load("list", "k") is None
        await store.append(unit(owner=new))

    async def test_the_same_owner_with_an_old_epoch_is_fenced(self, store: Store, clock: FrozenClock) -> None:
        old = await claim(store)
        clock.advance(31)
        assert (await claim(store)).epoch == 2
        with pytest.raises(Fenced):
            await store.append(unit(owner=old))

    async def test_a_renewed_lease_lasts_longer(self, store: Store, clock: FrozenClock) -> None:
        mine = await claim(store)
        clock.advance(29)
        await store.renew(mine, 30)
        clock.advance(29)
        with pytest.raises(SessionBusy):
            await claim(store, owner="bob")

    async def test_a_released_session_is_free_at_once_and_its_old_owner_is_fenced(self, store: Store) -> None:
        mine = await claim(store)
        await store.release(mine, "idle")
        row = await store.session("s1")
        assert row is not None
        assert (row.state, row.owner, row.events) == ("idle", None, 2)
        with pytest.raises(Fenced):
            await store.append(unit(owner=mine))
        assert (await claim(store, owner="bob")).epoch == 2

    async def test_a_session_that_was_never_claimed_has_no_owner(self, store: Store) -> None:
        with pytest.raises(Fenced):
            await store.append(unit(owner=Ownership("s1", "me", 1)))

    async def test_of_many_claims_at_once_one_wins(self, store: Store) -> None:
        claims = (claim(store, owner=f"o{i}") for i in range(8))
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Ownership] + [SessionBusy] * 7

    async def test_the_newest_sessions_come_first(self, store: Store, clock: FrozenClock) -> None:
        for name in ("a", "b", "c"):
            await claim(store, name)
            clock.advance(1)
        assert [row.session_id for row in await store.sessions(limit=2)] == ["c", "b"]

    async def test_runs_open_and_close_with_their_units(self, store: Store) -> None:
        opened = RunOpened("r1", "s1", "main", "main", "default", None, 1.0)
        child = RunOpened("r2", "s1", "sub", "sub", "plan", "r1", 2.0)
        await store.append(Unit((note(),), runs=(opened, child)))
        await store.append(Unit((note(),), runs=(RunClosed("r1", "completed", 3.0),)))
        await store.append(Unit((note(),), runs=(RunClosed("r1", "failed", 4.0),)))
        assert await store.runs("s1") == [
            RunRow("r1", "s1", "main", "main", "default", None, "closed", "completed", 1.0, 3.0),
            RunRow("r2", "s1", "sub", "sub", "plan", "r1", "open", None, 2.0, None),
        ]


class TestVerification:
    async def test_an_untouched_chain_has_no_fault_and_tells_its_head(self, store: Store) -> None:
        assert (await store.verify(None)).head == f"0:{GENESIS}"
        await store.append(unit(*(note(i=i) for i in range(1100))))
        [last] = await store.events(session_id=None, after=1099, limit=10)
        found = await store.verify(None)
        assert (found.events, found.erased, found.faults, found.head) == (1100, 0, (), f"1100:{last.hash}")

    async def test_a_head_that_was_kept_can_be_expected_later(self, store: Store) -> None:
        await store.append(unit())
        kept = (await store.verify(None)).head
        await store.append(unit())
        assert (await store.verify(kept)).faults == ()

    @pytest.mark.parametrize("expect", [f"9:{'ab' * 32}", f"1:{'ab' * 32}"])
    async def test_another_head_is_a_fault(self, store: Store, expect: str) -> None:
        await store.append(unit())
        assert (await store.verify(expect)).faults

    @pytest.mark.parametrize("expect", ["", "1", "1:zz", f"x:{'ab' * 32}", "1:abcd"])
    async def test_a_head_that_cannot_be_read_is_refused(self, store: Store, expect: str) -> None:
        with pytest.raises(StoreError, match="SEQ:HASH"):
            await store.verify(expect)


class TestErasure:
    async def test_a_session_is_erased_and_the_chain_still_holds(self, store: Store) -> None:
        await store.append(unit(note("s1", secret=1), note("s2", other=1), note("s1", secret=2)))
        kept = (await store.verify(None)).head
        assert await store.purge(session_id="s1", before=None) == 2
        assert await payloads(store, "s1") == [None, None]
        assert await payloads(store, "s2") == [{"other": 1}]
        found = await store.verify(kept)
        assert (found.events, found.erased, found.faults) == (4, 2, ())
        [record] = await store.events(session_id=None, after=3, limit=10)
        assert (record.type, record.payload) == ("payloads_purged", {"session_id": "s1", "before": None, "through": 3})

    async def test_what_came_before_a_time_is_erased(self, store: Store, clock: FrozenClock) -> None:
        await store.append(unit(note(i=1)))
        clock.advance(10)
        await store.append(unit(note(i=2)))
        assert await store.purge(session_id=None, before=clock.now()) == 1
        assert (await payloads(store))[:2] == [None, {"i": 2}]
        assert (await store.verify(None)).faults == ()

    async def test_more_than_one_batch_is_erased_and_a_second_purge_finds_nothing(self, store: Store) -> None:
        await store.append(unit(*(note(i=i) for i in range(1200))))
        assert await store.purge(session_id="s1", before=None) == 1200
        assert await store.purge(session_id="s1", before=None) == 0
        assert await store.changed() == 1201

    async def test_a_purge_never_erases_the_record_of_a_purge(self, store: Store, clock: FrozenClock) -> None:
        await store.append(unit())
        await store.purge(session_id="s1", before=None)
        clock.advance(10)
        assert await store.purge(session_id=None, before=clock.now()) == 0
        assert (await store.verify(None)).faults == ()

    async def test_artifacts_of_an_erased_session_go_unless_another_session_uses_them(self, store: Store) -> None:
        async def put(content: bytes, session_id: str) -> str:
            kept = await store.artifacts.put([content], mime_type="text/plain", session_id=session_id, call_id=None)
            return kept.artifact_id

        mine, shared, other = await put(b"mine", "s1"), await put(b"shared", "s1"), await put(b"other", "s2")
        await put(b"shared", "s2")
        await store.purge(session_id="s1", before=None)
        assert [await store.artifacts.find(one) is not None for one in (mine, shared, other)] == [False, True, True]


class TestArtifacts:
    async def test_a_body_is_kept_once_and_read_by_part(self, store: Store, clock: FrozenClock) -> None:
        first = await store.artifacts.put([b"hello ", b"world"], mime_type="text/plain", session_id="s1", call_id="c1")
        again = await store.artifacts.put([b"hello world"], mime_type="text/plain", session_id="s2", call_id=None)
        assert first == again
        assert (first.size, first.complete, first.created_at) == (11, True, clock.now())
        assert await store.artifacts.find(first.artifact_id) == first
        read = store.artifacts.read
        assert await read(first.artifact_id, offset=0, limit=100) == b"hello world"
        assert await read(first.artifact_id, offset=6, limit=3) == b"wor"
        assert await read(first.artifact_id, offset=11, limit=3) == b""
        assert await read(first.artifact_id, offset=-5, limit=5) == b"hello"

    async def test_an_empty_body_is_a_body(self, store: Store) -> None:
        kept = await store.artifacts.put([], mime_type="text/plain", session_id="s1", call_id=None)
        assert (kept.size, await store.artifacts.read(kept.artifact_id, offset=0, limit=9)) == (0, b"")

    async def test_what_is_beyond_the_cap_is_cut_and_said_to_be(self, store: Store) -> None:
        exact = await store.artifacts.put([b"x" * 1000], mime_type="text/plain", session_id="s1", call_id=None)
        endless = (b"y" * 300 for _ in iter(int, 1))
        cut = await store.artifacts.put(endless, mime_type="text/plain", session_id="s1", call_id=None)
        assert (exact.size, exact.complete) == (1000, True)
        assert (cut.size, cut.complete) == (1000, False)
        found = await store.artifacts.find(cut.artifact_id)
        assert found == cut

    @pytest.mark.parametrize(
        "wrong", ["art_" + "0" * 40, "nothing", "../../etc/passwd", "art_../../../../etc/passwd", ""]
    )
    async def test_an_unknown_artifact_is_not_found(self, store: Store, wrong: str) -> None:
        assert await store.artifacts.find(wrong) is None
        with pytest.raises(StoreError, match="no artifact"):
            await store.artifacts.read(wrong, offset=0, limit=10)

    async def test_a_body_that_fails_on_the_way_leaves_nothing(self, store: Store) -> None:
        def broken() -> Iterator[bytes]:
            yield b"half"
            raise OverflowError("the pipe burst")

        with pytest.raises(OverflowError):
            await store.artifacts.put(broken(), mime_type="text/plain", session_id="s1", call_id=None)
        assert await store.artifacts.clean(before=0, keep_bytes=0) == 0

    async def test_cleaning_removes_what_was_not_used_since_then(self, store: Store, clock: FrozenClock) -> None:
        async def put(content: bytes) -> str:
            kept = await store.artifacts.put([content], mime_type="text/plain", session_id="s1", call_id=None)
            return kept.artifact_id

        old, again = await put(b"old"), await put(b"again")
        clock.advance(10)
        new = await put(b"new")
        await put(b"again")
        assert await store.artifacts.clean(before=clock.now(), keep_bytes=None) == 1
        assert [await store.artifacts.find(one) is not None for one in (old, again, new)] == [False, True, True]
        with pytest.raises(StoreError):
            await store.artifacts.read(old, offset=0, limit=10)

    async def test_cleaning_to_a_size_keeps_the_most_recently_used(self, store: Store, clock: FrozenClock) -> None:
        ids: list[str] = []
        for content in (b"a" * 100, b"b" * 100, b"c" * 100):
            kept = await store.artifacts.put([content], mime_type="text/plain", session_id="s1", call_id=None)
            ids.append(kept.artifact_id)
            clock.advance(1)
        assert await store.artifacts.clean(before=0, keep_bytes=200) == 1
        assert [await store.artifacts.find(one) is not None for one in ids] == [False, True, True]
