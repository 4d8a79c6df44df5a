"""Changes on record: what stood in a file before a call changed it, kept so that the change can be undone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import partial

from toolcrib.ports import Artifacts
from toolcrib.values.context import Document, ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.workspace import writing
from toolcrib.workspace.lines import read_whole
from toolcrib.workspace.spots import Kind, Spot
from toolcrib.workspace.text import HASHED, HEAD, Text, content_hash, stat_hash
from toolcrib.workspace.waiting import changing, looking
from toolcrib.workspace.workspace import Workspace
from toolcrib.workspace.writing import Folders

DOCUMENT = "file_change"
EVENT = "file_changed"
KEPT_BYTES = 16 * 1024 * 1024
TOO_LARGE = "it is too large"
SECRETS = "it holds secrets"


class Action(StrEnum):
    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    MOVED = "moved"


@frozen
class Before:
    """A file as it was. Without `artifact_id` it was not kept, and `not_kept` says why."""

    size: int
    hash: str
    mode: int
    artifact_id: str | None
    not_kept: str = ""


@frozen
class Change:
    """One change. Paths are host paths; `hash` is the content afterwards, `link` where a deleted link led."""

    action: Action
    path: str
    to: str | None = None
    before: Before | None = None
    hash: str | None = None
    link: str | None = None

    def body(self) -> JsonObject:
        before = self.before
        kept: JsonObject | None = None
        if before is not None:
            kept = {"size": before.size, "hash": before.hash, "mode": before.mode, "artifact_id": before.artifact_id}
            if before.not_kept:
                kept["not_kept"] = before.not_kept
        told = {"to": self.to, "hash": self.hash, "link": self.link}
        said = {name: value for name, value in told.items() if value is not None}
        return {"action": self.action.value, "path": self.path, "before": kept, **said}


@frozen
class Held:
    """A file that is about to change: as much of it as is kept, and its state when it was read."""

    body: bytes
    status: os.stat_result

    @property
    def whole(self) -> bool:
        return len(self.body) == self.status.st_size

    @property
    def hash(self) -> str:
        return content_hash(self.body) if self.whole and self.status.st_size <= HASHED else stat_hash(self.status)


@frozen
class Changes:
    """Makes changes and puts them on record, in that order, with what was there before kept first."""

    workspace: Workspace
    artifacts: Artifacts
    holds_secrets: Callable[[str], bool]
    context: ToolContext

    async def create(self, spot: Spot, body: bytes, folders: Folders) -> str:
        """A new file; returns its hash."""
        status = await changing(partial(writing.create, self.workspace, spot, [body], folders))
        return self._record(Change(Action.CREATED, spot.host_path, hash=_hash(body, status)))

    async def replace(self, spot: Spot, held: Held, body: bytes) -> str:
        """New content for a file that was held; returns its hash."""
        before = await self._keep(spot, held)
        status = await changing(partial(writing.replace, self.workspace, spot, [body], held.status))
        return self._record(Change(Action.MODIFIED, spot.host_path, before=before, hash=_hash(body, status)))

    async def append(self, spot: Spot, held: Held, body: bytes) -> str:
        """More at the end of a file of any size; returns its hash."""
        if held.whole:
            return await self.replace(spot, held, held.body + body)
        before = await self._keep(spot, held)
        chunks = _copied(self.workspace, spot, body)
        status = await changing(partial(writing.replace, self.workspace, spot, chunks, held.status))
        return self._record(Change(Action.MODIFIED, spot.host_path, before=before, hash=stat_hash(status)))

    async def delete(self, spot: Spot) -> None:
        kind = spot.existing().kind
        before = link = None
        if kind is Kind.FILE:
            before = await self._keep(spot, await looking(partial(hold, self.workspace, spot)))
        elif kind is Kind.LINK:
            link = self.workspace.read_link(spot)
        await changing(partial(writing.delete, self.workspace, spot))
        self._record(Change(Action.DELETED, spot.host_path, before=before, link=link))

    async def move(self, spot: Spot, to: Spot, folders: Folders) -> None:
        await changing(partial(writing.move, self.workspace, spot, to, folders))
        self._record(Change(Action.MOVED, spot.host_path, to=to.host_path))

    async def _keep(self, spot: Spot, held: Held) -> Before:
        artifact_id, not_kept = None, TOO_LARGE
        if held.whole:
            not_kept = SECRETS if await looking(partial(self.holds_secrets, _readable(held.body))) else ""
        if not not_kept:
            origin = self.context.origin
            try:
                artifact = await self.artifacts.put(
                    [held.body],
                    mime_type="application/octet-stream",
                    session_id=origin.session_id,
                    call_id=self.context.call_id,
                )
            except StoreError as error:
                message = f"{spot.shown} was not changed: what it holds now cannot be kept for undo ({error})"
                raise Refusal(Reason.STORAGE_ERROR, message) from error
            artifact_id = artifact.artifact_id
        return Before(held.status.st_size, held.hash, held.status.st_mode & 0o7777, artifact_id, not_kept)

    def _record(self, change: Change) -> str:
        body = change.body()
        self.context.put(Document(DOCUMENT, self.context.call_id, {"tool": self.context.name, **body}))
        self.context.emit(EVENT, body)
        return change.hash or ""


def hold(workspace: Workspace, spot: Spot) -> Held:
    """Read a file that is about to change: whole, or only its beginning if it is too large to be kept."""
    with workspace.opened(spot) as descriptor:
        status = os.fstat(descriptor)
        body = os.pread(descriptor, HEAD, 0) if status.st_size > KEPT_BYTES else read_whole(descriptor, KEPT_BYTES)
        return Held(body, status)


def _readable(body: bytes) -> str:
    """What a file holds, as far as it is text; each byte of anything else stands for a character."""
    try:
        return Text.decode(body, "").text
    except Refusal:
        return body.decode("latin-1")


def _hash(body: bytes, status: os.stat_result) -> str:
    return content_hash(body) if len(body) <= HASHED else stat_hash(status)


def _copied(workspace: Workspace, spot: Spot, more: bytes) -> Iterator[bytes]:
    with workspace.opened(spot) as descriptor:
        yield from _pieces(descriptor)
    yield more


def _pieces(descriptor: int) -> Iterable[bytes]:
    position = 0
    while piece := os.pread(descriptor, 1 << 20, position):
        position += len(piece)
        yield piece
