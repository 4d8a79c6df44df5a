"""Shared rate limits, as work inside a transaction. No event: drawing a block is no news."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolcrib.policy.limits import Block, Pool, Rate, draw
from toolcrib.stores import statements as sql
from toolcrib.stores.chain import Sealed
from toolcrib.stores.sqlite.ledger import Ledger, Work


def drawing(bucket: str, rate: Rate, holder: str, wanted: int, now: float, tell: Callable[[Block], None]) -> Work:
    """Draw a block for a holder, whose earlier block of this bucket is over; `tell` hears the result."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        execute(sql.DROP_DEAD_BLOCKS, (now, now))
        execute(sql.DROP_BLOCK, (bucket, holder))
        row = execute(sql.READ_POOL, (bucket,)).fetchone()
        drawn = int(execute(sql.DRAWN, (bucket,)).fetchone()[0])
        pool, block = draw(rate, Pool(*row) if row else None, drawn, wanted, now)
        execute(sql.WRITE_POOL, (bucket, pool.tokens, pool.stamp, now + rate.per_seconds))
        if block.amount:
            execute(sql.ADD_BLOCK, (bucket, holder, block.amount, now, now + block.lifetime))
        execute(sql.DROP_FULL_POOLS, (now,))
        tell(block)
        return ()

    return work


def returning(holder: str, unspent: Mapping[str, int]) -> Work:
    """Put unspent tokens back and end the holder's blocks."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        for bucket, tokens in unspent.items():
            if ledger.connection.execute(sql.DROP_BLOCK, (bucket, holder)).rowcount:
                ledger.connection.execute(sql.REFUND_POOL, (tokens, bucket))
        return ()

    return work
