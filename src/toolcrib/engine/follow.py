"""Events as a stream: what is stored, from any cursor on, and what is only shown, as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from toolcrib.engine.live import Live, Watcher
from toolcrib.ports import Journal
from toolcrib.values.event import Draft, Event
from toolcrib.values.json import Json

PAGE = 500
POLL_SECONDS = 0.25


async def follow(
    journal: Journal, live: Live, session_id: str | None, after: int, *, until_idle: bool
) -> AsyncGenerator[Event, None]:
    """Yield events in commit order. A slow reader never delays a writer: it reads on from its own cursor."""
    woken = asyncio.Event()
    watcher = Watcher(woken.set, session_id)
    live.watchers.add(watcher)
    stop = journal.subscribe(lambda _: woken.set())
    try:
        while True:
            woken.clear()
            while page := await journal.events(session_id=session_id, after=after, limit=PAGE):
                for event in page:
                    yield event
                after = page[-1].seq
            for event in _shown(watcher):
                yield event
            if until_idle:
                return
            await _wait(woken)
    finally:
        stop()
        live.watchers.discard(watcher)


def _shown(watcher: Watcher) -> list[Event]:
    """Live-only events since the last look; a gap is said, not hidden."""
    events: list[Event] = []
    if watcher.lost:
        gap = Draft("gap", watcher.session_id or "", payload={"lost": watcher.lost})
        watcher.lost = 0
        events.append(_unstored(gap))
    while watcher.waiting:
        events.append(_unstored(watcher.waiting.popleft()))
    return events


def _unstored(draft: Draft) -> Event:
    payload: dict[str, Json] = dict(draft.payload)
    return Event(
        event_id="", seq=0, run_seq=0, session_id=draft.session_id, agent_id=draft.agent_id, run_id=draft.run_id,
        level=draft.level.value, type=draft.type, node_id=None, call_id=draft.call_id, payload=payload, created_at=0.0,
        prev_hash="", hash="",
    )  # fmt: skip


async def _wait(woken: asyncio.Event) -> None:
    """Until something happens here; other processes' commits are found by looking again."""
    try:
        async with asyncio.timeout(POLL_SECONDS):
            await woken.wait()
    except TimeoutError:
        return
