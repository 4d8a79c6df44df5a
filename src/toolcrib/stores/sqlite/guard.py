"""Approvals of contracts, edges between agents and locks, as work inside a transaction, each with its event."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from toolcrib.stores import statements as sql
from toolcrib.stores.chain import Sealed, decode, encode, seal
from toolcrib.stores.guard import approval_drafts, edge_draft, edge_id_of, lock_draft
from toolcrib.stores.sqlite.ledger import Ledger, Work
from toolcrib.values.contract import Approval, Basis, Edge, EdgeState, SeenEdge
from toolcrib.values.event import EventType
from toolcrib.values.identity import Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import StoreError


def approving(approvals: Sequence[Approval], bodies: Mapping[str, JsonObject], now: float) -> Work:
    """Add approvals; a pin only where nothing is on file for the tool, whoever comes first."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        added: list[Approval] = []
        for each in approvals:
            known = execute(sql.NEWEST_APPROVAL, (each.surface.value, each.tool)).fetchone()
            if each.basis is Basis.PINNED and known is not None:
                continue
            if (body := bodies.get(each.fingerprint)) is not None:
                execute(sql.ADD_CONTRACT, (each.fingerprint, encode(body)))
            parts = (each.surface.value, each.tool, each.fingerprint, each.basis.value, each.principal, each.reason)
            execute(sql.ADD_APPROVAL, (*parts, now))
            added.append(each)
        return seal(tuple(approval_drafts(added)), now)

    return work


def seeing(edge: Edge, now: float, tell: Callable[[SeenEdge], None]) -> Work:
    """Count an edge once more; its first time is an event."""
    edge_id = edge_id_of(edge)

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        parts = (edge_id, edge.scope, edge.source, edge.target, edge.relation, now, now)
        execute(sql.SEE_EDGE, parts)
        seen = edge_of(*execute(sql.ONE_EDGE, (edge_id,)).fetchone())
        tell(seen)
        return seal([edge_draft(EventType.EDGE_OBSERVED, seen)], now) if seen.count == 1 else ()

    return work


def approving_edge(edge_id: str, principal: str, now: float, tell: Callable[[SeenEdge], None]) -> Work:
    """Approve an edge that was seen."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        if execute(sql.APPROVE_EDGE, (principal, now, edge_id)).rowcount == 0:
            raise StoreError(f"there is no edge {edge_id!r}; `toolcrib guard topology` names them")
        seen = edge_of(*execute(sql.ONE_EDGE, (edge_id,)).fetchone())
        tell(seen)
        return seal([edge_draft(EventType.EDGE_APPROVED, seen, principal)], now)

    return work


def locking(scope: str, principal: str, now: float) -> Work:
    def work(ledger: Ledger) -> Sequence[Sealed]:
        ledger.connection.execute(sql.LOCK_SCOPE, (scope, principal, now))
        return seal([lock_draft(EventType.SCOPE_LOCKED, scope, principal)], now)

    return work


def unlocking(scope: str, principal: str, now: float) -> Work:
    def work(ledger: Ledger) -> Sequence[Sealed]:
        if ledger.connection.execute(sql.UNLOCK_SCOPE, (scope,)).rowcount == 0:
            return ()
        return seal([lock_draft(EventType.SCOPE_UNLOCKED, scope, principal)], now)

    return work


def approval_of(
    surface: str, tool: str, fingerprint: str, basis: str, principal: str, reason: str, at: float
) -> Approval:
    """An approval from its row; one whose words are not ours is an error of the store."""
    try:
        return Approval(Surface(surface), tool, fingerprint, Basis(basis), principal, reason, at)
    except ValueError as error:
        raise StoreError(f"the approval of {tool} cannot be read: {error}") from error


def edge_of(
    edge_id: str,
    scope: str,
    source: str,
    target: str,
    relation: str,
    state: str,
    seen: int,
    first_seen: float,
    last_seen: float,
    approved_by: str | None,
    approved_at: float | None,
) -> SeenEdge:
    """An edge from its row."""
    edge = Edge(scope, source, target, relation)
    return SeenEdge(edge_id, edge, EdgeState(state), seen, first_seen, last_seen, approved_by, approved_at)


def body_of(body: bytes) -> JsonObject:
    """The text of a contract from its row."""
    try:
        return cast("JsonObject", decode(body))
    except ValueError as error:
        raise StoreError(f"the text of a contract cannot be read: {error}") from error
