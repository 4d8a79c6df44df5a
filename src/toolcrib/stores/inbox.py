"""What every store says about questions alike: what is recorded of an answer, and why one comes too late."""

from __future__ import annotations

from toolcrib.ports import NotPending, Question, QuestionState
from toolcrib.values.event import Draft, EventType
from toolcrib.values.identity import Principal
from toolcrib.values.permission import PermissionDecision


def answered_draft(question: Question, decision: PermissionDecision, principal: Principal) -> Draft:
    """The event of an answer: what was said, by whom, to which question."""
    request = question.request
    payload = {
        "request_id": request.request_id,
        "answer": str(decision.answer),
        "reason": decision.reason,
        "principal": str(principal),
    }
    origin = request.origin
    return Draft(
        EventType.PERMISSION_ANSWERED, origin.session_id, origin.run_id, origin.agent_id, request.call_id,
        payload=payload,
    )  # fmt: skip


def too_late(question: Question | None, request_id: str) -> NotPending:
    """Why an answer does not count, in words for whoever gave it."""
    if question is None:
        return NotPending(f"there is no question {request_id!r}")
    if question.state is QuestionState.ANSWERED:
        return NotPending(f"{request_id} was already answered: {question.answer} by {question.principal}")
    ended = "was withdrawn, because the call is over" if question.state is QuestionState.WITHDRAWN else "has expired"
    return NotPending(f"{request_id} can no longer be answered: it {ended}")
