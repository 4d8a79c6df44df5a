"""The store as commands that only look at records see it: opened where there is one, never made by looking."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from toolcrib.assemble.crib import SystemClock, open_store
from toolcrib.cli.command import Choices
from toolcrib.cli.ending import NotSo
from toolcrib.config import Config
from toolcrib.ports import Journal, SessionRow, Store
from toolcrib.values.event import Event
from toolcrib.values.json import Json

PAGE = 500


@asynccontextmanager
async def records(choices: Choices) -> AsyncGenerator[Store, None]:
    """The store of this home; NotSo where nothing was ever recorded."""
    config = choices.load()
    if not has_records(config):
        raise NotSo(nothing_recorded(config))
    store = open_store(config, SystemClock())
    try:
        yield store
    finally:
        await store.close()


def has_records(config: Config) -> bool:
    # A missing file with a log beside it is not an empty home: opening it says what happened.
    database = config.home.database
    return database.exists() or database.with_name(f"{database.name}-wal").exists()


def nothing_recorded(config: Config) -> str:
    return f"nothing is recorded in {config.home.root} yet; make a call, or choose another folder with --home"


async def find_session(store: Store, session_id: str) -> SessionRow:
    """The session of this id; NotSo when there is none."""
    row = await store.session(session_id)
    if row is None:
        raise NotSo(f"there is no session {session_id!r}; `toolcrib sessions list` names them")
    return row


async def require_events(store: Store, session_id: str) -> None:
    """NotSo when nothing is recorded under this id. What servers say and the guard does is no session of an agent's,
    and has events all the same."""
    if not await store.events(session_id=session_id, after=0, limit=1):
        await find_session(store, session_id)


async def newest(journal: Journal, session_id: str | None, count: int) -> Sequence[Event]:
    """The last events of the journal or of one session, oldest first."""
    if session_id is None:
        # The journal has no gaps, so its end can be counted back from.
        return await journal.events(session_id=None, after=max(await journal.changed() - count, 0), limit=count)
    last: deque[Event] = deque(maxlen=count)
    async for event in all_events(journal, session_id):
        last.append(event)
    return tuple(last)


async def all_events(journal: Journal, session_id: str | None, after: int = 0) -> AsyncGenerator[Event, None]:
    """Events from a place on, page by page, to the end of this moment."""
    while page := await journal.events(session_id=session_id, after=after, limit=PAGE):
        for event in page:
            yield event
        after = page[-1].seq


def event_json(event: Event) -> dict[str, Json]:
    """An event as `--json` prints it: every field of the record."""
    return {
        "seq": event.seq,
        "created_at": event.created_at,
        "level": event.level,
        "type": event.type,
        "session_id": event.session_id,
        "run_id": event.run_id,
        "run_seq": event.run_seq,
        "agent_id": event.agent_id,
        "call_id": event.call_id,
        "node_id": event.node_id,
        "payload": event.payload,
        "event_id": event.event_id,
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }
