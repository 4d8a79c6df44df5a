"""Which agent starts which: seen and counted before a child begins, and refused where only approved edges may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.policy.topology import edge_of, refused
from toolcrib.values.contract import Enforcement
from toolcrib.values.event import EventType, Level
from toolcrib.values.refusal import Reason, Refusal, StoreError

if TYPE_CHECKING:
    from toolcrib.engine.run import Run
    from toolcrib.engine.wish import Wish


async def take_edge(parent: Run, wish: Wish) -> None:
    """Record that this agent wants that one; Refusal when the edge between them is not approved and must be."""
    runtime = parent.runtime
    if runtime.topology is Enforcement.OFF:
        return
    edge = edge_of(parent.agent.agent_id, wish.agent.agent_id, wish.role)
    try:
        seen = await runtime.store.see_edge(edge)
        locked = {lock.scope for lock in await runtime.store.locks()}
    except StoreError as error:
        raise Refusal(Reason.TOPOLOGY_DENIED, f"whether {edge} is approved cannot be read: {error}") from error
    if (why := refused(seen, locked, runtime.topology)) is not None:
        details = {"edge_id": seen.edge_id, "scope": edge.scope}
        parent.note(EventType.EDGE_DENIED, parent.parent_call, {**details, "edge": str(edge)}, Level.WARNING)
        raise Refusal(Reason.TOPOLOGY_DENIED, why, details)
