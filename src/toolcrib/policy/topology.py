"""Which agents may start which: edges between definitions, and scopes that only approved edges pass. Pure."""

from __future__ import annotations

from collections.abc import Collection

from toolcrib.values.contract import Edge, EdgeState, Enforcement, SeenEdge
from toolcrib.values.identity import Role

SUBAGENT, WORKER = "subagent", "worker"
SCOPES = (SUBAGENT, WORKER)
"""Children that an agent waits for, and workers that it sends off."""


def edge_of(source: str, target: str, role: Role) -> Edge:
    """The edge that a child of this role uses."""
    return Edge(WORKER if role is Role.WORKER else SUBAGENT, source, target, role.value)


def refused(seen: SeenEdge, locked: Collection[str], mode: Enforcement) -> str | None:
    """Why an edge may not be used; None when it may."""
    edge = seen.edge
    if mode is not Enforcement.ENFORCE or edge.scope not in locked or seen.state is EdgeState.APPROVED:
        return None
    return (
        f"{edge.source} may not start {edge.target!r} as {edge.relation}: the scope {edge.scope} is locked, and nobody "
        f"approved this edge; an operator can: toolcrib guard approve-edge {seen.edge_id}"
    )
