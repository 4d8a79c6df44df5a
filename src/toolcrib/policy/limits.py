"""Rate limits as arithmetic: token buckets that never let one call too many through, however many processes share them.

The tokens of a bucket lie in one pool in the store. A process draws a block of them in advance and spends it in memory.
Whatever lies in the pool and whatever is drawn never exceed the burst together, and an unspent block expires: so what
holds for one bucket in one process holds for all processes together.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.values.noun import frozen

SHORTEST_LIFE = 1.0
LARGEST_SHARE = 8
_GRAIN = 1e-9  # sums of refills miss whole tokens by less than this


@frozen
class Rate:
    """At most `max_calls` in a burst, refilled over `per_seconds`."""

    max_calls: int
    per_seconds: float

    @property
    def token_seconds(self) -> float:
        """The time in which one token is refilled."""
        return self.per_seconds / self.max_calls


@frozen
class Pool:
    """The tokens of a bucket that nobody has drawn, and when they were last counted."""

    tokens: float
    stamp: float


@frozen
class Block:
    """Tokens drawn in advance, to be spent within `lifetime` seconds; without any, `wait` says when to come again."""

    amount: int
    lifetime: float
    wait: float = 0.0


def draw(rate: Rate, pool: Pool | None, drawn: int, wanted: int, now: float) -> tuple[Pool, Block]:
    """Draw up to `wanted` tokens from a pool (none yet = full) of which others hold `drawn` that may still be spent."""
    most = max(rate.max_calls - drawn, 0)
    tokens = float(most)
    if pool is not None:
        tokens = min(most, pool.tokens + max(now - pool.stamp, 0.0) / rate.token_seconds)
    amount = min(wanted, int(tokens + _GRAIN))
    wait = 0.0 if amount else (1.0 - tokens) * rate.token_seconds
    return Pool(max(tokens - amount, 0.0), now), Block(amount, max(amount * rate.token_seconds, SHORTEST_LIFE), wait)


@dataclass(slots=True, eq=False)
class Bucket:
    """This process's part of a bucket: what is left of its block, on monotonic time."""

    key: str
    rate: Rate
    tokens: int = 0
    expires_at: float = 0.0
    closed_until: float = 0.0
    waiting: int = 0
    """How many calls wait for a block."""
    _size: int = 0

    def take(self, now: float) -> bool:
        """Spend a token in hand; False when there is none."""
        if self.tokens > 0 and now < self.expires_at:
            self.tokens -= 1
            return True
        return False

    def give_back(self) -> None:
        """Undo a `take`, because another limit refused the same call."""
        self.tokens += 1

    def wanted(self, now: float) -> int:
        """How many tokens to draw: twice as many while blocks are spent in time, else what was spent of the last.

        One for each that waits, at least.
        """
        spent = max(self._size - self.tokens, self.waiting, 1)
        self._size = spent * 2 if self._size and not self.tokens and now < self.expires_at else spent
        self._size = min(self._size, max(self.rate.max_calls // LARGEST_SHARE, 1))
        return self._size

    def put(self, block: Block, now: float) -> None:
        """Take a drawn block into hand; what was left of the one before is gone."""
        self.tokens = block.amount
        self.expires_at = now + block.lifetime
        self.closed_until = now + block.wait
