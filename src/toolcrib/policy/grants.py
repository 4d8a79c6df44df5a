"""Session grants: an answer that covers later calls of the same tool, the same contract and the same scope."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from toolcrib.values.call import Invocation
from toolcrib.values.json import canonical


@dataclass(frozen=True, slots=True)
class Grant:
    """Bound to the asking agent, the canonical name, the fingerprint and one typed scope."""

    agent_id: str
    tool: str
    fingerprint: str
    kind: str
    scope: str


@dataclass(slots=True)
class Grants:
    """The grants of one live session; they end with it and deny is never remembered."""

    held: set[Grant] = field(default_factory=set[Grant])

    def covering(self, agent_id: str, invocation: Invocation) -> Grant | None:
        """The grant under which this call may run, when every target of it is covered."""
        if not self.held:
            return None
        wanted = wanted_grants(agent_id, invocation)
        return wanted[0] if wanted and all(grant in self.held for grant in wanted) else None

    def add(self, grants: tuple[Grant, ...]) -> None:
        self.held.update(grants)


def wanted_grants(agent_id: str, invocation: Invocation) -> tuple[Grant, ...]:
    """The grants that would cover this call; none when any target of it must not be granted for a session."""
    tool = invocation.tool
    if invocation.call.repaired:
        return ()
    if not invocation.targets:
        same = hashlib.sha256(canonical(invocation.arguments).encode()).hexdigest()
        return (Grant(agent_id, tool.name, tool.fingerprint, "arguments", same),)
    if not all(target.scope for target in invocation.targets):
        return ()
    return tuple(
        Grant(agent_id, tool.name, tool.fingerprint, target.kind.value, target.scope) for target in invocation.targets
    )


def scope_text(invocation: Invocation) -> str | None:
    """What `allow_for_session` would cover, in words; None when it would cover this call only."""
    if invocation.call.repaired:
        return None
    if not invocation.targets:
        return "these exact arguments"
    if not all(target.scope for target in invocation.targets):
        return None
    return ", ".join(sorted({f"{target.kind} {target.scope}" for target in invocation.targets}))
