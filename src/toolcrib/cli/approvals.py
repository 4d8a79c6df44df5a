"""`toolcrib approvals`: questions that wait for a person, and their answers."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import Denied, Exit, NotSo, hint
from toolcrib.cli.output import print_json, print_table, when

if TYPE_CHECKING:
    from toolcrib.ports import Question, Store
    from toolcrib.values.identity import Principal
    from toolcrib.values.json import Json
    from toolcrib.values.permission import Answer

MOST = 10_000
SHAPE = "{request_id, session_id, …, state, answer, reason, principal, answered_at, settled, created_at}"
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@click.group(cls=Group)
def approvals() -> None:
    """Answer the questions that wait in the inbox.

    An answer is given by a person at a terminal, or in the name of an operator (--operator).
    The call itself runs where it was made: in the process that owns its session, or once that is resumed.
    """


@approvals.command(
    "list",
    epilog=examples("toolcrib approvals list", "toolcrib approvals list --all --json"),
    json=f"An array, oldest first: `{SHAPE}`; the fields after `session_id` are those of the request.",
)
@click.option("--session", "session_id", metavar="ID", help="Only the open questions of this session.")
@click.option("--all", "everything", is_flag=True, help="Also questions that were answered or have expired.")
@click.pass_obj
def list_questions(choices: Choices, session_id: str | None, everything: bool) -> None:
    """List the questions that wait, oldest first."""
    asyncio.run(_list(choices, session_id, everything))


async def _list(choices: Choices, session_id: str | None, everything: bool) -> None:
    from toolcrib.cli.records import has_records, records
    from toolcrib.ports import QuestionState

    found: list[Question] = []
    if has_records(choices.load()):
        async with records(choices) as store:
            state = None if everything else QuestionState.PENDING
            found = list(await store.questions(session_id=session_id, state=state, limit=MOST))
    if not everything:
        found = [each for each in found if _stands(each) == QuestionState.PENDING]
    if choices.form is Form.JSON:
        print_json([question_json(each) for each in found])
    elif found:
        print_table(("request", "state", "asked by", "call"), [_line(each) for each in found])
    else:
        hint("toolcrib: no question waits for an answer")


@approvals.command(
    epilog=examples("toolcrib approvals show ask_5f0c11d2aan1"),
    json=f"`{SHAPE}`; `details` holds the whole arguments where `arguments` had to be cut.",
)
@click.argument("request_id", metavar="REQUEST")
@click.pass_obj
def show(choices: Choices, request_id: str) -> None:
    """Show one question, whole."""
    question = asyncio.run(_find(choices, request_id))
    if choices.form is Form.JSON:
        print_json(question_json(question))
    else:
        _print_question(question)


@approvals.command(
    epilog=examples(
        "toolcrib approvals approve ask_5f0c11d2aan1",
        'toolcrib approvals approve ask_5f0c11d2aan1 --for-session --reason "reviewed"',
    ),
    json=f"`{SHAPE}`, as it stands with the answer.",
)
@click.argument("request_id", metavar="REQUEST")
@click.option("--for-session", is_flag=True, help="Also cover later calls of the same scope in this session.")
@click.option("--reason", metavar="TEXT", help="Why; kept with the answer.")
@click.option("--operator", metavar="NAME", help="Answer in this name, where there is no terminal.")
@click.pass_obj
def approve(choices: Choices, request_id: str, for_session: bool, reason: str | None, operator: str | None) -> Exit:
    """Allow a call that waits: once, or for its session.

    Exit code 1 when somebody was first or it is too late, 3 without the right to answer.
    """
    from toolcrib.values.permission import Answer

    answer = Answer.ALLOW_FOR_SESSION if for_session else Answer.ALLOW_ONCE
    return _give(choices, request_id, answer, reason, operator)


@approvals.command(
    epilog=examples('toolcrib approvals deny ask_5f0c11d2aan1 --reason "use the staging database"'),
    json=f"`{SHAPE}`, as it stands with the answer.",
)
@click.argument("request_id", metavar="REQUEST")
@click.option("--reason", metavar="TEXT", help="Why; the model gets to read it.")
@click.option("--operator", metavar="NAME", help="Answer in this name, where there is no terminal.")
@click.pass_obj
def deny(choices: Choices, request_id: str, reason: str | None, operator: str | None) -> Exit:
    """Deny a call that waits. Nothing is remembered of it: a call like it asks again.

    Exit code 1 when somebody was first or it is too late, 3 without the right to answer.
    """
    from toolcrib.values.permission import Answer

    return _give(choices, request_id, Answer.DENY, reason, operator)


def question_json(question: Question) -> dict[str, Json]:
    """A question as `--json` prints it."""
    from toolcrib.values.permission import request_json

    return {
        **request_json(question.request),
        "state": _stands(question),
        "answer": question.answer,
        "reason": question.reason,
        "principal": question.principal,
        "answered_at": question.answered_at,
        "settled": question.settled,
        "created_at": question.created_at,
    }


def _give(choices: Choices, request_id: str, given: Answer, reason: str | None, operator: str | None) -> Exit:
    principal = _principal(operator)
    question = asyncio.run(_answer(choices, request_id, given, reason, principal))
    if choices.form is Form.JSON:
        print_json(question_json(question))
        return Exit.DONE
    _print_question(question)
    return Exit.DONE


async def _answer(
    choices: Choices, request_id: str, given: Answer, reason: str | None, principal: Principal
) -> Question:
    from toolcrib.askers.inbox import MayNotApprove, answer
    from toolcrib.cli.records import records
    from toolcrib.ports import NotPending
    from toolcrib.values.permission import PermissionDecision

    async with records(choices) as store:
        await _required(store, request_id)
        try:
            return await answer(store, request_id, PermissionDecision(given, reason), principal)
        except NotPending as late:
            raise NotSo(str(late)) from late
        except MayNotApprove as refused:
            raise Denied(str(refused)) from refused


def _principal(operator: str | None) -> Principal:
    """Who answers: the operator that is named, else the person at the terminal."""
    from toolcrib.askers.terminal import user_name
    from toolcrib.values.identity import Principal, Standing

    if operator is not None:
        return Principal(operator, Standing.OPERATOR)
    if not sys.stdin.isatty():
        raise Denied("only a person may answer, and there is no terminal here; name who answers with --operator NAME")
    return Principal(user_name(), Standing.TERMINAL)


async def _find(choices: Choices, request_id: str) -> Question:
    from toolcrib.cli.records import records

    async with records(choices) as store:
        return await _required(store, request_id)


async def _required(store: Store, request_id: str) -> Question:
    question = await store.question(request_id)
    if question is None:
        raise NotSo(f"there is no question {request_id!r}; `toolcrib approvals list --all` names them")
    return question


def _print_question(question: Question) -> None:
    from toolcrib.askers.question import question_text
    from toolcrib.values.visible import visible

    request = question.request
    click.echo(question_text(request))
    scope = "this call only, it is asked about every time" if request.grant_scope is None else request.grant_scope
    click.echo(f"  session     an answer for the session covers {visible(scope)}")
    click.echo(f"  state       {visible(_told(question))}")


def _told(question: Question) -> str:
    """How a question stands, in words."""
    from toolcrib.ports import QuestionState

    state = _stands(question)
    if state == QuestionState.PENDING:
        return f"waits for an answer, another {_left(question.request.expires_at - time.time())}"
    if state == QuestionState.ANSWERED:
        because = f": {question.reason}" if question.reason else ""
        settled = "" if question.settled else "; its call runs where it was made"
        return f"{question.answer} by {question.principal}, {when(question.answered_at)}{because}{settled}"
    return "withdrawn: its call is over" if state == QuestionState.WITHDRAWN else "expired: its call is denied"


def _stands(question: Question) -> str:
    """The state, with what only the clock says."""
    from toolcrib.ports import QuestionState

    if question.state is QuestionState.PENDING and question.request.expires_at <= time.time():
        return QuestionState.EXPIRED.value
    return question.state.value


def _line(question: Question) -> tuple[str, str, str, str]:
    from toolcrib.askers.question import headline
    from toolcrib.ports import QuestionState

    request, state = question.request, _stands(question)
    if state == QuestionState.PENDING:
        state = f"waits, {_left(request.expires_at - time.time())} left"
    elif question.answer is not None:
        state = question.answer.value
    return request.request_id, state, request.agent_id, headline(request)


def _left(seconds: float) -> str:
    """A stretch of time in its largest unit."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{max(seconds, 0) // size:.0f} {unit}"
