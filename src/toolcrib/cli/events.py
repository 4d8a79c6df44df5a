"""`toolcrib events`: what happened, in the order it was committed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import datetime
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.output import cut, json_text, print_json_line
from toolcrib.values.visible import visible

if TYPE_CHECKING:
    from toolcrib.ports import Store
    from toolcrib.values.event import Event

NEWEST = 50
SUMMARY = 100


@click.command(
    cls=Command,
    epilog=examples("toolcrib events --follow", "toolcrib events --session SESSION --after 120 --json"),
    json="JSON Lines, one event per line: `{seq, created_at, level, type, session_id, run_id, run_seq, agent_id, "
    "call_id, node_id, payload, event_id, prev_hash, hash}`; `payload` is null once it was erased.",
)
@click.option("--follow", "-f", is_flag=True, help="Go on with what happens next, until Ctrl-C.")
@click.option("--session", metavar="ID", help="Only the events of this session.")
@click.option("--after", type=click.IntRange(0), metavar="SEQ", help="Begin after this sequence number.")
@click.option("--limit", "-n", type=click.IntRange(1), metavar="N", help="At most N events.")
@click.pass_obj
def events(choices: Choices, follow: bool, session: str | None, after: int | None, limit: int | None) -> None:
    """Print recorded events, oldest first.

    Without --after these are the newest 50 (or N); with it, all that come after SEQ (or the next N).
    """
    asyncio.run(_print_events(choices, _Wanted(follow, session, after, limit)))


class _Wanted:
    """Which events to print."""

    def __init__(self, follow: bool, session_id: str | None, after: int | None, limit: int | None) -> None:
        self.follow = follow
        self.session_id = session_id
        self.after = after
        self.limit = limit


async def _print_events(choices: Choices, wanted: _Wanted) -> None:
    from toolcrib.cli.records import event_json, records, require_events

    async with records(choices) as store:
        if wanted.session_id is not None and not wanted.follow:
            await require_events(store, wanted.session_id)
        async with aclosing(_wanted_events(store, wanted)) as chosen:
            async for event in chosen:
                if choices.form is Form.JSON:
                    print_json_line(event_json(event))
                else:
                    click.echo(_line(event))


async def _wanted_events(store: Store, wanted: _Wanted) -> AsyncGenerator[Event, None]:
    from toolcrib.cli.records import newest
    from toolcrib.engine.follow import follow
    from toolcrib.engine.live import Live

    after, left = wanted.after, wanted.limit
    if after is None:
        after = 0
        for event in await newest(store, wanted.session_id, wanted.limit or NEWEST):
            yield event
            after = event.seq
        if not wanted.follow:
            return
        left = None
    async with aclosing(follow(store, Live(), wanted.session_id, after, until_idle=not wanted.follow)) as coming:
        async for event in coming:
            yield event
            left = None if left is None else left - 1
            if left == 0:
                return


def _line(event: Event) -> str:
    """An event on one line; on a terminal it is cut where the line ends."""
    moment = datetime.fromtimestamp(event.created_at).astimezone().strftime("%m-%d %H:%M:%S")
    mark = {"warning": "!", "error": "!", "notice": "*"}.get(event.level, " ")
    line = visible(f"{event.seq:>7} {moment} {mark} {event.type:<19} {event.session_id}  {summary(event)}").rstrip()
    return cut(line, get_terminal_size().columns) if sys.stdout.isatty() else line


def summary(event: Event) -> str:
    """What an event says, in the words of one line."""
    payload = event.payload
    if payload is None:
        return "(erased)"
    name = payload.get("name") or payload.get("tool")
    parts = [str(name)] if isinstance(name, str) else []
    error = payload.get("error")
    if isinstance(error, Mapping):
        parts.append(f"{payload.get('reason')}: {error.get('message')}")
    elif isinstance(arguments := payload.get("arguments"), Mapping):
        parts.append(json_text(arguments, indent=None))
    elif not parts:
        parts = [f"{key}={_short(value)}" for key, value in payload.items() if value is not None]
    elif isinstance(because := payload.get("because"), str):
        parts.append(because)
    return cut(" ".join(parts), SUMMARY)


def _short(value: object) -> str:
    return value if isinstance(value, str) else json_text(value, indent=None)  # pyright: ignore[reportArgumentType]
