"""An asker that answers from a script, and remembers what it was asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from toolcrib.values.permission import PermissionDecision, PermissionRequest

Scripted = str | PermissionDecision | BaseException


class ScriptedAsker:
    """Gives the answers in order; an exception in the script is raised, and a question too many is an error."""

    def __init__(self, answers: Iterable[Scripted] = ()) -> None:
        self.answers = deque(answers)
        self.requests: list[PermissionRequest] = []

    @classmethod
    def always(cls, answer: str) -> ScriptedAsker:
        """An asker that gives the same answer to every question."""
        asker = cls()
        asker.answers = _Endless(answer)
        return asker

    async def __call__(self, request: PermissionRequest) -> PermissionDecision:
        self.requests.append(request)
        if not self.answers:
            raise AssertionError(f"nobody scripted an answer for {request.tool}")
        answer = self.answers.popleft()
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, PermissionDecision) else PermissionDecision(answer)


class _Endless(deque[Scripted]):
    def __init__(self, answer: str) -> None:
        super().__init__([answer])

    def popleft(self) -> Scripted:
        return self[0]
