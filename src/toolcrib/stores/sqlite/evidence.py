"""What verification sees of the file: short reads, so that a long walk never holds back the log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from toolcrib.stores import statements as sql
from toolcrib.stores.chain import GENESIS, PURGED, STORE_SESSION, Head, Link, name_in_facts


class Evidence:
    """The chain as it is stored, read through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ends(self) -> tuple[Head | None, Head]:
        noted_seq, noted_hash, seq, tip_hash = self._connection.execute(sql.HEAD_AND_TIP).fetchone()
        noted = Head(noted_seq, noted_hash) if isinstance(noted_seq, int) and isinstance(noted_hash, bytes) else None
        return noted, Head(0, GENESIS) if seq is None else Head(seq, tip_hash)

    def links(self, after: int, limit: int) -> Sequence[Link]:
        return [Link(*row) for row in self._connection.execute(sql.LINKS_AFTER, (after, limit))]

    def purges(self) -> Sequence[Link]:
        naming = (STORE_SESSION, STORE_SESSION, name_in_facts(PURGED))
        found = (Link(*row) for row in self._connection.execute(sql.LINKS_NAMING, naming))
        return [one for one in found if one.facts[4] == PURGED]

    def misfiled(self) -> int | None:
        row = self._connection.execute(sql.MISFILED).fetchone()
        return None if row[0] is None else int(row[0])

    def broken_runs(self) -> Iterable[tuple[str, int]]:
        return [(str(row[0]), int(row[1])) for row in self._connection.execute(sql.BROKEN_RUNS)]
