"""Rate limits at work: blocks drawn from the store in advance, spent in memory, given back at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from toolcrib.policy.limits import Bucket, Rate
from toolcrib.ports import Clock, Store
from toolcrib.values.refusal import Reason, Refusal, StoreError


@dataclass(slots=True, eq=False)
class Meters:
    """The buckets of this process. `take` spends what is in hand; `draw` gets more, or refuses."""

    store: Store
    clock: Clock
    holder: str
    buckets: dict[str, Bucket] = field(default_factory=dict[str, Bucket])
    _draws: dict[str, asyncio.Future[StoreError | None]] = field(
        default_factory=dict[str, "asyncio.Future[StoreError | None]"]
    )

    def bucket(self, scope: str, pattern: str, subject: str, rate: Rate) -> Bucket:
        """The bucket of one subject (a tool, an agent, a session) for one pattern."""
        key = f"{scope} {pattern} {subject}"
        known = self.buckets.get(key)
        if known is None:
            known = self.buckets[key] = Bucket(key, rate)
        return known

    def take(self, buckets: Sequence[Bucket], now: float) -> bool:
        """Spend a token of each bucket, or of none; False when one of them has none in hand."""
        for bucket in buckets:
            if not bucket.take(now):
                for taken in buckets[: buckets.index(bucket)]:
                    taken.give_back()
                return False
        return True

    async def draw(self, buckets: Sequence[Bucket], tool: str) -> None:
        """Spend a token of each bucket, drawing blocks where none is in hand; Refusal when a limit is reached."""
        taken: list[Bucket] = []
        try:
            for bucket in buckets:
                await self._spend(bucket, tool)
                taken.append(bucket)
        except BaseException:
            for bucket in taken:
                bucket.give_back()
            raise

    async def end_session(self, session_id: str) -> None:
        """Nobody here works in a session any more: its blocks go back."""
        keys = [key for key in self.buckets if key.startswith("session ") and key.endswith(f" {session_id}")]
        await self._give_back(keys)

    async def close(self) -> None:
        await asyncio.gather(*self._draws.values())
        await self._give_back(list(self.buckets))

    async def _spend(self, bucket: Bucket, tool: str) -> None:
        while not bucket.take(now := self.clock.monotonic()):
            if now < bucket.closed_until:
                raise _exceeded(bucket, tool, bucket.closed_until - now)
            if (error := await self._filled(bucket)) is not None:
                message = f"{tool} was not started, because its rate limit could not be looked up: {error}"
                raise Refusal(Reason.STORAGE_ERROR, message) from error

    async def _filled(self, bucket: Bucket) -> StoreError | None:
        """Wait for a block. All who want one wait for the same: a second would end the first, which is being spent."""
        drawing = self._draws.get(bucket.key)
        if drawing is None:
            drawing = self._draws[bucket.key] = asyncio.ensure_future(self._fill(bucket))
            drawing.add_done_callback(lambda _: self._draws.pop(bucket.key))
        bucket.waiting += 1
        try:
            return await asyncio.shield(drawing)
        finally:
            bucket.waiting -= 1

    async def _fill(self, bucket: Bucket) -> StoreError | None:
        now = self.clock.monotonic()
        try:
            block = await self.store.draw(bucket.key, bucket.rate, self.holder, bucket.wanted(now), now)
        except StoreError as error:
            return error
        bucket.put(block, now)
        return None

    async def _give_back(self, keys: list[str]) -> None:
        now = self.clock.monotonic()
        gone = [self.buckets.pop(key) for key in keys]
        unspent = {bucket.key: bucket.tokens if now < bucket.expires_at else 0 for bucket in gone if bucket.expires_at}
        if unspent:
            await self.store.give_back(self.holder, unspent)


def _exceeded(bucket: Bucket, tool: str, wait: float) -> Refusal:
    scope, pattern, _ = bucket.key.split(" ", 2)
    allowed = f"{bucket.rate.max_calls} times in {bucket.rate.per_seconds:g} s"
    what = tool if scope == "tool" else f"what matches {pattern}"
    whose = "" if scope == "tool" else f" by one {scope}"
    message = f"{what} may be called {allowed}{whose}; try again in {wait:.1f} s, or do something else meanwhile"
    return Refusal(Reason.RATE_LIMITED, message, {"retry_after": round(wait, 3), "limit": pattern, "per": scope})
