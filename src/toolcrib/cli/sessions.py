"""`toolcrib sessions`: who worked here, what they did, and whether the records are whole."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import Denied, Exit, hint
from toolcrib.cli.output import counted, print_fields, print_heading, print_json, print_table, when
from toolcrib.cli.whens import moment

if TYPE_CHECKING:
    from toolcrib.cli.calls import Call
    from toolcrib.ports import RunRow, SessionRow, Verification
    from toolcrib.values.json import Json

HEAD = re.compile(r"[0-9]+:[0-9a-f]{64}")
SESSION_SHAPE = "{session_id, agent_id, project, state, owner, epoch, lease_until, created_at, events}"


@click.group(cls=Group)
def sessions() -> None:
    """Look at recorded sessions, check them, erase what they said."""


@sessions.command(
    "list",
    epilog=examples("toolcrib sessions list --limit 5"),
    json=f"An array, newest first: `{SESSION_SHAPE}`; times are seconds since 1970.",
)
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, metavar="N", help="At most N sessions.")
@click.pass_obj
def list_sessions(choices: Choices, limit: int) -> None:
    """List sessions, newest first."""
    asyncio.run(_list(choices, limit))


async def _list(choices: Choices, limit: int) -> None:
    from toolcrib.cli.records import has_records, nothing_recorded, records

    rows: list[SessionRow] = []
    config = choices.load()
    if has_records(config):
        async with records(choices) as store:
            rows = list(await store.sessions(limit=limit))
    if choices.form is Form.JSON:
        print_json([_session_json(row) for row in rows])
    elif rows:
        lines = [(row.session_id, row.agent_id, state(row), str(row.events), when(row.created_at)) for row in rows]
        print_table(("session", "agent", "state", "events", "started"), lines)
    else:
        hint(f"toolcrib: {nothing_recorded(config)}")


@sessions.command(
    epilog=examples("toolcrib sessions show SESSION"),
    json="`{session, runs, calls}`: `session` as `sessions list` prints it; each run `{run_id, agent_id, role, "
    "mode, parent_run_id, state, end_reason, created_at, ended_at}`; each call `{call_id, tool, arguments, state, "
    "reason, message, asked, started_at, ended_at}`.",
)
@click.argument("session_id", metavar="ID")
@click.pass_obj
def show(choices: Choices, session_id: str) -> None:
    """Show one session: its runs, and every call with its outcome."""
    asyncio.run(_show(choices, session_id))


async def _show(choices: Choices, session_id: str) -> None:
    from toolcrib.cli.calls import call_json, calls_of
    from toolcrib.cli.records import all_events, find_session, records

    async with records(choices) as store:
        row = await find_session(store, session_id)
        runs = await store.runs(session_id)
        calls = calls_of([event async for event in all_events(store, session_id)])
    if choices.form is Form.JSON:
        print_json(
            {
                "session": _session_json(row),
                "runs": [_run_json(run) for run in runs],
                "calls": [call_json(call) for call in calls],
            }
        )
        return
    print_fields(
        [
            ("session", row.session_id),
            ("agent", row.agent_id),
            ("project", row.project),
            ("state", state(row)),
            ("owner", row.owner or ""),
            ("started", when(row.created_at)),
            ("events", str(row.events)),
        ]
    )
    if runs:
        print_heading("Runs")
        print_table(("run", "agent", "mode", "started", "ended"), [_run_line(run) for run in runs])
    if calls:
        print_heading("Calls")
        print_table(("call", "started", "tool", "outcome", "arguments"), [_call_line(call) for call in calls])


@sessions.command(
    epilog=examples("toolcrib sessions undo CALL", "toolcrib sessions undo CALL CALL --project ."),
    json="An array in the order given: `{call_id, path, outcome, message}`; `outcome` is undone, changed since, not "
    "kept, no file change or failed.",
)
@click.argument("calls", nargs=-1, required=True, metavar="CALL...")
@click.pass_obj
def undo(choices: Choices, calls: tuple[str, ...]) -> Exit:
    """Put back what files held before these calls.

    `toolcrib sessions show` names the calls. A file that was changed after the call is left as it is.
    Ends with exit code 1 when any call could not be undone.
    """
    from toolcrib.cli.undoing import undo_calls

    return asyncio.run(undo_calls(choices, calls))


@sessions.command(
    epilog=examples("toolcrib sessions verify", "toolcrib sessions verify --expect 1042:9f8c…"),
    json="`{ok, events, erased, head, faults}`: `head` is the `SEQ:HASH` to expect later, each fault `{seq, problem}`.",
)
@click.option("--expect", metavar="SEQ:HASH", help="A head that an earlier check printed; finds a cut end.")
@click.pass_obj
def verify(choices: Choices, expect: str | None) -> Exit:
    """Check that no event was changed, removed or reordered.

    Prints the head of the chain. Keep it elsewhere: with --expect a later check also finds events missing at the end.
    """
    if expect is not None and not HEAD.fullmatch(expect):
        raise click.BadParameter("must be SEQ:HASH, a number and 64 hexadecimal digits", param_hint="'--expect'")
    found = asyncio.run(_verify(choices, expect))
    if choices.form is Form.JSON:
        faults = [{"seq": fault.seq, "problem": fault.problem} for fault in found.faults]
        ok = not found.faults
        print_json({"ok": ok, "events": found.events, "erased": found.erased, "head": found.head, "faults": faults})
    else:
        _print_verification(found)
    return Exit.NOT_SO if found.faults else Exit.DONE


async def _verify(choices: Choices, expect: str | None) -> Verification:
    from toolcrib.cli.records import records

    async with records(choices) as store:
        return await store.verify(expect)


def _print_verification(found: Verification) -> None:
    if found.faults:
        print_table(("seq", "problem"), [(str(fault.seq), fault.problem) for fault in found.faults])
        click.echo(f"\n{counted(len(found.faults), 'fault')} in {counted(found.events, 'event')}.")
        return
    erased = f", {counted(found.erased, 'payload')} erased under a recorded purge" if found.erased else ""
    click.echo(f"The chain is whole: {counted(found.events, 'event')}{erased}.\nhead {found.head}")


@sessions.command(
    epilog=examples("toolcrib sessions purge --session SESSION", "toolcrib sessions purge --before 90d --yes"),
    json="`{erased}`: how many payloads were erased.",
)
@click.option("--session", "session_id", metavar="ID", help="Only this session.")
@click.option("--before", metavar="WHEN", help="Only what is older: 2026-01-31, 2026-01-31T18:00, 90d, 12h, now.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def purge(choices: Choices, session_id: str | None, before: str | None, yes: bool) -> None:
    """Erase what events and artifacts of sessions say.

    That they happened stays on record: the chain of events stays whole, and the purge itself is recorded. Nothing
    brings the erased text back.
    """
    if session_id is None and before is None:
        raise click.UsageError("say what to erase: --session ID, --before WHEN, or both", click.get_current_context())
    horizon = None if before is None else moment(before, time.time())
    question = None if yes else _question(session_id, horizon)
    erased = asyncio.run(_purge(choices, session_id, horizon, question))
    if choices.form is Form.JSON:
        print_json({"erased": erased})
    else:
        click.echo(f"Erased {counted(erased, 'payload')}.")


async def _purge(choices: Choices, session_id: str | None, before: float | None, question: str | None) -> int:
    from toolcrib.cli.records import find_session, records

    async with records(choices) as store:
        if session_id is not None:
            await find_session(store, session_id)
        if question is not None:
            _confirm(question)
        return await store.purge(session_id=session_id, before=before)


def _question(session_id: str | None, before: float | None) -> str:
    whose = "all sessions" if session_id is None else f"session {session_id}"
    older = "" if before is None else f" before {when(before)}"
    return f"Erase what the events of {whose} say{older}? This cannot be undone"


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise Denied("nothing was erased, because nobody can be asked here; add --yes")
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        agreed = False
    if not agreed:
        raise Denied("nothing was erased")


def state(row: SessionRow) -> str:
    """The state of a session in one word; `lost` is one whose owner died or no longer answers."""
    return "lost" if row.owner is not None and row.lease_until < time.time() else row.state


def _session_json(row: SessionRow) -> dict[str, Json]:
    return {
        "session_id": row.session_id,
        "agent_id": row.agent_id,
        "project": row.project,
        "state": state(row),
        "owner": row.owner,
        "epoch": row.epoch,
        "lease_until": row.lease_until,
        "created_at": row.created_at,
        "events": row.events,
    }


def _run_json(run: RunRow) -> dict[str, Json]:
    return {
        "run_id": run.run_id,
        "agent_id": run.agent_id,
        "role": run.role,
        "mode": run.mode,
        "parent_run_id": run.parent_run_id,
        "state": run.state,
        "end_reason": run.end_reason,
        "created_at": run.created_at,
        "ended_at": run.ended_at,
    }


def _run_line(run: RunRow) -> tuple[str, ...]:
    ended = f"{when(run.ended_at)} {run.end_reason or ''}".strip() if run.ended_at else "still open"
    return run.run_id, run.agent_id, run.mode, when(run.created_at), ended


def _call_line(call: Call) -> tuple[str, ...]:
    from toolcrib.cli.calls import arguments_text, outcome

    return call.call_id, when(call.started_at or call.ended_at), call.tool, outcome(call), arguments_text(call)
