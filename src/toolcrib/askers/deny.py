"""The asker that says no: for programs in which nobody is there to be asked, and that say so."""

from __future__ import annotations

from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest


async def deny(request: PermissionRequest) -> PermissionDecision:
    """No, to everything."""
    return PermissionDecision(Answer.DENY, f"nobody is asked here{way_out(request)}")


def way_out(request: PermissionRequest) -> str:
    """What would let such a call run without a question, if anything would."""
    if any(target.marks for target in request.targets):
        return ", and a call like this is asked about every time"
    if request.dangerous:
        return "; a dangerous tool runs without a question only by an operator's rule that names it and its target"
    return "; an operator's rule could allow it"
