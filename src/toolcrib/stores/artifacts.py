"""Artifact bodies on disk: one file per content, named by its hash, complete before anything refers to it.

A file is moved into place inside the transaction that refers to it, and removed inside the transaction that ends the
last reference: the database's write lock is what keeps two processes from doing both at once.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
import uuid
from collections.abc import Callable, Coroutine, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeVar

from toolcrib.ports import Artifact, Clock
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import StoreError

T = TypeVar("T")
MOST_BYTES = 64 << 20
_ID = re.compile(r"art_[0-9a-f]{40}")
_INCOMING = "incoming"
_LEFTOVER_AGE = 3600.0


class Records(Protocol):
    """The rows that say which artifacts exist and who uses them."""

    async def place(
        self, artifact: Artifact, session_id: str, call_id: str | None, move: Callable[[], None]
    ) -> None: ...
    async def find(self, artifact_id: str) -> Artifact | None: ...
    async def drop(self, session_id: str | None, before: float | None) -> None: ...
    async def shrink(self, keep_bytes: int) -> None: ...
    async def sweep(self, remove: Callable[[str], None]) -> int: ...
    async def disown(self, artifact_ids: Iterable[str], remove: Callable[[str], None]) -> None: ...


@frozen
class _Received:
    """A body that is wholly on disk, but not yet in its place."""

    file: Path
    artifact_id: str
    size: int
    complete: bool


class DiskArtifacts:
    """Artifacts as files below one folder, with their records in the store."""

    def __init__(
        self,
        folder: Path,
        records: Records,
        clock: Clock,
        sync: Callable[[int], None] | None,
        crash: Callable[[str], None],
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._folder = folder
        self._records = records
        self._clock = clock
        self._sync = sync
        self._crash = crash
        self._most_bytes = most_bytes
        self._running: set[asyncio.Task[Artifact]] = set()

    async def put(self, chunks: Iterable[bytes], *, mime_type: str, session_id: str, call_id: str | None) -> Artifact:
        """Keep a body. Runs to its end even when the caller is cancelled, so that nothing half-made stays behind."""
        task = asyncio.get_running_loop().create_task(self._put(chunks, mime_type, session_id, call_id))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> bytes:
        """A part of a body; past its end there is nothing."""
        if await self.find(artifact_id) is None:
            raise StoreError(f"there is no artifact {artifact_id}")
        return await _in_thread(lambda: self._part(artifact_id, max(offset, 0), max(limit, 0)))

    async def find(self, artifact_id: str) -> Artifact | None:
        return await self._records.find(artifact_id) if _ID.fullmatch(artifact_id) else None

    async def clean(self, *, before: float, keep_bytes: int | None) -> int:
        """Remove what was last used before a time, then the oldest beyond a size; returns how many artifacts went."""
        await self._records.drop(None, before)
        if keep_bytes is not None:
            await self._records.shrink(keep_bytes)
        return await self._sweep()

    async def forget(self, session_id: str | None, before: float | None) -> int:
        """Remove what only this session (and only before that time) used."""
        await self._records.drop(session_id, before)
        return await self._sweep()

    async def _put(self, chunks: Iterable[bytes], mime_type: str, session_id: str, call_id: str | None) -> Artifact:
        received = await _in_thread(lambda: self._receive(chunks))
        artifact = Artifact(
            received.artifact_id, received.size, mime_type, complete=received.complete, created_at=self._clock.now()
        )
        try:
            await self._records.place(artifact, session_id, call_id, lambda: self._move(received))
        finally:
            await _in_thread(lambda: received.file.unlink(missing_ok=True))
        return artifact

    def _receive(self, chunks: Iterable[bytes]) -> _Received:
        file = self._folder / _INCOMING / uuid.uuid4().hex
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return self._write(file, chunks)
        except OSError as error:
            file.unlink(missing_ok=True)
            raise self._unwritten(error) from error
        except BaseException:
            file.unlink(missing_ok=True)
            raise

    def _write(self, file: Path, chunks: Iterable[bytes]) -> _Received:
        digest, size, complete = sha256(), 0, True
        with open(file, "xb", opener=_private) as stream:
            for chunk in chunks:
                kept = chunk[: self._most_bytes - size]
                stream.write(kept)
                digest.update(kept)
                size += len(kept)
                if len(kept) < len(chunk):
                    complete = False
                    break
            stream.flush()
            if self._sync is not None:
                self._sync(stream.fileno())
        return _Received(file, f"art_{digest.hexdigest()[:40]}", size, complete)

    def _move(self, received: _Received) -> None:
        place = self._place(received.artifact_id)
        if place.exists():
            return
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._crash("artifact_before_rename")
            received.file.rename(place)
            if self._sync is not None:
                _sync_folder(place.parent, self._sync)
        except OSError as error:
            raise self._unwritten(error) from error
        self._crash("artifact_after_rename")

    def _unwritten(self, error: OSError) -> StoreError:
        return StoreError(
            f"an artifact could not be written below {self._folder}: {error.strerror or error};"
            " nothing refers to it, free some space or make the folder writable"
        )

    def _part(self, artifact_id: str, offset: int, limit: int) -> bytes:
        try:
            with self._place(artifact_id).open("rb") as stream:
                stream.seek(offset)
                return stream.read(limit)
        except FileNotFoundError:
            raise StoreError(f"the file of artifact {artifact_id} is missing below {self._folder}") from None

    async def _sweep(self) -> int:
        removed = await self._records.sweep(self._remove)
        leftovers = await _in_thread(self._leftovers)
        await self._records.disown(leftovers, self._remove)
        return removed

    def _remove(self, artifact_id: str) -> None:
        self._place(artifact_id).unlink(missing_ok=True)

    def _leftovers(self) -> list[str]:
        """Files of interrupted work: removes old unfinished ones, names old finished ones that may have no record."""
        # Ages of files are in the machine's time, whatever the store's clock says.
        horizon = time.time() - _LEFTOVER_AGE
        for file in self._folder.glob(f"{_INCOMING}/*"):
            if file.stat().st_mtime < horizon:
                file.unlink(missing_ok=True)
        old = (file for file in self._folder.glob("??/*") if file.stat().st_mtime < horizon)
        return [f"art_{file.parent.name}{file.name}" for file in old]

    def _place(self, artifact_id: str) -> Path:
        digits = artifact_id.removeprefix("art_")
        return self._folder / digits[:2] / digits[2:]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: Path, sync: Callable[[int], None]) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def _in_thread(work: Callable[[], T]) -> Coroutine[object, object, T]:
    return asyncio.to_thread(work)
