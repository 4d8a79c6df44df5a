"""The rows of artifacts, written through the same writer as everything else."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence

from toolcrib.ports import Artifact
from toolcrib.stores import statements as sql
from toolcrib.stores.chain import Sealed
from toolcrib.stores.sqlite.ledger import Ledger, Work
from toolcrib.stores.sqlite.reader import Reader

_AT_ONCE = 100

Do = Callable[[Work], Awaitable[None]]


class ArtifactRecords:
    """Which artifacts exist and which sessions use them."""

    def __init__(self, reader: Reader, do: Do) -> None:
        self._reader = reader
        self._do = do

    async def place(self, artifact: Artifact, session_id: str, call_id: str | None, move: Callable[[], None]) -> None:
        """Move the file into place and refer to it, under the write lock."""

        def work(ledger: Ledger) -> Sequence[Sealed]:
            move()
            execute = ledger.connection.execute
            kept = (artifact.artifact_id, artifact.size, artifact.mime_type, artifact.complete, artifact.created_at)
            execute(sql.ADD_ARTIFACT, kept)
            execute(sql.ADD_USE, (artifact.artifact_id, session_id, call_id, artifact.created_at))
            return ()

        await self._do(work)

    async def find(self, artifact_id: str) -> Artifact | None:
        row = await self._reader.read(lambda db: db.execute(sql.ONE_ARTIFACT, (artifact_id,)).fetchone())
        return Artifact(row[0], row[1], row[2], bool(row[3]), row[4]) if row else None

    async def drop(self, session_id: str | None, before: float | None) -> None:
        """End the uses of a session, of a time, or of both."""
        limit = math.inf if before is None else before

        def work(ledger: Ledger) -> Sequence[Sealed]:
            if session_id is None:
                ledger.connection.execute(sql.DROP_USES_BEFORE, (limit,))
            else:
                ledger.connection.execute(sql.DROP_SESSION_USES, (session_id, limit))
            return ()

        await self._do(work)

    async def shrink(self, keep_bytes: int) -> None:
        """End the uses of all artifacts but the most recently used ones that fit."""

        def work(ledger: Ledger) -> Sequence[Sealed]:
            total = 0
            for artifact_id, size in ledger.connection.execute(sql.ARTIFACTS_BY_USE).fetchall():
                total += int(size)
                if total > keep_bytes:
                    ledger.connection.execute(sql.DROP_ARTIFACT_USES, (artifact_id,))
            return ()

        await self._do(work)

    async def sweep(self, remove: Callable[[str], None]) -> int:
        """Remove the artifacts that nobody uses, some at a time; returns how many."""
        removed = 0
        found: list[str] = []

        def work(ledger: Ledger) -> Sequence[Sealed]:
            found[:] = [str(row[0]) for row in ledger.connection.execute(sql.UNUSED_ARTIFACTS, (_AT_ONCE,))]
            for artifact_id in found:
                remove(artifact_id)
                ledger.connection.execute(sql.DROP_ARTIFACT, (artifact_id,))
            return ()

        while True:
            await self._do(work)
            if not found:
                return removed
            removed += len(found)

    async def disown(self, artifact_ids: Iterable[str], remove: Callable[[str], None]) -> None:
        """Remove files that have no row; under the write lock, so that none can be getting one just now."""

        def work(ledger: Ledger) -> Sequence[Sealed]:
            for artifact_id in artifact_ids:
                if ledger.connection.execute(sql.ONE_ARTIFACT, (artifact_id,)).fetchone() is None:
                    remove(artifact_id)
            return ()

        await self._do(work)
