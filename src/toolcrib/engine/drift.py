"""Whether a tool is still the one that a run was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from toolcrib.catalog.registry import Snapshot
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.engine.guard import Post


def refuse_drifted(tool: Tool, why: str) -> NoReturn:
    """Refuse a tool that is not what was approved."""
    details = {"tool": tool.name, "fingerprint": tool.fingerprint}
    raise Refusal(Reason.CONTRACT_DRIFT, f"{tool.name} was not run: {why}", details)


def require_unchanged(tool: Tool, live: Snapshot, post: Post | None) -> None:
    """Refuse a tool that was removed, replaced, or lost its approval; a change can only take away."""
    current = live.get(tool.name)
    if current is None:
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, f"{tool.name} was removed while this run was going on")
    if current is not tool and current.fingerprint != tool.fingerprint:
        message = f"{tool.name} changed while this run was going on; it can be used again in a new run"
        raise Refusal(Reason.CONTRACT_DRIFT, message, {"was": tool.fingerprint, "is": current.fingerprint})
    if post is not None and (why := post.refuses(tool)) is not None:
        refuse_drifted(tool, why)
