"""memory: remembering across sessions. Recalling is there by itself; storing only when the operator switched it on."""

from __future__ import annotations

from toolcrib.catalog.toolkit import Member, Situation, Toolkit
from toolcrib.values.identity import Role
from toolcrib.values.start import Start

RECALL, STORE = "internal.recall_memory", "memory.store"


def guide(situation: Situation) -> str:
    """When to look into memory and what belongs into it."""
    lines: list[str] = []
    if situation.has(RECALL):
        lines.append(f"Look with {RECALL} for what earlier sessions learned before you ask the user again.")
    if situation.has(STORE):
        lines.append(f"Keep with {STORE} what will still be true next week; never secrets, never guesses.")
    return "\n".join(lines)


TOOLKIT = Toolkit(
    key="memory",
    label="Memory",
    description="Recall what earlier sessions learned, and store what later ones should know.",
    members=(Member(RECALL), Member(STORE, Start.LOCKED)),
    roles=frozenset({Role.MAIN, Role.ORCHESTRATOR}),
    guide=guide,
)
