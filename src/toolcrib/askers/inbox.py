"""The inbox as programs and people use it: what goes there, and who may answer."""

from __future__ import annotations

from toolcrib.ports import Asker, Inbox, Notifier, Question
from toolcrib.values.identity import Principal
from toolcrib.values.noun import frozen
from toolcrib.values.permission import PermissionDecision
from toolcrib.values.refusal import ToolcribError


class MayNotApprove(ToolcribError):
    """Whoever answered has no right to."""


@frozen
class InboxAsker:
    """Questions are kept in the store until somebody answers, from wherever: `Toolcrib.open(asker=InboxAsker())`.

    `callback` is asked as well, and its answer counts if it is the first. `notifiers` hear of every new question.
    """

    callback: Asker | None = None
    notifiers: tuple[tuple[str, Notifier], ...] = ()


async def answer(inbox: Inbox, request_id: str, decision: PermissionDecision, principal: Principal) -> Question:
    """Answer a question in the name of somebody who may; the first answer counts, and NotPending says who was first.

    Nothing runs here: the call is settled by the process that owns its session, or when that is resumed.
    """
    if not principal.may_approve:
        raise MayNotApprove(
            f"{principal} may not answer questions; it takes a person at a terminal, or a token with the scope approve"
        )
    return await inbox.answer(request_id, decision, principal)
