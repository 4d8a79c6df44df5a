"""What every store promises about approvals of contracts, edges and locks: one suite, run against each of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.ports import Store
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import FrozenClock, MemoryStore
from toolcrib.values.contract import Approval, Basis, Edge, EdgeState, Lock
from toolcrib.values.identity import Principal, Standing, Surface
from toolcrib.values.refusal import StoreError

pytestmark = pytest.mark.anyio
ALICE = Principal("alice", Standing.OPERATOR)
EDGE = Edge("subagent", "main", "researcher", "sub")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=["sqlite", "memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> AsyncIterator[Store]:
    kept: Store = MemoryStore(clock)
    if request.param == "sqlite":
        kept = SqliteStore.open(tmp_path / "store.db", durability=Durability.NORMAL, clock=clock)
    yield kept
    await kept.close()


def approval(tool: str = "notes.add", print_: str = "a", basis: Basis = Basis.SNAPSHOT, **more: object) -> Approval:
    entry = Approval(Surface.RUNTIME, tool, print_ * 64, basis, "operator:alice", "reviewed")
    return replace(entry, **more)  # type: ignore[arg-type]


async def told(store: Store) -> list[tuple[str, object]]:
    found = await store.events(session_id="guard", after=0, limit=100)
    return [(event.type, (event.payload or {}).get("tools") or (event.payload or {}).get("scope")) for event in found]


async def test_the_newest_approval_of_a_tool_is_its_baseline_and_older_ones_stay(
    store: Store, clock: FrozenClock
) -> None:
    await store.approve([approval(), approval("notes.read", "b")], {"a" * 64: {"contract": {"name": "notes.add"}}})
    clock.advance(5)
    await store.approve([approval(print_="c", basis=Basis.APPROVED, reason="a new title")], {})
    now = clock.now()
    assert dict(await store.baselines(Surface.RUNTIME)) == {
        "notes.add": approval(print_="c", basis=Basis.APPROVED, reason="a new title", at=now),
        "notes.read": approval("notes.read", "b", at=now - 5),
    }
    assert [each.fingerprint[0] for each in await store.approvals(Surface.RUNTIME, "notes.add")] == ["a", "c"]
    assert await store.contract("a" * 64) == {"contract": {"name": "notes.add"}}
    assert await store.contract("c" * 64) is None
    assert await store.approval_count() == 3
    assert await store.has_snapshot(Surface.RUNTIME)
    assert not await store.has_snapshot(Surface.GATEWAY)


async def test_every_surface_has_baselines_of_its_own(store: Store) -> None:
    await store.approve([approval(), approval(print_="b", surface=Surface.GATEWAY)], {})
    assert (await store.baselines(Surface.RUNTIME))["notes.add"].fingerprint == "a" * 64
    assert (await store.baselines(Surface.GATEWAY))["notes.add"].fingerprint == "b" * 64
    assert await store.baselines(Surface.ADAPTER) == {}


async def test_a_pin_is_added_only_where_nothing_is_on_file(store: Store) -> None:
    await store.approve([approval(basis=Basis.PINNED)], {})
    await store.approve([approval(print_="b", basis=Basis.PINNED), approval("notes.read", "b", Basis.PINNED)], {})
    assert {name: each.fingerprint[0] for name, each in (await store.baselines(Surface.RUNTIME)).items()} == {
        "notes.add": "a",
        "notes.read": "b",
    }
    assert await told(store) == [
        ("contract_pinned", {"notes.add": "a" * 64}),
        ("contract_pinned", {"notes.read": "b" * 64}),
    ]


async def test_approvals_are_events_of_the_chain(store: Store) -> None:
    many = [approval(f"notes.n{number}") for number in range(450)]
    await store.approve(many, {})
    found = await told(store)
    assert [kind for kind, _ in found] == ["contract_approved"] * 3
    assert sum(len(tools) for _, tools in found if isinstance(tools, dict)) == 450
    assert (await store.verify(None)).faults == ()


async def test_an_edge_is_counted_each_time_and_recorded_once(store: Store, clock: FrozenClock) -> None:
    first = await store.see_edge(EDGE)
    clock.advance(3)
    again = await store.see_edge(EDGE)
    other = await store.see_edge(replace(EDGE, target="writer", scope="worker"))
    assert (first.count, first.state, first.first_seen) == (1, EdgeState.OBSERVED, clock.now() - 3)
    assert again == replace(first, count=2, last_seen=clock.now())
    assert list(await store.edges(None)) == [again, other]
    assert list(await store.edges("worker")) == [other]
    assert [kind for kind, _ in await told(store)] == ["edge_observed", "edge_observed"]


async def test_an_edge_that_was_approved_stays_approved(store: Store, clock: FrozenClock) -> None:
    seen = await store.see_edge(EDGE)
    approved = await store.approve_edge(seen.edge_id, ALICE)
    assert (approved.state, approved.approved_by, approved.approved_at) == ("approved", "operator:alice", clock.now())
    assert (await store.see_edge(EDGE)).state is EdgeState.APPROVED
    with pytest.raises(StoreError, match="no edge 'edge_0'"):
        await store.approve_edge("edge_0", ALICE)


async def test_a_lock_holds_until_it_is_taken_off(store: Store, clock: FrozenClock) -> None:
    await store.lock("subagent", ALICE)
    await store.lock("subagent", Principal("bob", Standing.OPERATOR))
    assert list(await store.locks()) == [Lock("subagent", "operator:alice", clock.now())]
    await store.unlock("subagent", ALICE)
    await store.unlock("subagent", ALICE)
    assert list(await store.locks()) == []
    assert await told(store) == [
        ("edge_scope_locked", "subagent"),
        ("edge_scope_locked", "subagent"),
        ("edge_scope_unlocked", "subagent"),
    ]
