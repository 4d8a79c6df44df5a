"""Questions and grants in memory: the part of the store in memory that approvals need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from toolcrib.policy.grants import Grant
from toolcrib.ports import Clock, Question, QuestionState, SessionRow, Unit
from toolcrib.stores.inbox import answered_draft, too_late
from toolcrib.values.identity import Ownership, Principal
from toolcrib.values.permission import Answer, PermissionDecision
from toolcrib.values.receipt import Receipt


class MemoryInbox:
    """Keeps questions and grants in dictionaries beside the chain of events."""

    _clock: Clock
    _sessions: dict[str, SessionRow]

    def __init__(self, keep: Callable[[Unit], Receipt]) -> None:
        self._keep = keep
        self._questions: dict[str, Question] = {}
        self._grants: dict[tuple[str, int], dict[Grant, None]] = {}

    async def ask(self, question: Question, unit: Unit) -> None:
        await self._keep(unit)
        self._questions[question.request.request_id] = question

    async def answer(self, request_id: str, decision: PermissionDecision, principal: Principal) -> Question:
        question = self._questions.get(request_id)
        now = self._clock.now()
        if question is None or question.state is not QuestionState.PENDING or question.request.expires_at <= now:
            raise too_late(question, request_id)
        answered = replace(
            question,
            state=QuestionState.ANSWERED,
            answer=Answer(decision.answer),
            reason=decision.reason,
            principal=str(principal),
            answered_at=now,
        )
        await self._keep(Unit((answered_draft(question, decision, principal),)))
        self._questions[request_id] = answered
        return answered

    async def end_question(self, request_id: str, state: QuestionState) -> Question | None:
        question = self._questions.get(request_id)
        if question is None:
            return None
        if state is QuestionState.ANSWERED and question.state is not QuestionState.PENDING:
            question = replace(question, settled=True)
        elif state is not QuestionState.ANSWERED and question.state is QuestionState.PENDING:
            question = replace(question, state=state, settled=state is QuestionState.WITHDRAWN)
        self._questions[request_id] = question
        return question

    async def question(self, request_id: str) -> Question | None:
        return self._questions.get(request_id)

    async def questions(self, *, session_id: str | None, state: QuestionState | None, limit: int) -> Sequence[Question]:
        found = sorted(self._questions.values(), key=lambda each: (each.created_at, each.request.request_id))
        if session_id is not None:
            found = [each for each in found if each.request.session_id == session_id and not each.settled]
        elif state is not None:
            found = [each for each in found if each.state is state]
        return found[:limit]

    async def add_grants(self, grants: Sequence[Grant], unit: Unit) -> None:
        await self._keep(unit)
        if unit.owner is not None:
            held = self._grants.setdefault((unit.owner.session_id, unit.owner.epoch), {})
            held.update(dict.fromkeys(grants))

    async def grants(self, ownership: Ownership) -> Sequence[Grant]:
        row = self._sessions.get(ownership.session_id)
        if row is None or (row.owner, row.epoch) != (ownership.owner, ownership.epoch):
            return ()
        return tuple(self._grants.get((ownership.session_id, ownership.epoch), ()))

    def _drop_grants(self, session_id: str) -> None:
        for key in [key for key in self._grants if key[0] == session_id]:
            del self._grants[key]

    def _forget_questions(self, session_id: str | None, before: float | None) -> None:
        end = math.inf if before is None else before
        self._questions = {
            key: each
            for key, each in self._questions.items()
            if not (session_id in (None, each.request.session_id) and each.created_at < end)
        }
