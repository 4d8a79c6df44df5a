"""Erasing payloads: first a record of what may be missing, then the payloads, some at a time."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence

from toolcrib.stores import statements as sql
from toolcrib.stores.chain import PURGED, STORE_SESSION, Sealed, digest_of, facts_in, seal, size_of
from toolcrib.stores.sqlite.ledger import Ledger, Work
from toolcrib.stores.verify import Purge
from toolcrib.values.event import Draft, Level

_AT_ONCE = 500
_ALL = 2**62


class Erased:
    """How far a purge has come."""

    def __init__(self) -> None:
        self.payloads = 0
        self.last = 0
        self.done = False
        self._next = (0, 0)

    def found(self, payloads: int, last: int | None) -> None:
        """What the transaction under way erases, and how far it looked; None means that it came to the end."""
        self._next = (payloads, last or 0)
        self.done = last is None

    def advance(self) -> None:
        """Count what was found, now that it is committed."""
        payloads, last = self._next
        self.payloads += payloads
        self.last = max(self.last, last)


def is_needed(connection: sqlite3.Connection, session_id: str | None, before: float | None) -> bool:
    """Whether a purge would erase anything."""
    purge = Purge(session_id, before, 2**63 - 1)
    candidates, parameters = _candidates(purge, 0, _ALL)
    statement = sql.ANY_PAYLOAD.format(payloads=sql.PAYLOADS.format(candidates=candidates))
    return bool(connection.execute(statement, (*parameters, STORE_SESSION, _end(purge))).fetchone()[0])


def filing(ledger: Ledger) -> Sequence[Sealed]:
    """File what is not filed yet: the purge looks a session's events up where they are filed."""
    ledger.file()
    return ()


def recording(session_id: str | None, before: float | None, now: float, tell: Callable[[Purge], None]) -> Work:
    """Record the purge before it happens: a purge that is interrupted leaves nothing that looks like tampering."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        purge = Purge(session_id, before, ledger.last_seq)
        tell(purge)
        payload = {"session_id": session_id, "before": before, "through": purge.through}
        return seal([Draft(PURGED, STORE_SESSION, level=Level.NOTICE, payload=payload)], now)

    return work


def erasing(purge: Purge, erased: Erased) -> Work:
    """Erase the next payloads that the purge covers."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        candidates, parameters = _candidates(purge, erased.last, _AT_ONCE)
        last = execute(f"SELECT max(seq) FROM ({candidates}) AS next", parameters).fetchone()[0]
        statement = sql.PAYLOADS.format(candidates=candidates)
        rows = execute(statement, (*parameters, STORE_SESSION, _end(purge))).fetchall()
        # SQLite may read a time a hair differently than verification will.
        told = [(seq, salted, facts_in(text)) for seq, salted, text in rows]
        covered = [(seq, salted, facts) for seq, salted, facts in told if facts[7] < _end(purge)]
        ledger.connection.executemany(sql.ERASE_PAYLOADS, [(digest_of(salted), seq) for seq, salted, _ in covered])
        erased.found(sum(size_of(facts) for _, _, facts in covered), last)
        return ()

    return work


def _candidates(purge: Purge, after: int, limit: int) -> tuple[str, tuple[str | int, ...]]:
    if purge.session_id is None:
        return sql.NEXT_LINKS, (after, purge.through, limit)
    return sql.NEXT_OF_SESSION, (after, after, purge.session_id, purge.session_id, after, purge.through, limit)


def _end(purge: Purge) -> float:
    return math.inf if purge.before is None else purge.before
