"""Whether a tool is still the one that a run was given."""

from __future__ import annotations

from toolcrib.catalog.registry import Snapshot
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Tool


def require_unchanged(tool: Tool, live: Snapshot) -> None:
    """Refuse a tool that was removed or replaced by another; a change can only take away."""
    current = live.get(tool.name)
    if current is None:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, f"{tool.name} was removed while this run was going on")
    if current is not tool and current.fingerprint != tool.fingerprint:
        message = f"{tool.name} changed while this run was going on; it can be used again in a new run"
        raise Refusal(Reason.CONTRACT_DRIFT, message, {"was": tool.fingerprint, "is": current.fingerprint})
