"""Sessions of this process: claimed once, shared by their runs, kept alive, given back at the end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from toolcrib.ports import Fenced, Store
from toolcrib.values.identity import Ownership
from toolcrib.values.refusal import StoreError


@dataclass(slots=True, eq=False)
class Held:
    """A session this process owns, and how many of its runs are open."""

    ownership: Ownership
    resumed: bool
    runs: int = 0


@dataclass(slots=True, eq=False)
class Sessions:
    """Owns sessions by lease: a process that dies loses them, and only then can another take over."""

    store: Store
    owner: str
    ttl: float
    project: str = ""
    held: dict[str, Held] = field(default_factory=dict[str, Held])
    _renewal: asyncio.Task[None] | None = None

    async def enter(self, session_id: str, agent_id: str) -> Held:
        """Take part in a session; the first to enter claims it."""
        held = self.held.get(session_id)
        if held is None:
            known = await self.store.session(session_id)
            ownership = await self.store.claim(
                session_id, agent_id=agent_id, project=self.project, owner=self.owner, ttl=self.ttl
            )
            held = self.held[session_id] = Held(ownership, resumed=known is not None)
        held.runs += 1
        if self._renewal is None:
            self._renewal = asyncio.create_task(self._renew())
        return held

    async def leave(self, session_id: str) -> bool:
        """Leave a session; says whether it was the last run here, and then gives the session back."""
        held = self.held.get(session_id)
        if held is None:
            return False
        held.runs -= 1
        if held.runs:
            return False
        del self.held[session_id]
        await self._release(held)
        return True

    async def close(self) -> None:
        """Give back whatever is still held."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait({self._renewal})
        for held in list(self.held.values()):
            await self._release(held)
        self.held.clear()

    async def _release(self, held: Held) -> None:
        try:
            await self.store.release(held.ownership, "idle")
        except Fenced:
            return  # it has another owner already

    async def _renew(self) -> None:
        """Renew all leases well before they end; a lost one shows at the next commit, which is refused."""
        while True:
            await asyncio.sleep(self.ttl / 3)
            for held in list(self.held.values()):
                try:
                    await self.store.renew(held.ownership, self.ttl)
                except StoreError:
                    continue
