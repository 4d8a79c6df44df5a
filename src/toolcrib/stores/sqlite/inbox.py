"""Questions, answers and grants, as work inside a transaction; what was decided is decided once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from toolcrib.policy.grants import Grant
from toolcrib.ports import Question, QuestionState, Unit
from toolcrib.stores import statements as sql
from toolcrib.stores.chain import Sealed, decode, encode, seal
from toolcrib.stores.inbox import answered_draft, too_late
from toolcrib.stores.sqlite.ledger import Ledger, Work
from toolcrib.values.identity import Principal
from toolcrib.values.json import JsonObject
from toolcrib.values.permission import Answer, PermissionDecision, request_json, request_of

_ENDINGS = {
    QuestionState.EXPIRED: sql.EXPIRE_QUESTION,
    QuestionState.WITHDRAWN: sql.WITHDRAW_QUESTION,
    QuestionState.ANSWERED: sql.SETTLE_QUESTION,
}


def asking(question: Question, unit: Unit, now: float) -> Work:
    """Keep a question and its event."""
    request = question.request

    def work(ledger: Ledger) -> Sequence[Sealed]:
        if unit.owner is not None:
            ledger.require_owner(unit.owner)
        parts = (
            request.request_id, request.session_id, request.call_id, question.epoch, question.digest, question.salt,
            encode(request_json(request)), encode(question.call), question.created_at, request.expires_at,
        )  # fmt: skip
        ledger.connection.execute(sql.ADD_QUESTION, parts)
        return seal(unit.drafts, now)

    return work


def answering(request_id: str, decision: PermissionDecision, principal: Principal, now: float) -> Work:
    """Answer a question that is still pending, and record who did."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        parts = (str(decision.answer), decision.reason, str(principal), now, request_id, now)
        if execute(sql.ANSWER_QUESTION, parts).rowcount == 0:
            row = execute(sql.ONE_QUESTION, (request_id,)).fetchone()
            raise too_late(question_of(*row) if row else None, request_id)
        question = question_of(*execute(sql.ONE_QUESTION, (request_id,)).fetchone())
        return seal([answered_draft(question, decision, principal)], now)

    return work


def ending(request_id: str, state: QuestionState) -> Work:
    """Move a question on to its end; one that is there already stays as it is."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        ledger.connection.execute(_ENDINGS[state], (request_id,))
        return ()

    return work


def forgetting(session_id: str | None, before: float | None) -> Work:
    """Drop what questions said, together with the payloads of the same sessions."""
    end = math.inf if before is None else before

    def work(ledger: Ledger) -> Sequence[Sealed]:
        if session_id is None:
            ledger.connection.execute(sql.FORGET_QUESTIONS, (end,))
        else:
            ledger.connection.execute(sql.FORGET_SESSION_QUESTIONS, (session_id, end))
        return ()

    return work


def granting(grants: Sequence[Grant], unit: Unit, now: float) -> Work:
    """Keep grants under the epoch of the owner, and their event."""
    owner = unit.owner

    def work(ledger: Ledger) -> Sequence[Sealed]:
        if owner is not None:
            ledger.require_owner(owner)
            for grant in grants:
                parts = (grant.agent_id, grant.tool, grant.fingerprint, grant.kind, grant.scope)
                ledger.connection.execute(sql.ADD_GRANT, (owner.session_id, owner.epoch, *parts, now))
        return seal(unit.drafts, now)

    return work


def question_of(
    request_id: str,
    body: bytes,
    call: bytes,
    digest: str,
    salt: str,
    epoch: int,
    created_at: float,
    state: str,
    settled: int,
    answer: str | None,
    reason: str | None,
    principal: str | None,
    answered_at: float | None,
) -> Question:
    """A question from its row."""
    return Question(
        request=request_of(cast("JsonObject", decode(body))),
        digest=digest,
        salt=salt,
        epoch=epoch,
        call=cast("JsonObject", decode(call)),
        created_at=created_at,
        state=QuestionState(state),
        settled=bool(settled),
        answer=None if answer is None else Answer(answer),
        reason=reason,
        principal=principal,
        answered_at=answered_at,
    )
