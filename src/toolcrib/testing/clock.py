"""A clock that moves only when a test says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class FrozenClock:
    """Wall and monotonic time that stand still until `advance`."""

    wall: float = 1_700_000_000.0
    ticks: float = 1_000.0

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.ticks

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.ticks += seconds


class CountingIds:
    """Ids that count up, so that records can be compared whole."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def new(self, prefix: str) -> str:
        self._last[prefix] = number = self._last.get(prefix, 0) + 1
        return f"{prefix}_{number}"
