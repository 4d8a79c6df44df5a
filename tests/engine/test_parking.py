"""Questions in the inbox: a parked call has no result, is answered once, and is settled anew by its session's owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from toolcrib import (
    Parts,
    PermissionDecision,
    PermissionRequest,
    PreHook,
    Target,
    TargetKind,
    ToolCall,
    ToolContext,
    Toolcrib,
    tool,
)
from toolcrib.askers.inbox import InboxAsker, MayNotApprove, answer
from toolcrib.engine.parking import Parked
from toolcrib.engine.run import Run
from toolcrib.policy.rules import Rule
from toolcrib.policy.verdict import Verdict
from toolcrib.ports import NotPending, Question, QuestionState
from toolcrib.testing import FrozenClock, MemoryStore
from toolcrib.values.identity import Principal, Standing
from toolcrib.values.permission import Pending
from toolcrib.values.refusal import StoreError
from toolcrib.values.result import ToolResult

pytestmark = pytest.mark.anyio
ALICE = Principal("alice", Standing.TERMINAL)
TERMINAL = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}
Open = Callable[..., AbstractAsyncContextManager[Toolcrib]]


class Desk:
    """What the tools of these tests did."""

    def __init__(self) -> None:
        self.acted: list[str] = []

    def tools(self) -> list[object]:
        @tool(name="act.now", targets=lambda arguments: [Target(TargetKind.RESOURCE, str(arguments["word"]), "words")])
        async def act(word: str) -> str:
            """Act."""
            self.acted.append(word)
            return f"did {word}"

        @tool(name="act.inside")
        async def inside(context: ToolContext, word: str) -> str:
            """Act through another tool."""
            return (await context.call("act.now", {"word": word})).text

        @tool.read(name="look.up")
        async def look(word: str) -> str:
            """Look."""
            return word

        @tool.read(name="look.far", tags={"network"})
        async def far(word: str) -> str:
            """Look far away."""
            self.acted.append(word)
            return word

        return [act, inside, look, far]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def open_crib(tmp_path: Path, desk: Desk) -> Open:
    def open_(asker: object = "inbox", **options: object) -> AbstractAsyncContextManager[Toolcrib]:
        given = {"tools": desk.tools(), "config": {"toolsets": []}, **options}
        return Toolcrib.open(home=tmp_path / "home", asker=asker, **given)  # type: ignore[arg-type]

    return open_


@pytest.fixture
async def crib(open_crib: Open) -> AsyncIterator[Toolcrib]:
    async with open_crib() as crib:
        yield crib


async def asked(crib: Toolcrib, count: int = 1) -> list[Question]:
    """The questions that wait, once there are so many."""
    store, come = crib.runtime.store, asyncio.Event()
    stop = store.subscribe(lambda _: come.set())
    try:
        while len(found := await store.questions(session_id=None, state=QuestionState.PENDING, limit=9)) < count:
            await come.wait()
            come.clear()
    finally:
        stop()
    return list(found)


async def waited_for(crib: Toolcrib, run: Run) -> Question:
    """The question that a call of this run waits for, once it does."""
    [question] = await asked(crib)
    async with asyncio.timeout(30):
        while not run.vigils:  # noqa: ASYNC110 - nothing tells of the moment between asking and waiting
            await asyncio.sleep(0)
    return question


async def say(crib: Toolcrib, word: str = "allow_once", reason: str | None = None) -> Question:
    [question, *_] = await asked(crib)
    return await answer(crib.runtime.store, question.request.request_id, PermissionDecision(word, reason), ALICE)


async def events(crib: Toolcrib) -> list[str]:
    return [event.type async for event in crib.events(follow_on=False)]


async def pending(run: Run, word: str = "a", id: str | None = None) -> Pending:
    parked = await run.submit("act.now", {"word": word}, id=id)
    assert isinstance(parked, Pending), parked
    return parked


async def test_a_call_waits_for_its_answer_and_then_runs(crib: Toolcrib, desk: Desk) -> None:
    async with crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await asked(crib)
        assert desk.acted == []
        assert not TERMINAL & set(await events(crib))
        assert (await run.call("look.up", {"word": "b"})).ok, "a parked write holds no lane"
        await say(crib)
        result = await calling
    assert (result.ok, result.text, desk.acted) == (True, "did a", ["a"])
    told = await events(crib)
    order = [kind for kind in told if kind.startswith("permission") or kind == "tool_started"]
    assert order[0] == "permission_asked"
    assert order[-2:] == ["permission_answered", "tool_started"]
    assert await crib.runtime.store.questions(session_id=run.origin.session_id, state=None, limit=9) == []


async def test_a_denial_reaches_the_model_in_the_words_of_the_person(crib: Toolcrib, desk: Desk) -> None:
    async with crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await asyncio.gather(say(crib, "deny", "use the other one"), calling)
        assert calling.result().reason == "permission_denied"
        assert "use the other one" in calling.result().text
        again = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await say(crib)
        assert (await again).ok, "a denial is not remembered"
    assert desk.acted == ["a"]


async def test_several_questions_of_one_turn_wait_at_once(crib: Toolcrib) -> None:
    async with crib.run() as run:
        turn = asyncio.create_task(run.turn([ToolCall("look.far", {"word": word}) for word in "abc"]))
        questions = await asked(crib, 3)
        for question in reversed(questions):
            await answer(crib.runtime.store, question.request.request_id, PermissionDecision("allow_once"), ALICE)
        assert [result.text for result in await turn] == ["a", "b", "c"]


async def test_who_does_not_wait_is_told_that_the_call_is_pending_and_collects_it_by_repeating(
    crib: Toolcrib, desk: Desk
) -> None:
    async with crib.run() as run:
        first = await pending(run)
        assert str(first) == f"pending {first.request_id}"
        for _ in range(20):
            assert await run.submit("act.now", {"word": "a"}) == first, "asking again asks nobody again"
        other = await pending(run, "b")
        assert other.request_id != first.request_id
        assert (len(run.parked), run.calls) == (2, 0)
        await answer(crib.runtime.store, first.request_id, PermissionDecision("allow_once"), ALICE)
        collected = await run.submit("act.now", {"word": "a"})
        assert isinstance(collected, ToolResult)
        assert (collected.ok, collected.call_id, desk.acted) == (True, first.call_id, ["a"])
        assert isinstance(await run.submit("act.now", {"word": "a"}), Pending), "an answer is used once"
        assert (await events(crib)).count("permission_asked") == 3


async def test_the_first_answer_counts_and_the_second_is_told(crib: Toolcrib, desk: Desk) -> None:
    async with crib.run() as run:
        parked = await pending(run)
        answers = [
            answer(crib.runtime.store, parked.request_id, PermissionDecision(word), Principal(name, Standing.TERMINAL))
            for name, word in [("alice", "deny"), ("bob", "allow_once"), ("carol", "allow_once")]
        ]
        done = await asyncio.gather(*answers, return_exceptions=True)
        late = [each for each in done if isinstance(each, NotPending)]
        assert len(late) == 2
        assert all("already answered: deny by terminal:alice" in str(each) for each in late)
        assert (await run.call("act.now", {"word": "a"})).reason == "permission_denied"
    assert desk.acted == []


@pytest.mark.parametrize(
    ("principal", "may"),
    [
        (Principal("alice", Standing.TERMINAL), True),
        (Principal("alice", Standing.OPERATOR), True),
        (Principal("ci", Standing.TOKEN, frozenset({"approve"})), True),
        (Principal("ci", Standing.TOKEN, frozenset({"call", "read"})), False),
        (Principal("main", Standing.AGENT, frozenset({"approve"})), False),
    ],
    ids=str,
)
async def test_only_who_has_the_right_may_answer(crib: Toolcrib, principal: Principal, may: bool) -> None:
    async with crib.run() as run:
        parked = await pending(run)
        if not may:
            with pytest.raises(MayNotApprove):
                await answer(crib.runtime.store, parked.request_id, PermissionDecision("allow_once"), principal)
        else:
            given = await answer(crib.runtime.store, parked.request_id, PermissionDecision("allow_once"), principal)
            assert given.principal == str(principal)
            assert (await run.call("act.now", {"word": "a"})).ok


async def test_an_answer_that_an_agent_slipped_into_the_store_is_worth_nothing(crib: Toolcrib, desk: Desk) -> None:
    async with crib.run() as run:
        parked = await pending(run)
        agent = Principal("main", Standing.AGENT)
        await crib.runtime.store.answer(parked.request_id, PermissionDecision("allow_once"), agent)
        result = await run.call("act.now", {"word": "a"})
    assert (result.reason, desk.acted) == ("permission_denied", [])


async def test_a_question_that_nobody_answers_expires_and_denies(open_crib: Open, desk: Desk) -> None:
    clock = FrozenClock()
    async with open_crib(parts=Parts(store=MemoryStore(clock), clock=clock)) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        [question] = await asked(crib)
        assert question.request.expires_at == clock.now() + 86_400
        clock.advance(86_401)
        result = await calling
        assert (result.reason, desk.acted) == ("permission_denied", [])
        assert "nobody answered in time" in result.text
        with pytest.raises(NotPending, match="expired"):
            await answer(crib.runtime.store, question.request.request_id, PermissionDecision("allow_once"), ALICE)


async def test_what_changed_while_a_person_was_asked_does_not_run_on_the_answer(open_crib: Open, desk: Desk) -> None:
    where = {"at": "here"}

    @tool(name="go.there", targets=lambda _: [Target(TargetKind.PATH, f"/places/{where['at']}", "/places")])
    async def go() -> str:
        """Go."""
        desk.acted.append("went")
        return "went"

    async with open_crib(tools=[go]) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("go.there"))
        await asked(crib)
        where["at"] = "elsewhere"
        await say(crib)
        assert (await calling).reason == "permission_denied"
    assert desk.acted == []


async def test_a_tool_that_changed_since_its_question_is_not_run_on_the_answer(open_crib: Open, desk: Desk) -> None:
    async with open_crib() as crib, crib.run(session="s") as run:
        await pending(run)
        await say(crib)

    @tool(name="act.now")
    async def other(word: str) -> str:
        """Act, with more in mind."""
        desk.acted.append("other")
        return word

    async with open_crib(tools=[other]) as crib, crib.run(session="s") as run:
        assert [result.reason for result in run.recovered] == ["contract_drift"]
    assert desk.acted == []


@pytest.mark.parametrize("rule", [Rule(Verdict.DENY, "act.*")])
async def test_a_rule_that_came_while_a_person_was_asked_beats_the_answer(
    crib: Toolcrib, desk: Desk, rule: Rule
) -> None:
    async with crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await asked(crib)
        crib.runtime.policy = crib.runtime.policy.with_rules([rule])
        await say(crib)
        assert (await calling).reason == "permission_denied"
    assert desk.acted == []


async def test_hooks_see_the_call_again_after_the_answer(open_crib: Open, desk: Desk) -> None:
    seen: list[str] = []

    async def watch(invocation: object, origin: object) -> None:
        seen.append("seen")

    async with open_crib(hooks=[PreHook(name="watch", run=watch)]) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await say(crib)
        assert (await calling).ok
    assert (seen, desk.acted) == (["seen", "seen"], ["a"])


async def test_what_a_call_read_counts_after_a_person_allowed_it(open_crib: Open) -> None:
    marks = frozenset({"sensitive"})

    @tool.read(name="look.at", targets=lambda _: [Target(TargetKind.PATH, "/p/.env", "", marks)])
    async def look() -> str:
        """Look at a secret."""
        return "secret"

    async with open_crib(tools=[look]) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("look.at"))
        await say(crib)
        assert (await calling).ok
        assert "read_sensitive" in run.marks


async def test_an_answer_for_the_session_covers_its_scope_and_no_other_agent(crib: Toolcrib, desk: Desk) -> None:
    async with crib.run(session="s") as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await say(crib, "allow_for_session")
        assert (await calling).ok
        assert (await run.call("act.now", {"word": "b"})).ok, "the same scope"
        async with run.child("main", role="sub") as child:
            assert isinstance(await child.submit("act.now", {"word": "c"}), Pending), "a child has to ask itself"
    async with crib.run(session="s") as later:
        assert isinstance(await later.submit("act.now", {"word": "d"}), Pending), "a resumed session asks again"
    assert desk.acted == ["a", "b"]


async def test_a_childs_question_shows_everybody_above_it(crib: Toolcrib) -> None:
    async with (
        crib.run(agent="main") as run,
        run.child("main", role="orchestrator") as middle,
        middle.child("main", role="sub") as child,
    ):
        await child.submit("act.now", {"word": "a"})
        [question] = await asked(crib)
    request = question.request
    assert [each.run_id for each in request.ancestry] == [run.origin.run_id, middle.origin.run_id]
    assert (request.parent_run_id, request.agent_role) == (middle.origin.run_id, "sub")
    assert request.parent_agent_id == middle.origin.agent_id


async def test_a_restart_between_question_and_answer_neither_loses_nor_doubles_the_call(
    open_crib: Open, desk: Desk
) -> None:
    async with open_crib() as crib, crib.run(session="s") as run:
        parked = await pending(run, id="mine")
    async with open_crib() as crib, crib.run(session="s") as run:
        assert run.recovered == ()
        assert run.parked == (parked,)
        assert await run.submit("act.now", {"word": "a"}) == parked
    async with open_crib() as crib:
        await answer(crib.runtime.store, parked.request_id, PermissionDecision("allow_for_session"), ALICE)
        assert desk.acted == [], "the approving process settles nothing"
    async with open_crib() as crib, crib.run(session="s") as run:
        [result] = run.recovered
        assert (result.ok, result.call_id, desk.acted) == (True, "mine", ["a"])
        assert isinstance(await run.submit("act.now", {"word": "z"}), Pending), "that was for the session before"
    async with open_crib() as crib, crib.run(session="s") as run:
        assert run.recovered == ()
        assert (await events(crib)).count("tool_completed") == 1
    assert desk.acted == ["a"]


async def test_a_parked_call_can_be_collected_after_a_restart_by_who_waits_for_it(open_crib: Open, desk: Desk) -> None:
    async with open_crib() as crib, crib.run(session="s") as run:
        await pending(run, "a")
        await pending(run, "b")
    async with open_crib() as crib, crib.run(session="s") as run:
        collecting = [asyncio.create_task(run.collect(each.request_id)) for each in run.parked]
        for question in await asked(crib, 2):
            word = "allow_once" if "a" in question.request.arguments.split(":")[1] else "deny"
            await answer(crib.runtime.store, question.request.request_id, PermissionDecision(word), ALICE)
        assert [result.reason for result in await asyncio.gather(*collecting)] == [None, "permission_denied"]
    assert desk.acted == ["a"]


async def test_closing_a_run_leaves_a_call_that_waits_parked(open_crib: Open, desk: Desk) -> None:
    async with open_crib() as crib:
        async with crib.run(session="s") as run:
            calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
            question = await waited_for(crib, run)
        with pytest.raises(Parked, match=question.request.request_id):
            await calling
        await say(crib)
        async with crib.run(session="s") as run:
            assert [result.text for result in run.recovered] == ["did a"]
    assert desk.acted == ["a"]


@pytest.mark.parametrize("how", ["abort", "cancel"])
async def test_a_call_that_is_given_up_has_its_result_and_its_question_is_withdrawn(
    crib: Toolcrib, desk: Desk, how: str
) -> None:
    async with crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}, id="mine"))
        question = await waited_for(crib, run)
        if how == "abort":
            run.abort("stop")
            assert (await calling).reason == "aborted"
        else:
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
        with pytest.raises(NotPending, match="withdrawn"):
            await answer(crib.runtime.store, question.request.request_id, PermissionDecision("allow_once"), ALICE)
        told = [event async for event in crib.events(follow_on=False) if event.call_id == "mine"]
        assert [event.type for event in told if event.type in TERMINAL] == ["tool_failed"]
    assert desk.acted == []


async def test_a_call_inside_a_call_waits_too_and_does_not_outlive_it(open_crib: Open, desk: Desk) -> None:
    allow = {"policy": {"rules": [{"tool": "act.inside", "verdict": "allow"}]}, "toolsets": []}
    async with open_crib(config=allow) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("act.inside", {"word": "a"}))
        await say(crib)
        assert (await calling).text == "did a"
    assert desk.acted == ["a"]


async def test_behind_a_write_that_waits_nothing_of_its_turn_starts_after_a_restart(
    open_crib: Open, desk: Desk
) -> None:
    calls = [ToolCall("act.now", {"word": "a"}, "w"), ToolCall("look.up", {"word": "b"}, "r")]
    async with open_crib() as crib:
        async with crib.run(session="s") as run:
            turn = asyncio.create_task(run.turn(calls))
            await waited_for(crib, run)
        with pytest.raises(Parked):
            await turn
        async with crib.run(session="s") as run:
            assert [(result.call_id, result.reason) for result in run.recovered] == [("r", "skipped")]
            await say(crib, "deny")
            [parked] = run.parked
            assert (await run.collect(parked.request_id)).reason == "permission_denied"
    assert desk.acted == []


async def test_a_call_whose_secrets_were_not_kept_is_not_taken_up_again(open_crib: Open, desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    async with open_crib() as crib, crib.run(session="s") as run:
        parked = await run.submit("act.now", {"word": secret})
        assert isinstance(parked, Pending)
        [question] = await asked(crib)
        assert secret not in repr(question)
        await say(crib)
    async with open_crib() as crib, crib.run(session="s") as run:
        assert [result.reason for result in run.recovered] == ["interrupted"]
        rows = [event async for event in crib.events(follow_on=False)]
        assert secret not in repr(rows)
    assert desk.acted == []


async def test_a_callback_answers_the_inbox_too_and_the_first_answer_counts(open_crib: Open, desk: Desk) -> None:
    async def ask(request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision("allow_once", "by program")

    async with open_crib(InboxAsker(ask)) as crib, crib.run() as run:
        assert (await run.call("act.now", {"word": "a"})).ok
        answered = [event async for event in crib.events(follow_on=False) if event.type == "permission_answered"]
        assert [(event.payload or {})["principal"] for event in answered] == ["callback:callback"]


async def test_a_callback_is_asked_one_question_after_the_other(open_crib: Open) -> None:
    open_now: list[str] = []
    most: list[int] = []

    async def ask(request: PermissionRequest) -> PermissionDecision:
        open_now.append(request.request_id)
        most.append(len(open_now))
        await asyncio.sleep(0.01)
        open_now.remove(request.request_id)
        return PermissionDecision("allow_once")

    async with open_crib(InboxAsker(ask)) as crib, crib.run() as run:
        results = await run.turn([ToolCall("look.far", {"word": word}) for word in "abc"])
    assert ([result.ok for result in results], most) == ([True] * 3, [1, 1, 1])


async def test_a_callback_that_fails_leaves_the_question_to_the_inbox(open_crib: Open, desk: Desk) -> None:
    tried = asyncio.Event()

    async def ask(request: PermissionRequest) -> PermissionDecision:
        tried.set()
        raise RuntimeError("no connection")

    async with open_crib(InboxAsker(ask)) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await tried.wait()
        await say(crib)
        assert (await calling).ok
        assert "permission_failed" in await events(crib)


async def test_a_notification_that_fails_is_on_record_and_holds_up_nothing(open_crib: Open, desk: Desk) -> None:
    async def tell(request: PermissionRequest) -> None:
        raise OSError("no such bell")

    async with open_crib(InboxAsker(notifiers=(("bell", tell),))) as crib, crib.run() as run:
        calling = asyncio.create_task(run.call("act.now", {"word": "a"}))
        await say(crib)
        assert (await calling).ok
        notes = [event.payload async for event in crib.events(follow_on=False) if event.type == "note"]
    assert {"notification": "bell", "problem": "OSError: no such bell"} in notes


class Broken(MemoryStore):
    """A store of which one thing does not work."""

    broken = ""

    def __getattribute__(self, name: str) -> object:
        return _fail if name != "broken" and name == self.broken else super().__getattribute__(name)


async def _fail(*_: object, **__: object) -> None:
    raise StoreError("it does not work")


@pytest.mark.parametrize("broken", ["grants", "ask", "question", "questions", "changed"])
async def test_a_store_that_fails_denies_and_nothing_acts(open_crib: Open, desk: Desk, broken: str) -> None:
    store = Broken()
    async with open_crib(parts=Parts(store=store)) as crib, crib.run() as run:
        store.broken = broken
        async with asyncio.timeout(5):
            result = await run.call("act.now", {"word": "a"})
        store.broken = ""
    assert (result.reason, desk.acted) == ("permission_denied", [])
