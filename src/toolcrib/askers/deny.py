"""The asker for places where nobody can be asked."""

from __future__ import annotations

from toolcrib.values.permission import PermissionDecision, PermissionRequest


async def deny(request: PermissionRequest) -> PermissionDecision:
    """Say no, and say why."""
    return PermissionDecision("deny", "nobody can be asked here")
