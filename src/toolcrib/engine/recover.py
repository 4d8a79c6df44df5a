"""After a crash: give every call that was left open its one result, from the records alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.engine.attend import call_of, collect
from toolcrib.engine.parking import fresh
from toolcrib.engine.settle import settle, skip
from toolcrib.policy.modes import Mode, is_within
from toolcrib.policy.roles import CHILDREN
from toolcrib.ports import Question, QuestionState
from toolcrib.values.call import ToolCall
from toolcrib.values.event import TERMINAL, Event, EventType
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import Lane

if TYPE_CHECKING:
    from toolcrib.engine.run import Run

PAGE = 1_000
MOST_QUESTIONS = 10_000


@dataclass(slots=True)
class Survey:
    """What a session's records say of its calls."""

    started: dict[str, Event] = field(default_factory=dict[str, Event])
    asked: dict[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    turns: dict[str, int] = field(default_factory=dict[str, int])
    makers: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The run in which each call was asked for."""
    runs: dict[str, Event] = field(default_factory=dict[str, Event])
    """How each run began."""
    ended: set[str] = field(default_factory=set[str])
    questions: dict[str, Question] = field(default_factory=dict[str, Question])


async def recover(run: Run) -> tuple[ToolResult, ...]:
    """Settle what never started or only read; report `interrupted` for what may have acted. Nothing acts twice.

    A call whose question is still open stays parked; one whose question was answered is settled now.
    """
    survey = await _survey(run)
    results: list[ToolResult] = []
    for call_id, event in survey.started.items():
        survey.asked.pop(call_id, None)
        if (result := await _started_call(event, survey, run)) is None:
            continue
        results.append(result)
        await _over(survey.questions.pop(call_id, None), run)
    results += await _asked_calls(survey, run)
    for question in survey.questions.values():
        if (result := await _parked_call(question, run)) is not None:
            results.append(result)
    return tuple(results)


async def _survey(run: Run) -> Survey:
    """Read the session once: what was asked for in turns, what started, what ended, what waits for a person."""
    survey = Survey()
    after = 0
    store, session_id = run.runtime.store, run.origin.session_id
    while page := await store.events(session_id=session_id, after=after, limit=PAGE):
        _sort(page, survey)
        after = page[-1].seq
    for question in await store.questions(session_id=session_id, state=None, limit=MOST_QUESTIONS):
        if question.request.call_id in survey.ended:
            await _over(question, run)
        else:
            survey.questions[question.request.call_id] = question
    return survey


def _sort(page: Sequence[Event], survey: Survey) -> None:
    for event in page:
        if event.type == EventType.RUN_STARTED and event.run_id:
            survey.runs[event.run_id] = event
        elif event.type == EventType.TOOL_STARTED and event.call_id:
            survey.started[event.call_id] = event
            survey.makers[event.call_id] = event.run_id
        elif event.type in TERMINAL and event.call_id:
            survey.ended.add(event.call_id)
            survey.started.pop(event.call_id, None)
            survey.asked.pop(event.call_id, None)
        elif event.type == "turn_started" and event.payload:
            calls = event.payload.get("calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                    survey.asked[str(call["id"])] = call
                    survey.turns[str(call["id"])] = event.seq
                    survey.makers[str(call["id"])] = event.run_id


async def _started_call(event: Event, survey: Survey, run: Run) -> ToolResult | None:
    payload = event.payload or {}
    call = call_of(event.call_id, payload)
    if payload.get("effect") == "read" and not payload.get("redacted") and event.payload is not None:
        return await _again(call, survey, run)
    message = (
        f"{call.name} had started when the process ended; whether it took effect is unknown, and it was not repeated"
    )
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message))


async def _asked_calls(survey: Survey, run: Run) -> list[ToolResult]:
    """Calls of turns that never started, in order; behind one that waits or was denied nothing of its turn starts."""
    results: list[ToolResult] = []
    stopped: dict[int, str] = {}
    for call_id, kept in survey.asked.items():
        turn, question = survey.turns[call_id], survey.questions.pop(call_id, None)
        if question is not None:
            if (result := await _parked_call(question, run)) is not None:
                results.append(result)
            if _stops(result, question, run):
                stopped[turn] = question.request.tool
        elif turn in stopped:
            message = f"not started: the earlier call of {stopped[turn]} waits for a person or was denied; call again"
            results.append(await skip(call_of(call_id, kept), run, Refusal(Reason.SKIPPED, message)))
        elif (result := await _asked_call(call_id, kept, survey, run)) is not None:
            results.append(result)
    return results


def _stops(result: ToolResult | None, question: Question, run: Run) -> bool:
    if result is None:
        return True
    call = call_of(None, question.call)
    return not result.ok and run.tools.lane(call) is Lane.WRITE and "internal" not in question.request.tags


async def _again(call: ToolCall, survey: Survey, run: Run) -> ToolResult | None:
    """Settle a call in this run, if that is who asked for it and no looser than when it was asked for.

    None leaves the call of another agent, or of a person, to whoever it was when they are back.
    """
    began = survey.runs.get(survey.makers.get(call.id or "") or "")
    made: Mapping[str, Json] = {} if began is None or began.payload is None else began.payload
    role, mode = str(made.get("role")), str(made.get("mode"))
    if role not in CHILDREN and mode in set(Mode) and began is not None:
        if (began.agent_id, made.get("caller", "model")) != (run.origin.agent_id, run.caller_word):
            return None
        if is_within(run.mode, Mode(mode)):
            return await settle(call, run)
    message = f"{call.name} was asked for in a run that is over, and is not made up for in this one; call again"
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message))


async def _asked_call(call_id: str, kept: Mapping[str, Json], survey: Survey, run: Run) -> ToolResult | None:
    call = call_of(call_id, kept)
    if not kept.get("redacted"):
        return await _again(call, survey, run)
    message = (
        f"{call.name} had not started when the process ended; secrets in its arguments are not kept, so call again"
    )
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message))


async def _parked_call(question: Question, run: Run) -> ToolResult | None:
    """Settle a call whose question was answered; None for one that still waits, which stays parked."""
    request = question.request
    if question.call.get("parent_call") is not None or request.parent_run_id is not None:
        return await _orphaned(question, run)
    if request.origin.grantee != run.origin.grantee:
        return None  # another agent's: it is settled when that one is back
    question = await fresh(question, run)
    if question.state is QuestionState.PENDING and not question.call.get("redacted"):
        run.gate.parked[request.request_id] = question
        return None
    return await collect(question, run)


async def _orphaned(question: Question, run: Run) -> ToolResult:
    """A call from inside a call, or of a child: what it was for ended with its process, so it must not start."""
    call = call_of(question.request.call_id, question.call)
    message = f"{call.name} did not start: who called it ended with its process while a person was asked"
    result = await skip(call, run, Refusal(Reason.INTERRUPTED, message), question)
    await _over(question, run)
    return result


async def _over(question: Question | None, run: Run) -> None:
    """The call has its result: whatever the question came to, it needs no answer any more."""
    if question is not None:
        for state in (QuestionState.WITHDRAWN, QuestionState.ANSWERED):
            await run.runtime.store.end_question(question.request.request_id, state)
