"""Erasing payloads: first a record of what may be missing, then the payloads, some at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from toolcrib.stores import statements as sql
from toolcrib.stores.chain import PURGED, STORE_SESSION, Sealed, seal
from toolcrib.stores.sqlite.ledger import Ledger
from toolcrib.stores.verify import Purge
from toolcrib.values.event import Draft, Level

_AT_ONCE = 500


class Erased:
    """How far a purge has come."""

    def __init__(self) -> None:
        self.payloads = 0
        self.last = 0
        self.done = False
        self.found: list[int] = []

    def advance(self) -> None:
        """Count what the last transaction erased, now that it is committed."""
        self.payloads += len(self.found)
        self.last = self.found[-1] if self.found else self.last
        self.done = not self.found


def count(connection: sqlite3.Connection, session_id: str | None, before: float | None) -> int:
    """How many payloads a purge would erase."""
    statement, parameters = _selection(sql.COUNT_PAYLOADS, Purge(session_id, before, 2**63 - 1), 0)
    return int(connection.execute(statement, parameters).fetchone()[0])


def filing(ledger: Ledger) -> Sequence[Sealed]:
    """File what is not filed yet: the purge looks a session's events up where they are filed."""
    ledger.file()
    return ()


def recording(
    session_id: str | None, before: float | None, now: float, tell: Callable[[Purge], None]
) -> Callable[[Ledger], Sequence[Sealed]]:
    """Record the purge before it happens: a purge that is interrupted leaves nothing that looks like tampering."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        purge = Purge(session_id, before, ledger.head.seq)
        tell(purge)
        payload = {"session_id": session_id, "before": before, "through": purge.through}
        return seal([Draft(PURGED, STORE_SESSION, level=Level.NOTICE, payload=payload)], now)

    return work


def erasing(purge: Purge, erased: Erased) -> Callable[[Ledger], Sequence[Sealed]]:
    """Erase the next payloads that the purge covers."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        statement, parameters = _selection(sql.SOME_PAYLOADS, purge, erased.last)
        found = [int(row[0]) for row in ledger.connection.execute(statement, (*parameters, _AT_ONCE))]
        ledger.connection.executemany(sql.ERASE_PAYLOAD, [(seq,) for seq in found])
        erased.found = found
        return ()

    return work


def _selection(statement: str, purge: Purge, after: int) -> tuple[str, tuple[str | int | float, ...]]:
    conditions = "seq > ? AND seq <= ? AND payload IS NOT NULL AND session_id <> ?"
    parameters: tuple[str | int | float, ...] = (after, purge.through, STORE_SESSION)
    if purge.session_id is not None:
        conditions += " AND seq IN (SELECT seq FROM session_events WHERE session_id = ?)"
        parameters = (*parameters, purge.session_id)
    if purge.before is not None:
        conditions += " AND created_at < ?"
        parameters = (*parameters, purge.before)
    return statement.format(conditions=conditions), parameters
