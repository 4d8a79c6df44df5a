"""What every store promises about questions, answers and grants: one suite, run against each of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib import PermissionDecision, PermissionRequest, Target, TargetKind
from toolcrib.policy.grants import Grant
from toolcrib.ports import Fenced, NotPending, Question, QuestionState, Store, Unit
from toolcrib.stores.sqlite import Durability, SqliteStore
from toolcrib.testing import FrozenClock, MemoryStore
from toolcrib.values.event import Draft, EventType
from toolcrib.values.identity import Ancestor, Origin, Ownership, Principal, Role, Standing
from toolcrib.values.permission import Answer
from toolcrib.values.spec import Effect

pytestmark = pytest.mark.anyio
ALICE = Principal("alice", Standing.TERMINAL)
GRANT = Grant("main", "notes.add", "f" * 64, "path", "/notes")


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


def question(clock: FrozenClock, request_id: str = "ask_1", session_id: str = "s1") -> Question:
    origin = Origin(session_id, "r2", "sub@r2", Role.SUB, parent_run_id="r1", parent_agent_id="main")
    request = PermissionRequest(
        request_id=request_id,
        origin=replace(origin, ancestry=(Ancestor("main", "r1", Role.MAIN),)),
        call_id=f"call_{request_id}",
        tool="notes.add",
        effect=Effect.WRITE,
        tags=frozenset({"notes", "network"}),
        arguments='{"title":"ü\u202e"}',
        targets=(Target(TargetKind.PATH, "/notes/a", "/notes", frozenset({"outside"})),),
        dangerous=True,
        because="it can change things",
        rule="default (shipped)",
        fingerprint="f" * 64,
        suggested=Answer.DENY,
        grant_scope=None,
        expires_at=clock.now() + 100,
        cwd="/notes",
        environment="HOME, PATH",
        network_host="example.org",
        hook_summary="no objection by audit",
        details="all of it",
        mode="accept_edits",
    )
    call = {"id": request.call_id, "name": "notes.add", "arguments": {"title": "ü"}, "redacted": 1}
    return Question(request=request, digest="d", salt="00", epoch=3, call=call, created_at=clock.now())


async def claim(store: Store, session_id: str = "s1", owner: str = "me") -> Ownership:
    return await store.claim(session_id, agent_id="main", project="p", owner=owner, ttl=30)


async def put(store: Store, asked: Question, owner: Ownership | None = None) -> None:
    draft = Draft(EventType.PERMISSION_ASKED, asked.request.session_id, call_id=asked.request.call_id)
    await store.ask(asked, Unit((draft,), owner))


async def kinds(store: Store, session_id: str = "s1") -> list[str]:
    return [event.type for event in await store.events(session_id=session_id, after=0, limit=100)]


async def test_a_question_comes_back_whole(store: Store, clock: FrozenClock) -> None:
    asked = question(clock)
    await put(store, asked)
    assert await store.question("ask_1") == asked
    assert await store.questions(session_id="s1", state=None, limit=9) == [asked]
    assert await store.questions(session_id=None, state=QuestionState.PENDING, limit=9) == [asked]
    assert await kinds(store) == ["permission_asked"]
    assert await store.question("ask_2") is None


async def test_only_the_owner_of_a_session_asks(store: Store, clock: FrozenClock) -> None:
    lost = await claim(store)
    clock.advance(31)
    await claim(store, owner="other")
    with pytest.raises(Fenced):
        await put(store, question(clock), lost)
    assert await store.question("ask_1") is None


async def test_an_answer_is_kept_with_its_event_and_names_who_gave_it(store: Store, clock: FrozenClock) -> None:
    await put(store, question(clock))
    answered = await store.answer("ask_1", PermissionDecision("allow_once", "fine"), ALICE)
    assert answered == await store.question("ask_1")
    assert (answered.state, answered.answer, answered.reason) == (QuestionState.ANSWERED, Answer.ALLOW_ONCE, "fine")
    assert (answered.principal, answered.answered_at, answered.settled) == ("terminal:alice", clock.now(), False)
    [event] = [each for each in await store.events(session_id="s1", after=0, limit=9) if "answered" in each.type]
    assert (event.run_id, event.agent_id, event.call_id) == ("r2", "sub@r2", "call_ask_1")
    assert event.payload == {
        "request_id": "ask_1",
        "answer": "allow_once",
        "reason": "fine",
        "principal": "terminal:alice",
    }


async def test_the_first_answer_stands(store: Store, clock: FrozenClock) -> None:
    await put(store, question(clock))
    words = ["deny", "allow_once", "allow_for_session"]
    answers = [store.answer("ask_1", PermissionDecision(word), ALICE) for word in words]
    done = await asyncio.gather(*answers, return_exceptions=True)
    assert [type(each) for each in done] == [Question, NotPending, NotPending]
    found = await store.question("ask_1")
    assert found is not None
    assert found.answer is Answer.DENY
    assert (await kinds(store)).count("permission_answered") == 1


@pytest.mark.parametrize(
    ("ended", "said"),
    [(QuestionState.WITHDRAWN, "withdrawn"), (QuestionState.EXPIRED, "expired"), (None, "no question")],
)
async def test_what_is_over_cannot_be_answered(
    store: Store, clock: FrozenClock, ended: QuestionState | None, said: str
) -> None:
    if ended is not None:
        await put(store, question(clock))
        await store.end_question("ask_1", ended)
    with pytest.raises(NotPending, match=said):
        await store.answer("ask_1", PermissionDecision("allow_once"), ALICE)
    assert "permission_answered" not in await kinds(store)


async def test_no_answer_counts_after_the_time_is_over(store: Store, clock: FrozenClock) -> None:
    await put(store, question(clock))
    clock.advance(100)
    with pytest.raises(NotPending):
        await store.answer("ask_1", PermissionDecision("allow_once"), ALICE)


async def test_what_was_answered_neither_expires_nor_is_withdrawn(store: Store, clock: FrozenClock) -> None:
    await put(store, question(clock))
    await store.answer("ask_1", PermissionDecision("allow_once"), ALICE)
    for state in (QuestionState.EXPIRED, QuestionState.WITHDRAWN):
        found = await store.end_question("ask_1", state)
        assert found is not None
        assert (found.state, found.settled) == (QuestionState.ANSWERED, False)


async def test_a_question_whose_call_is_settled_is_no_longer_open(store: Store, clock: FrozenClock) -> None:
    await put(store, question(clock))
    assert (await store.end_question("ask_1", QuestionState.ANSWERED)) == question(clock), "a pending one stays"
    await store.answer("ask_1", PermissionDecision("allow_once"), ALICE)
    await store.end_question("ask_1", QuestionState.ANSWERED)
    assert await store.questions(session_id="s1", state=None, limit=9) == []
    assert [each.settled for each in await store.questions(session_id=None, state=None, limit=9)] == [True]


async def test_questions_come_oldest_first_and_go_with_the_payloads_of_their_session(
    store: Store, clock: FrozenClock
) -> None:
    for number, session_id in enumerate(["s1", "s2", "s1"]):
        await put(store, question(clock, f"ask_{number}", session_id))
        clock.advance(1)
    found = await store.questions(session_id=None, state=None, limit=9)
    assert [each.request.request_id for each in found] == ["ask_0", "ask_1", "ask_2"]
    await store.purge(session_id="s1", before=None)
    left = await store.questions(session_id=None, state=None, limit=9)
    assert [each.request.request_id for each in left] == ["ask_1"]


async def test_grants_are_those_of_the_present_owner_and_end_with_it(store: Store, clock: FrozenClock) -> None:
    mine = await claim(store)
    unit = Unit((Draft(EventType.GRANT_ADDED, "s1"),), mine)
    await store.add_grants([GRANT], unit)
    await store.add_grants([GRANT, replace(GRANT, scope="/more")], unit)
    assert set(await store.grants(mine)) == {GRANT, replace(GRANT, scope="/more")}
    assert (await kinds(store)).count("grant_added") == 2
    await store.release(mine, "idle")
    assert list(await store.grants(mine)) == []
    again = await claim(store)
    assert list(await store.grants(again)) == [], "a resumed session asks again"
    await store.add_grants([GRANT], Unit((), again))
    clock.advance(31)
    other = await claim(store, owner="other")
    assert list(await store.grants(other)) == []
    assert list(await store.grants(again)) == []
    with pytest.raises(Fenced):
        await store.add_grants([GRANT], Unit((), again))


async def test_grants_of_one_session_are_not_those_of_another(store: Store) -> None:
    one, two = await claim(store, "s1"), await claim(store, "s2")
    await store.add_grants([GRANT], Unit((), one))
    assert list(await store.grants(two)) == []
