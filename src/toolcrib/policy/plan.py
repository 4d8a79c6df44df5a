"""How the calls of one turn are grouped: reads and agents together, every write alone, never out of order."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.values.spec import Lane


def plan(lanes: Sequence[Lane]) -> list[range]:
    """Split call positions into batches that run one after the other; a write is a batch by itself."""
    batches: list[range] = []
    start = 0
    for position, lane in enumerate(lanes):
        if lane is Lane.WRITE:
            if start < position:
                batches.append(range(start, position))
            batches.append(range(position, position + 1))
            start = position + 1
    if start < len(lanes):
        batches.append(range(start, len(lanes)))
    return batches
