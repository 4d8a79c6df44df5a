"""A crib on a real SQLite file, and what the journal says happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from toolcrib import Event, Toolcrib

Open = Callable[..., AbstractAsyncContextManager[Toolcrib]]


@pytest.fixture
def open_crib(tmp_path: Path) -> Open:
    """Open a crib in this test's own home; a second time opens the same store again."""

    def open_(**options: object) -> AbstractAsyncContextManager[Toolcrib]:
        return Toolcrib.open(home=tmp_path / "home", **options)

    return open_


@pytest.fixture
def journal() -> Callable[[Toolcrib], Awaitable[list[Event]]]:
    """All stored events, in commit order."""

    async def read(crib: Toolcrib) -> list[Event]:
        stream: AsyncIterator[Event] = crib.events(follow_on=False)
        return [event async for event in stream]

    return read


def terminal_counts(events: list[Event]) -> Counter[str]:
    """How many terminal events each call has."""
    ends = {"tool_completed", "tool_failed", "tool_denied", "tool_skipped"}
    return Counter(event.call_id for event in events if event.type in ends and event.call_id)
