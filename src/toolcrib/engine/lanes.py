"""Lanes: within one session tree and workspace, reads share, a write is alone, and waiting calls keep their order."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from toolcrib.values.spec import Lane

_AGENT, _READ, _WRITE = Lane.AGENT, Lane.READ, Lane.WRITE  # every call asks, and reading an enum's member is slow


@dataclass(slots=True)
class WorkLane:
    """The lane of one session tree in one workspace: first come, first served; agent calls only contain others."""

    readers: int = 0
    writing: bool = False
    waiting: deque[tuple[Lane, asyncio.Future[None]]] = field(default_factory=deque[tuple[Lane, asyncio.Future[None]]])

    def try_enter(self, lane: Lane) -> bool:
        """Take a place if there is one right now."""
        if lane is _AGENT:
            return True
        if self.waiting or self.writing:
            return False
        if lane is _READ:
            self.readers += 1
            return True
        if self.readers:
            return False
        self.writing = True
        return True

    async def enter(self, lane: Lane) -> None:
        """Wait for a place; cancelling the wait gives the place up."""
        if self.try_enter(lane):
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((lane, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave(lane)
            else:
                self.waiting.remove((lane, place))
                self._admit()
            raise

    def leave(self, lane: Lane) -> None:
        """Give the place back and let in whoever may go now."""
        if lane is _READ:
            self.readers -= 1
        elif lane is _WRITE:
            self.writing = False
        if self.waiting:
            self._admit()

    def leave_later(self, lane: Lane, lingering: asyncio.Future[None]) -> None:
        """Keep the lane closed until an abandoned handler's thread has returned."""
        if lingering.done():
            self.leave(lane)
        else:
            lingering.add_done_callback(lambda _: self.leave(lane))

    def _free(self, lane: Lane) -> bool:
        return not self.writing and (lane is _READ or self.readers == 0)

    def _take(self, lane: Lane) -> None:
        if lane is _WRITE:
            self.writing = True
        else:
            self.readers += 1

    def _admit(self) -> None:
        while self.waiting and self._free(self.waiting[0][0]):
            lane, place = self.waiting.popleft()
            if not place.done():
                self._take(lane)
                place.set_result(None)


@dataclass(slots=True)
class Lanes:
    """All work lanes of a runtime, by (root session, workspace)."""

    lanes: dict[tuple[str, str | None], WorkLane] = field(default_factory=dict[tuple[str, str | None], WorkLane])

    def of(self, root_session: str, workspace: str | None) -> WorkLane:
        return self.lanes.setdefault((root_session, workspace), WorkLane())

    def forget(self, root_session: str) -> None:
        """Drop the lanes of a session that ended."""
        for key in [key for key in self.lanes if key[0] == root_session]:
            del self.lanes[key]
