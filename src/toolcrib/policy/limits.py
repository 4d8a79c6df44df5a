"""Limits as arithmetic: token buckets that never let one call too many through."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `max_calls` in a burst, refilled over `per_seconds`."""

    max_calls: int
    per_seconds: float


@dataclass(slots=True, eq=False)
class Bucket:
    """A token bucket on monotonic time. `take` answers 0 when a call may go, else the seconds to wait."""

    rate: Rate
    tokens: float
    stamp: float

    @classmethod
    def full(cls, rate: Rate, now: float) -> Bucket:
        return cls(rate, float(rate.max_calls), now)

    def take(self, now: float) -> float:
        rate = self.rate
        tokens = self.tokens + (now - self.stamp) * rate.max_calls / rate.per_seconds
        if tokens > rate.max_calls:
            tokens = float(rate.max_calls)
        self.stamp = now
        if tokens >= 1.0:
            self.tokens = tokens - 1.0
            return 0.0
        self.tokens = tokens
        return (1.0 - tokens) * rate.per_seconds / rate.max_calls

    def give_back(self) -> None:
        """Undo a `take`, because another limit refused the same call."""
        self.tokens = min(self.tokens + 1.0, float(self.rate.max_calls))
