"""Approvals of contracts, edges and locks in memory: the part of the store in memory that the guard needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from toolcrib.ports import Clock, Unit
from toolcrib.stores.chain import decode, encode
from toolcrib.stores.guard import approval_drafts, edge_draft, edge_id_of, lock_draft
from toolcrib.values.contract import Approval, Basis, Edge, EdgeState, Lock, SeenEdge
from toolcrib.values.event import EventType
from toolcrib.values.identity import Principal, Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError


class MemoryGuard:
    """Keeps the guard's book in lists beside the chain of events."""

    _clock: Clock

    def __init__(self, keep: Callable[[Unit], Receipt]) -> None:
        self._record = keep
        self._approvals: list[Approval] = []
        self._bodies: dict[str, bytes] = {}
        self._edges: dict[str, SeenEdge] = {}
        self._locks: dict[str, Lock] = {}

    async def approve(self, approvals: Sequence[Approval], bodies: Mapping[str, JsonObject]) -> None:
        known = {(each.surface, each.tool) for each in self._approvals}
        added = [each for each in approvals if each.basis is not Basis.PINNED or (each.surface, each.tool) not in known]
        await self._record(Unit(tuple(approval_drafts(added))))
        for each in added:
            self._approvals.append(replace(each, at=self._clock.now()))
            if each.fingerprint in bodies:
                self._bodies.setdefault(each.fingerprint, encode(bodies[each.fingerprint]))

    async def baselines(self, surface: Surface) -> Mapping[str, Approval]:
        newest = {each.tool: each for each in self._approvals if each.surface is surface}
        return dict(sorted(newest.items()))

    async def approvals(self, surface: Surface, tool: str) -> Sequence[Approval]:
        return [each for each in self._approvals if (each.surface, each.tool) == (surface, tool)]

    async def approval_count(self) -> int:
        return len(self._approvals)

    async def has_snapshot(self, surface: Surface) -> bool:
        return any(each.surface is surface and each.basis is Basis.SNAPSHOT for each in self._approvals)

    async def contract(self, fingerprint: str) -> JsonObject | None:
        body = self._bodies.get(fingerprint)
        found = None if body is None else decode(body)
        return found if isinstance(found, Mapping) else None

    async def see_edge(self, edge: Edge) -> SeenEdge:
        edge_id, now = edge_id_of(edge), self._clock.now()
        known = self._edges.get(edge_id)
        if known is None:
            seen = SeenEdge(edge_id, edge, EdgeState.OBSERVED, 1, now, now)
            await self._record(Unit((edge_draft(EventType.EDGE_OBSERVED, seen),)))
        else:
            seen = replace(known, count=known.count + 1, last_seen=now)
        self._edges[edge_id] = seen
        return seen

    async def edges(self, scope: str | None) -> Sequence[SeenEdge]:
        found = [each for each in self._edges.values() if scope in (None, each.edge.scope)]
        return sorted(found, key=lambda each: (each.edge.scope, each.edge.source, each.edge.target, each.edge.relation))

    async def approve_edge(self, edge_id: str, principal: Principal) -> SeenEdge:
        known = self._edges.get(edge_id)
        if known is None:
            raise StoreError(f"there is no edge {edge_id!r}; `toolcrib guard topology` names them")
        seen = replace(known, state=EdgeState.APPROVED, approved_by=str(principal), approved_at=self._clock.now())
        await self._record(Unit((edge_draft(EventType.EDGE_APPROVED, seen, str(principal)),)))
        self._edges[edge_id] = seen
        return seen

    async def locks(self) -> Sequence[Lock]:
        return [self._locks[scope] for scope in sorted(self._locks)]

    async def lock(self, scope: str, principal: Principal) -> None:
        self._locks.setdefault(scope, Lock(scope, str(principal), self._clock.now()))
        await self._record(Unit((lock_draft(EventType.SCOPE_LOCKED, scope, str(principal)),)))

    async def unlock(self, scope: str, principal: Principal) -> None:
        if self._locks.pop(scope, None) is not None:
            await self._record(Unit((lock_draft(EventType.SCOPE_UNLOCKED, scope, str(principal)),)))
