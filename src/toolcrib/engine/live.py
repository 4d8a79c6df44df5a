"""The live bus: events that are shown but never stored, to whoever watches right now."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from toolcrib.values.event import Draft

BUFFER = 1_000


@dataclass(slots=True, eq=False)
class Watcher:
    """One reader of live events. A slow one loses the oldest, and is told how many."""

    wake: Callable[[], None]
    session_id: str | None
    waiting: deque[Draft] = field(default_factory=lambda: deque[Draft](maxlen=BUFFER))
    lost: int = 0

    def push(self, draft: Draft) -> None:
        if len(self.waiting) == BUFFER:
            self.lost += 1
        self.waiting.append(draft)
        self.wake()


@dataclass(slots=True)
class Live:
    """Publishing never waits: without a watcher it costs nothing, and a slow watcher holds nobody up."""

    watchers: set[Watcher] = field(default_factory=set[Watcher])

    def publish(self, draft: Draft) -> None:
        for watcher in self.watchers:
            if watcher.session_id is None or watcher.session_id == draft.session_id:
                watcher.push(draft)
