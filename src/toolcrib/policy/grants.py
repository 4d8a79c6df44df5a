"""Session grants: an answer that covers later calls of the same tool, the same contract and the same scope."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from toolcrib.policy.shipped import READ_SENSITIVE, carries_out
from toolcrib.values.call import Invocation
from toolcrib.values.json import canonical
from toolcrib.values.noun import frozen
from toolcrib.values.target import Target, TargetKind

ARGUMENTS = "arguments"
AFTER_SECRETS = "after a sensitive read"
NEVER_GRANTED = frozenset({"protected", "sensitive"})
"""Marks of things that are asked about every time, whatever was granted around them."""


@frozen
class Grant:
    """Bound to the asking agent, the canonical name, the fingerprint and one typed scope."""

    agent_id: str
    tool: str
    fingerprint: str
    kind: str
    scope: str

    def covers(self, wanted: Grant, target: Target | None) -> bool:
        """Whether a call that would need `wanted` for this target may run under this grant."""
        if (self.agent_id, self.tool, self.fingerprint, self.kind) != (
            wanted.agent_id, wanted.tool, wanted.fingerprint, wanted.kind,
        ):  # fmt: skip
            return False
        if self.scope == wanted.scope:
            return True
        return target is not None and target.kind is TargetKind.PATH and _is_within(target.value, self.scope)


def covering(
    held: Collection[Grant], grantee: str, invocation: Invocation, marks: Collection[str] = ()
) -> Grant | None:
    """A grant under which this call may run, when every target of it is covered."""
    if not held:
        return None
    wanted = wanted_grants(grantee, invocation, marks)
    # What a dangerous tool was granted is one thing, not what lies below it.
    targets = (None,) * len(wanted) if invocation.tool.spec.dangerous else invocation.targets or (None,)
    found: Grant | None = None
    for each, target in zip(wanted, targets, strict=False):
        found = next((grant for grant in held if grant.covers(each, target)), None)
        if found is None:
            return None
    return found


def wanted_grants(grantee: str, invocation: Invocation, marks: Collection[str] = ()) -> tuple[Grant, ...]:
    """The grants that would cover this call, one for each target; none when any of them must not be granted.

    Who answered before the run had read a secret did not say that it may be carried out: that takes a new answer.
    """
    tool = invocation.tool
    aware = READ_SENSITIVE in marks and carries_out(tool.spec, invocation.effect, invocation.targets)
    kinds = [(f"{kind} {AFTER_SECRETS}" if aware else kind, scope) for kind, scope in _scopes(invocation)]
    return tuple(Grant(grantee, tool.name, tool.fingerprint, kind, scope) for kind, scope in kinds)


def scope_text(invocation: Invocation) -> str | None:
    """What `allow_for_session` would cover, in words; None when it would cover this call only."""
    scopes = _scopes(invocation)
    if not scopes:
        return None
    if scopes[0][0] == ARGUMENTS:
        return "these exact arguments"
    return ", ".join(sorted({f"{kind} {scope}" for kind, scope in scopes}))


def _scopes(invocation: Invocation) -> tuple[tuple[str, str], ...]:
    """Kind and scope of each target; nothing where a person has to look each time."""
    if invocation.call.repaired:
        return ()
    if not invocation.targets:
        same = hashlib.sha256(canonical(invocation.arguments).encode()).hexdigest()
        return ((ARGUMENTS, same),)
    if not all(_is_grantable(target) for target in invocation.targets):
        return ()
    dangerous = invocation.tool.spec.dangerous
    return tuple((target.kind.value, _narrow(target) if dangerous else target.scope) for target in invocation.targets)


def _is_grantable(target: Target) -> bool:
    """Whether an answer about this thing may stand for the session: no secret, nothing that steers or runs others."""
    if not target.scope or target.marks & NEVER_GRANTED:
        return False
    if target.kind is TargetKind.PATH:
        return _is_within(target.value, target.scope)
    if target.kind is not TargetKind.COMMAND:
        return True
    from toolcrib.policy.commands.command import (
        is_grantable,  # only who declares commands pays for what is known of them
    )

    return is_grantable(target)


def _narrow(target: Target) -> str:
    """What a dangerous tool can be granted: this very thing. A command's scope names program and folder already."""
    return target.scope if target.kind is TargetKind.COMMAND else target.value


def _is_within(path: str, scope: str) -> bool:
    """Whether a resolved path is the granted one or lies below it; one that is not resolved is neither."""
    if not scope.startswith("/") or ".." in path.split("/"):
        return False
    return path == scope or path.startswith(scope.rstrip("/") + "/")
