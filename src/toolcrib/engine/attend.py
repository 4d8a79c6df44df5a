"""Seeing calls through that may have to wait for a person: attended to their result, or parked and collected later."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.catalog.validate import arguments_of
from toolcrib.engine.envelope import opened
from toolcrib.engine.parking import POLL_SECONDS, Parked, digest_of, fresh, unkept
from toolcrib.engine.settle import settle, skip
from toolcrib.ports import Question, QuestionState
from toolcrib.values.call import ToolCall
from toolcrib.values.json import Json
from toolcrib.values.permission import Pending
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import NOTHING

if TYPE_CHECKING:
    from toolcrib.engine.run import Run


class Vigil:
    """One call that waits for its answer; a run that is closed ends the wait and leaves the call parked."""

    __slots__ = ("decided", "left")

    def __init__(self, decided: asyncio.Event) -> None:
        self.decided = decided
        self.left = False

    def leave(self) -> None:
        self.left = True
        self.decided.set()


def see_through(call: ToolCall, run: Run) -> Coroutine[Any, Any, ToolResult]:
    """Settle a call; where questions go to the inbox, wait for their answers."""
    return settle(call, run) if run.runtime.parking is None else _attend(call, _identical(call, run), run)


async def submit(call: ToolCall, run: Run) -> ToolResult | Pending:
    """Settle a call without waiting for a person: it is pending instead, and the identical call collects it."""
    question = _identical(call, run)
    if question is not None:
        question = await _look(question, call, run)
        if isinstance(question, ToolResult):
            return question
        if question.state is QuestionState.PENDING:
            return _parked(question, run)
    outcome = await _settled(call, question, run)
    return outcome if isinstance(outcome, ToolResult) else _parked(outcome, run)


async def collect(question: Question, run: Run) -> ToolResult:
    """Wait for the answer to a parked call, and settle it from what was kept of it."""
    run.gate.parked.pop(question.request.request_id, None)
    call = call_of(question.request.call_id, question.call)
    if not question.call.get("redacted"):
        return await _attend(call, question, run)
    message = f"{call.name} cannot be taken up again, because secrets in its arguments are not kept; call it again"
    await _end(question, QuestionState.WITHDRAWN, run)
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message), question)


def pending_of(question: Question) -> Pending:
    """What a caller that does not wait is told."""
    request = question.request
    return Pending(request.request_id, request.call_id, request.tool, request.expires_at)


def call_of(call_id: str | None, kept: Mapping[str, Json]) -> ToolCall:
    """A call from what was written down of it."""
    arguments = kept.get("arguments")
    if not isinstance(arguments, (str, Mapping)):
        arguments = NOTHING
    via = kept.get("via")
    return ToolCall(
        str(kept.get("name", "")), arguments, call_id, via if isinstance(via, str) else None, bool(kept.get("repaired"))
    )


async def _attend(call: ToolCall, question: Question | None, run: Run) -> ToolResult:
    """Settle, wait for the answer, settle again from the start."""
    while True:
        if question is not None and question.state is QuestionState.PENDING:
            try:
                question = await _decided(question, run)
            except Refusal as refusal:
                return await skip(call, run, refusal, question)
            except asyncio.CancelledError:
                await _give_up(call, question, run)
                raise
        outcome = await _settled(call, question, run)
        if isinstance(outcome, ToolResult):
            return outcome
        question = outcome


async def _settled(call: ToolCall, question: Question | None, run: Run) -> ToolResult | Question:
    """The call's result; or the question that it waits for now."""
    try:
        result = await settle(call, run, question)
    except Parked as parked:
        run.forget(call)
        return parked.question
    if question is not None:
        await _end(question, QuestionState.ANSWERED, run)
    return result


async def _decided(question: Question, run: Run) -> Question:
    """Wait until the question is no longer pending, or nothing may run here any more."""
    parking, clock = run.runtime.parking, run.runtime.clock
    assert parking is not None
    request = question.request
    vigil = Vigil(parking.register(request.request_id))
    run.vigils.add(vigil)
    try:
        while not run.is_aborted and not vigil.left:
            question = await fresh(question, run)
            if question.state is not QuestionState.PENDING:
                return question
            while not vigil.decided.is_set() and (left := request.expires_at - clock.now()) > 0:
                await _until(vigil.decided, min(left, POLL_SECONDS))
            parking.check()
            vigil.decided.clear()
    except StoreError as error:
        raise unkept(request.tool, error) from error
    finally:
        run.vigils.discard(vigil)
        parking.dismiss(request.request_id)
    if vigil.left:
        run.gate.parked[request.request_id] = question
        raise Parked(question)
    await _end(question, QuestionState.WITHDRAWN, run)
    return question  # the run was aborted, so settling it says so


async def _look(question: Question, call: ToolCall, run: Run) -> Question | ToolResult:
    """How the question stands; a question that cannot be read denies its call."""
    try:
        return await fresh(question, run)
    except StoreError as error:
        return await skip(call, run, unkept(question.request.tool, error), question)


async def _give_up(call: ToolCall, question: Question, run: Run) -> None:
    """The caller went away: nobody needs an answer any more, and the call has its result."""
    await _end(question, QuestionState.WITHDRAWN, run)
    await skip(call, run, Refusal(Reason.CANCELLED, f"{call.name} was cancelled by its caller"), question)


async def _end(question: Question, state: QuestionState, run: Run) -> None:
    """Move the question on. If that fails, recovery does it: the call's result is what counts."""
    try:
        await run.runtime.store.end_question(question.request.request_id, state)
    except StoreError as error:
        run.runtime.complain(f"the question {question.request.request_id} could not be ended: {error}")


def _identical(call: ToolCall, run: Run) -> Question | None:
    """The parked question of an identical call of the same agent, if there is one: it belongs to this call now."""
    parked = run.gate.parked
    if not parked:
        return None
    call = opened(call)
    try:
        arguments, tool = arguments_of(call.arguments), run.tools.canonical(call.name)
    except Refusal:
        return None
    for request_id, question in parked.items():
        request = question.request
        same = (request.tool, request.origin.grantee) == (tool, run.origin.grantee)
        same = same and question.call.get("parent_call") == run.parent_call
        if same and digest_of(question.salt, arguments) == question.digest:
            del parked[request_id]
            return question
    return None


def _parked(question: Question, run: Run) -> Pending:
    run.gate.parked[question.request.request_id] = question
    return pending_of(question)


async def _until(decided: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await decided.wait()
    except TimeoutError:
        return
