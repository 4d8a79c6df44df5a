"""Whether a tool may be shown and run as it is now, beside what operators approved of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum

from toolcrib.values.contract import Approval, Basis, Enforcement, Status
from toolcrib.values.noun import frozen
from toolcrib.values.spec import Effect, Lane, ToolSpec, ToolType

EXTERNAL = "external"
"""The tag of tools that write outside this machine, whatever their effect says."""


class Outcome(StrEnum):
    """What follows from how a tool stands, the least first."""

    FINE = "fine"
    TELL = "tell"
    REFUSE = "refuse"
    HIDE = "hide"


@frozen
class Book:
    """The baselines of one surface; `trouble` says why they cannot be read, and then nothing is approved."""

    baselines: Mapping[str, Approval] = field(default_factory=dict[str, Approval])
    trouble: str | None = None
    approved: bool = False
    """Whether an operator ever took a snapshot of this surface; a word for one tool says nothing of the others."""

    def changed(self, newer: Book, names: Iterable[str]) -> frozenset[str]:
        """Those of these names about which a newer book says something else."""
        if (self.approved, self.trouble) != (newer.approved, newer.trouble):
            return frozenset(names)
        old, new = self.baselines, newer.baselines
        return frozenset(name for name in names if old.get(name) != new.get(name) and (name in old or _said(new[name])))


def status_of(fingerprint: str, baseline: Approval | None, first: str | None, *, approved: bool) -> Status:
    """How a tool stands: to its baseline, or where a surface has none to what it was when it came.

    `first` is the fingerprint it had when it was registered, `approved` whether the surface has a snapshot.
    """
    if baseline is None:
        if approved:
            return Status.NEW
        return Status.UNCHECKED if first in (None, fingerprint) else Status.MISMATCH
    if baseline.basis is Basis.RETIRED:
        return Status.NEW
    if baseline.fingerprint != fingerprint:
        return Status.MISMATCH
    return Status.NEW if approved and baseline.basis is Basis.PINNED else Status.MATCHED


def outcome_of(spec: ToolSpec, status: Status, enforcement: Enforcement, baseline: Approval | None) -> Outcome:
    """What follows. The words of a foreign tool are themselves the weapon, so what nobody approved is not shown."""
    if enforcement is Enforcement.OFF or status in (Status.MATCHED, Status.UNCHECKED):
        return Outcome.FINE
    strict = enforcement is Enforcement.ENFORCE
    if is_foreign(spec):
        first_sight = status is Status.NEW and (baseline is None or baseline.basis is Basis.PINNED)
        return Outcome.TELL if first_sight and not strict else Outcome.HIDE
    return Outcome.REFUSE if strict and is_risky(spec) else Outcome.TELL


def waits(spec: ToolSpec, baseline: Approval | None) -> bool:
    """Whether a tool that an agent made has nobody's word yet; it is in no run's set until it does."""
    return spec.tool_type is ToolType.DYNAMIC and (baseline is None or not _said(baseline))


def is_foreign(spec: ToolSpec) -> bool:
    """Whether somebody else writes what this tool says of itself, and may write something else tomorrow."""
    return spec.tool_type is ToolType.MCP or spec.metadata.get("untrusted") is True


def is_risky(spec: ToolSpec) -> bool:
    """Whether a call can change or send anything."""
    return (
        spec.effect is Effect.WRITE
        or spec.network
        or spec.dangerous
        or spec.lane is not Lane.READ
        or EXTERNAL in spec.tags
    )


def _said(approval: Approval) -> bool:
    """Whether somebody gave their word; a pin alone is nobody's."""
    return approval.basis is not Basis.PINNED
