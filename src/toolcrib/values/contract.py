"""What operators approved of tools, and how a tool stands to it."""

from __future__ import annotations

from enum import StrEnum

from toolcrib.values.identity import Surface
from toolcrib.values.noun import frozen

GUARD_SESSION = "guard"
"""What the guard does belongs to no agent's session; it is recorded in one of its own."""


class Enforcement(StrEnum):
    """What a changed tool contract, or an agent that nobody approved, leads to: nothing, a record, or a refusal."""

    OFF = "off"
    OBSERVE = "observe"
    ENFORCE = "enforce"


class Status(StrEnum):
    """How a tool stands to its baseline."""

    UNCHECKED = "unchecked"
    MATCHED = "matched"
    NEW = "new"
    MISMATCH = "mismatch"
    MISSING = "missing"
    BASELINE_ERROR = "baseline_error"


class Change(StrEnum):
    """What a changed contract means, the least first: whoever reads the list compares by place."""

    COSMETIC = "cosmetic"
    WORDING = "wording"
    NARROWED = "narrowed"
    WIDENED = "widened"


class Basis(StrEnum):
    """How a fingerprint came to be on file. Only a pin was made by nobody."""

    PINNED = "pinned"
    SNAPSHOT = "snapshot"
    APPROVED = "approved"
    RETIRED = "retired"


@frozen
class Approval:
    """One entry in the book of approvals, which is never rewritten; the newest entry of a tool is its baseline."""

    surface: Surface
    tool: str
    fingerprint: str
    basis: Basis
    principal: str
    reason: str = ""
    at: float = 0.0


class EdgeState(StrEnum):
    OBSERVED = "observed"
    APPROVED = "approved"


@frozen
class Edge:
    """One agent starts another: by their definitions, never by their runs."""

    scope: str
    source: str
    target: str
    relation: str

    def __str__(self) -> str:
        return f"{self.source} -> {self.target} ({self.relation})"


@frozen
class SeenEdge:
    """An edge as the store keeps it: how often it was wanted, since when, and who approved it."""

    edge_id: str
    edge: Edge
    state: EdgeState
    count: int
    first_seen: float
    last_seen: float
    approved_by: str | None = None
    approved_at: float | None = None


@frozen
class Lock:
    """A scope in which only approved edges may be used."""

    scope: str
    principal: str
    at: float
