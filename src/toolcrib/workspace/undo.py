"""Undo: put back what stood in a file before a call, if nobody has changed it since."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from typing import cast

from toolcrib.ports import Artifacts, Documents
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Refusal
from toolcrib.workspace import writing
from toolcrib.workspace.changes import DOCUMENT, KEPT_BYTES, Action, Before, Change, hold
from toolcrib.workspace.faults import told
from toolcrib.workspace.spots import Final, Spot
from toolcrib.workspace.waiting import changing, looking
from toolcrib.workspace.workspace import View, Workspace
from toolcrib.workspace.writing import Folders


class Outcome(StrEnum):
    UNDONE = "undone"
    CHANGED = "changed since"
    NOT_KEPT = "not kept"
    UNKNOWN = "no file change"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """Whether undoing another call first cannot help."""
        return self is not Outcome.CHANGED


@frozen
class Undone:
    """What became of one call."""

    call_id: str
    path: str
    outcome: Outcome
    message: str


async def undo(
    call_ids: Sequence[str], *, documents: Documents, artifacts: Artifacts, workspace: Workspace
) -> list[Undone]:
    """Undo calls, in whatever order their changes can be taken back: of one file, the latest first."""
    results: dict[str, Undone] = {}
    waiting = list(dict.fromkeys(call_ids))
    progress = True
    while waiting and progress:
        progress = False
        for call_id in list(waiting):
            result = results[call_id] = await _undo_call(call_id, documents, artifacts, workspace)
            if result.outcome.final:
                waiting.remove(call_id)
                progress = True
    return [results[call_id] for call_id in dict.fromkeys(call_ids)]


async def _undo_call(call_id: str, documents: Documents, artifacts: Artifacts, workspace: Workspace) -> Undone:
    document = await documents.load(DOCUMENT, call_id)
    if document is None:
        return Undone(call_id, "", Outcome.UNKNOWN, f"{call_id} changed no file, or its record was purged")
    change = read_change(document.body)
    try:
        return await _Undoing(call_id, change, artifacts, workspace).run()
    except Refusal as refusal:
        return Undone(call_id, change.path, Outcome.FAILED, refusal.message)


def read_change(body: Json) -> Change:
    """A change from its stored form."""
    fields = cast("dict[str, Json]", body)
    before = cast("dict[str, Json] | None", fields.get("before"))
    kept = None
    if before is not None:
        artifact_id = before.get("artifact_id")
        kept = Before(
            cast("int", before["size"]),
            str(before["hash"]),
            cast("int", before["mode"]),
            None if artifact_id is None else str(artifact_id),
            str(before.get("not_kept", "")),
        )
    to, digest, link = (None if (text := fields.get(name)) is None else str(text) for name in ("to", "hash", "link"))
    return Change(Action(str(fields["action"])), str(fields["path"]), to, kept, digest, link)


@frozen
class _Undoing:
    call_id: str
    change: Change
    artifacts: Artifacts
    workspace: Workspace

    async def run(self) -> Undone:
        match self.change.action:
            case Action.CREATED:
                return await self._remove()
            case Action.MODIFIED:
                return await self._put_back()
            case Action.DELETED:
                return await self._make_again()
            case Action.MOVED:
                return await self._move_back()

    async def _remove(self) -> Undone:
        spot = self._spot(self.change.path)
        if spot.identity is None:
            return self._said(Outcome.UNDONE, "was created by this call and is gone already")
        if await self._hash(spot) != self.change.hash:
            return self._changed()
        await changing(partial(writing.delete, self.workspace, spot))
        return self._said(Outcome.UNDONE, "was removed: this call had created it")

    async def _put_back(self) -> Undone:
        spot = self._spot(self.change.path)
        now = None if spot.identity is None else await self._hash(spot)
        if now != self.change.hash:
            return self._changed(now)
        if (body := await self._kept()) is None:
            return self._not_kept()
        status = (await looking(partial(hold, self.workspace, spot))).status
        await changing(partial(writing.replace, self.workspace, spot, [body], status))
        return self._said(Outcome.UNDONE, f"has its {len(body):,} bytes from before the call again")

    async def _make_again(self) -> Undone:
        spot = self._spot(self.change.path, Final.ITSELF)
        if spot.identity is not None:
            return self._changed()
        if self.change.before is None:
            await changing(partial(_make_again, self.workspace, spot, self.change.link))
            return self._said(Outcome.UNDONE, "is there again")
        if (body := await self._kept()) is None:
            return self._not_kept()
        await changing(
            partial(writing.create, self.workspace, spot, [body], Folders.MAKE, mode=self.change.before.mode)
        )
        return self._said(Outcome.UNDONE, f"is back with {len(body):,} bytes")

    async def _move_back(self) -> Undone:
        spot, to = (self._spot(path, Final.ITSELF) for path in (str(self.change.to), self.change.path))
        if spot.identity is None or to.identity is not None:
            return self._changed()
        await changing(partial(writing.move, self.workspace, spot, to, Folders.MAKE))
        return self._said(Outcome.UNDONE, f"is back from {self.change.to}")

    async def _hash(self, spot: Spot) -> str:
        look: Callable[[], str] = lambda: hold(self.workspace, spot).hash  # noqa: E731
        return await looking(look)

    async def _kept(self) -> bytes | None:
        before = self.change.before
        if before is None or before.artifact_id is None or await self.artifacts.find(before.artifact_id) is None:
            return None
        return await self.artifacts.read(before.artifact_id, offset=0, limit=KEPT_BYTES)

    def _spot(self, path: str, final: Final = Final.FOLLOWED) -> Spot:
        return self.workspace.locate(path, View.HOST, final)

    def _changed(self, now: str | None = None) -> Undone:
        if now is not None and self.change.before is not None and now == self.change.before.hash:
            return self._said(Outcome.CHANGED, "holds again what it held before this call, so it was left as it is")
        return self._said(Outcome.CHANGED, "was changed after this call, so it was left as it is")

    def _not_kept(self) -> Undone:
        before = self.change.before
        why = f"was not kept: {before.not_kept}" if before and before.not_kept else "was purged since"
        return self._said(Outcome.NOT_KEPT, f"cannot be restored: what it held {why}")

    def _said(self, outcome: Outcome, what: str) -> Undone:
        return Undone(self.call_id, self.change.path, outcome, f"{self.change.path} {what}")


def _make_again(workspace: Workspace, spot: Spot, link: str | None) -> None:
    """A link, or an empty folder."""
    with told(spot.shown), workspace.parent(spot) as folder:
        if link is None:
            os.mkdir(spot.name, dir_fd=folder)
        else:
            os.symlink(link, spot.name, dir_fd=folder)
