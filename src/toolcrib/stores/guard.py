"""What every store says about the guard alike: ids of edges, and what is recorded of approvals, edges and locks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby

from toolcrib.values.contract import GUARD_SESSION, Approval, Basis, Edge, SeenEdge
from toolcrib.values.event import Draft, EventType, Level
from toolcrib.values.json import canonical

_AT_ONCE = 200


def edge_id_of(edge: Edge) -> str:
    """The same edge has the same id in every store."""
    parts = canonical([edge.scope, edge.source, edge.target, edge.relation])
    return f"edge_{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def approval_drafts(approvals: Sequence[Approval]) -> Iterator[Draft]:
    """The events of approvals that were added together."""
    for (surface, basis, principal, reason), group in groupby(approvals, key=_occasion):
        kind = EventType.CONTRACT_PINNED if basis is Basis.PINNED else EventType.CONTRACT_APPROVED
        level = Level.INFO if basis is Basis.PINNED else Level.NOTICE
        tools = {each.tool: each.fingerprint for each in group}
        names = list(tools)
        for start in range(0, len(names), _AT_ONCE):
            part = {name: tools[name] for name in names[start : start + _AT_ONCE]}
            payload = {"surface": surface, "basis": basis, "principal": principal, "reason": reason, "tools": part}
            yield Draft(kind, GUARD_SESSION, level=level, payload=payload)


def edge_draft(kind: EventType, seen: SeenEdge, principal: str | None = None) -> Draft:
    """The event of an edge that was seen for the first time, or approved."""
    edge = seen.edge
    payload = {
        "edge_id": seen.edge_id,
        "scope": edge.scope,
        "source": edge.source,
        "target": edge.target,
        "relation": edge.relation,
        **({} if principal is None else {"principal": principal}),
    }
    return Draft(kind, GUARD_SESSION, level=Level.NOTICE if principal else Level.INFO, payload=payload)


def lock_draft(kind: EventType, scope: str, principal: str) -> Draft:
    return Draft(kind, GUARD_SESSION, level=Level.NOTICE, payload={"scope": scope, "principal": principal})


def _occasion(approval: Approval) -> tuple[str, Basis, str, str]:
    return approval.surface.value, approval.basis, approval.principal, approval.reason
