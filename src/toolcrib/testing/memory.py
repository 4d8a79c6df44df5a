"""A store in memory: the same chain, the same contract, nothing on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby

from toolcrib.policy.limits import Block, Pool, Rate, draw
from toolcrib.ports import (
    Artifact,
    Clock,
    Conflict,
    Fenced,
    RunClosed,
    RunOpened,
    RunRow,
    SessionBusy,
    SessionRow,
    Unit,
    Verification,
)
from toolcrib.stores.chain import (
    CLAIMED,
    GENESIS,
    PURGED,
    RELEASED,
    STORE_SESSION,
    Head,
    Link,
    decode,
    digest_of,
    encode,
    events_of,
    link,
    seal,
)
from toolcrib.stores.verify import Purge, verify
from toolcrib.testing.clock import FrozenClock
from toolcrib.testing.memory_guard import MemoryGuard
from toolcrib.testing.memory_inbox import MemoryInbox
from toolcrib.values.context import Document
from toolcrib.values.event import Draft, Event, Level
from toolcrib.values.identity import Ownership
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError

_MOST_BYTES = 64 << 20


class MemoryStore(MemoryInbox, MemoryGuard):
    """Keeps everything in lists; commits at once. One event loop at a time."""

    def __init__(self, clock: Clock | None = None, artifact_bytes: int = _MOST_BYTES) -> None:
        MemoryInbox.__init__(self, self.append)
        MemoryGuard.__init__(self, self.append)
        self._clock: Clock = clock or FrozenClock()
        self._links: list[Link] = []
        self._numbers: dict[tuple[str, str | None], int] = {}
        self._documents: dict[tuple[str, str], tuple[bytes, int]] = {}
        self._sessions: dict[str, SessionRow] = {}
        self._runs: dict[str, RunRow] = {}
        self._watchers: list[tuple[asyncio.AbstractEventLoop, Callable[[int], None]]] = []
        self._artifacts = MemoryArtifacts(self._clock, artifact_bytes)
        self._pools: dict[str, Pool] = {}
        self._blocks: dict[tuple[str, str], tuple[int, float, float]] = {}
        self._closed = False

    @property
    def artifacts(self) -> MemoryArtifacts:
        return self._artifacts

    def warnings(self) -> Sequence[str]:
        return ("the store is in memory: it is gone when the process ends",)

    def append(self, unit: Unit) -> Receipt:
        receipt = Receipt(asyncio.get_running_loop())
        try:
            self._require_open()
            now = self._clock.now()
            sealed = [one for draft in unit.drafts for one in seal((draft,), now)]
            self._check(unit)
        except StoreError as error:
            receipt.say(error)
            return receipt
        for document in unit.documents:
            self._documents[document.kind, document.key] = (encode(document.body), document.version + 1)
        for run in unit.runs:
            self._note_run(run)
        for session_id, run_id, facts, salted, payloads_digest, _ in sealed:
            run_seq = 0 if run_id is None else self._numbers.get((session_id, run_id), 0) + 1
            self._numbers[session_id, run_id] = run_seq
            last = self._tip()
            new_hash = bytes(link(last.hash, payloads_digest, last.seq + 1, run_seq, facts))
            self._links.append(Link(last.seq + 1, run_seq, facts, bytes(salted), new_hash, None, last.hash))
        receipt.say(len(self._links))
        for loop, wake in self._watchers:
            loop.call_soon_threadsafe(wake, len(self._links))
        return receipt

    def queue(self, unit: Unit) -> None:
        error = self.append(unit).exception()
        if error is not None:
            context = {"message": "a queued unit was not committed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    async def events(self, *, session_id: str | None, after: int, limit: int) -> Sequence[Event]:
        self._require_open()
        chosen = (one for one in self._links[max(after, 0) :] if session_id in (None, one.facts[0]))
        return [_event(one) for one, _ in zip(chosen, range(limit), strict=False)]

    async def call_events(self, session_id: str, call_id: str) -> Sequence[Event]:
        return [
            event for event in map(_event, self._links) if (event.session_id, event.call_id) == (session_id, call_id)
        ]

    async def verify(self, expect: str | None) -> Verification:
        return verify(self, expect)

    async def purge(self, *, session_id: str | None, before: float | None) -> int:
        self._artifacts.forget(session_id, before)
        self._forget_questions(session_id, before)
        purge = Purge(session_id, before, len(self._links))
        chosen = [
            index
            for index, one in enumerate(self._links)
            if one.salted is not None and one.facts[0] != STORE_SESSION and purge.covers(one)
        ]
        if chosen:
            payload = {"session_id": session_id, "before": before, "through": purge.through}
            await self.append(Unit((Draft(PURGED, STORE_SESSION, level=Level.NOTICE, payload=payload),)))
        for index in chosen:
            self._links[index] = _erased(self._links[index])
        return len(chosen)

    async def changed(self) -> int:
        return len(self._links)

    def subscribe(self, wake: Callable[[int], None]) -> Callable[[], None]:
        watcher = (asyncio.get_running_loop(), wake)
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    async def load(self, kind: str, key: str) -> Document | None:
        body, version = self._documents.get((kind, key), (b"", 0))
        return Document(kind, key, decode(body), version) if version else None

    async def claim(self, session_id: str, *, agent_id: str, project: str, owner: str, ttl: float) -> Ownership:
        now = self._clock.now()
        row = self._sessions.get(session_id)
        if row is not None and row.owner is not None and row.lease_until > now:
            left = row.lease_until - now
            raise SessionBusy(f"session {session_id} is owned by {row.owner} for another {left:.0f} s; wait")
        self._drop_grants(session_id)
        epoch, created_at = (row.epoch + 1, row.created_at) if row else (1, now)
        self._sessions[session_id] = SessionRow(
            session_id, agent_id, project, "active", owner, epoch, now + ttl, created_at, 0
        )
        payload = {"owner": owner, "epoch": epoch, "taken_from": row.owner if row else None}
        await self.append(Unit((Draft(CLAIMED, session_id, agent_id=agent_id, payload=payload),)))
        return Ownership(session_id, owner, epoch)

    async def renew(self, ownership: Ownership, ttl: float) -> None:
        row = self._require_owner(ownership)
        self._sessions[row.session_id] = replace(row, lease_until=self._clock.now() + ttl)

    async def release(self, ownership: Ownership, state: str) -> None:
        row = self._require_owner(ownership)
        self._drop_grants(row.session_id)
        self._sessions[row.session_id] = replace(row, owner=None, lease_until=0.0, state=state)
        payload = {"owner": ownership.owner, "epoch": ownership.epoch, "state": state}
        await self.append(Unit((Draft(RELEASED, row.session_id, payload=payload),)))

    async def sessions(self, *, limit: int) -> Sequence[SessionRow]:
        newest = sorted(self._sessions.values(), key=lambda row: (-row.created_at, row.session_id))
        return [self._counted(row) for row in newest[:limit]]

    async def session(self, session_id: str) -> SessionRow | None:
        row = self._sessions.get(session_id)
        return self._counted(row) if row else None

    async def runs(self, session_id: str) -> Sequence[RunRow]:
        rows = (row for row in self._runs.values() if row.session_id == session_id)
        return sorted(rows, key=lambda row: (row.created_at, row.run_id))

    async def draw(self, bucket: str, rate: Rate, holder: str, wanted: int, now: float) -> Block:
        self._require_open()
        self._blocks.pop((bucket, holder), None)
        self._blocks = {whose: block for whose, block in self._blocks.items() if block[1] <= now < block[2]}
        drawn = sum(block[0] for (name, _), block in self._blocks.items() if name == bucket)
        self._pools[bucket], block = draw(rate, self._pools.get(bucket), drawn, wanted, now)
        if block.amount:
            self._blocks[bucket, holder] = (block.amount, now, now + block.lifetime)
        return block

    async def give_back(self, holder: str, unspent: Mapping[str, int]) -> None:
        for bucket, tokens in unspent.items():
            if self._blocks.pop((bucket, holder), None) is not None:
                self._pools[bucket] = replace(self._pools[bucket], tokens=self._pools[bucket].tokens + tokens)

    async def close(self) -> None:
        self._closed = True

    # What verification sees of the chain.

    def ends(self) -> tuple[Head, Head]:
        tip = self._tip()
        return tip, tip

    def links(self, after: int, limit: int) -> Sequence[Link]:
        start = max(after, 0)
        return self._links[start : start + limit]

    def purges(self) -> Sequence[Link]:
        return [one for one in self._links if (one.facts[0], one.facts[4]) == (STORE_SESSION, PURGED)]

    def misfiled(self) -> int | None:
        return None

    def broken_runs(self) -> Iterable[tuple[str, int]]:
        events = map(_event, self._links)
        runs = sorted((event.session_id, event.run_id, event.seq, event.run_seq) for event in events if event.run_id)
        for (_, run_id), group in groupby(runs, key=lambda one: one[:2]):
            numbers = [(seq, run_seq) for _, _, seq, run_seq in group]
            if [run_seq for _, run_seq in numbers] != list(range(1, len(numbers) + 1)):
                yield str(run_id), numbers[0][0]

    def _tip(self) -> Head:
        return Head(len(self._links), self._links[-1].hash if self._links else GENESIS)

    def _check(self, unit: Unit) -> None:
        if unit.owner is not None:
            self._require_owner(unit.owner)
        for document in unit.documents:
            _, version = self._documents.get((document.kind, document.key), (b"", 0))
            if version != document.version:
                raise Conflict(f"the document {document.kind}/{document.key} changed; read it again")
            _require_json(document)

    def _require_owner(self, ownership: Ownership) -> SessionRow:
        row = self._sessions.get(ownership.session_id)
        if row is None or (row.owner, row.epoch) != (ownership.owner, ownership.epoch):
            raise Fenced(f"session {ownership.session_id} is no longer owned by {ownership.owner}")
        return row

    def _note_run(self, run: RunOpened | RunClosed) -> None:
        row = self._runs.get(run.run_id)
        if isinstance(run, RunOpened):
            parts = (run.run_id, run.session_id, run.agent_id, run.role, run.mode, run.parent_run_id)
            self._runs.setdefault(run.run_id, RunRow(*parts, "open", None, run.created_at, None))
        elif row is not None and row.state == "open":
            self._runs[run.run_id] = replace(row, state="closed", end_reason=run.end_reason, ended_at=run.ended_at)

    def _counted(self, row: SessionRow) -> SessionRow:
        return replace(row, events=sum(one.facts[0] == row.session_id for one in self._links))

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed")


@dataclass(slots=True)
class _Body:
    artifact: Artifact
    content: bytes
    uses: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])


class MemoryArtifacts:
    """Artifacts in a dictionary."""

    def __init__(self, clock: Clock, most_bytes: int) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._bodies: dict[str, _Body] = {}

    async def put(self, chunks: Iterable[bytes], *, mime_type: str, session_id: str, call_id: str | None) -> Artifact:
        content, complete = b"", True
        for chunk in chunks:
            content += chunk
            if len(content) > self._most_bytes:
                content, complete = content[: self._most_bytes], False
                break
        artifact_id = f"art_{sha256(content).hexdigest()[:40]}"
        artifact = Artifact(artifact_id, len(content), mime_type, complete, self._clock.now())
        body = self._bodies.setdefault(artifact_id, _Body(artifact, content))
        body.uses.append((session_id, artifact.created_at))
        return artifact

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> bytes:
        body = self._bodies.get(artifact_id)
        if body is None:
            raise StoreError(f"there is no artifact {artifact_id}")
        start = max(offset, 0)
        return body.content[start : start + max(limit, 0)]

    async def find(self, artifact_id: str) -> Artifact | None:
        body = self._bodies.get(artifact_id)
        return body.artifact if body else None

    async def clean(self, *, before: float, keep_bytes: int | None) -> int:
        removed = self.forget(None, before)
        total = 0
        newest = sorted(self._bodies.items(), key=lambda item: max(at for _, at in item[1].uses), reverse=True)
        for artifact_id, body in newest if keep_bytes is not None else ():
            total += body.artifact.size
            if keep_bytes is not None and total > keep_bytes:
                del self._bodies[artifact_id]
                removed += 1
        return removed

    def forget(self, session_id: str | None, before: float | None) -> int:
        """Remove what only this session (and only before that time) used."""
        for body in self._bodies.values():
            body.uses = [
                (user, at)
                for user, at in body.uses
                if session_id not in (None, user) or (before is not None and at >= before)
            ]
        unused = [artifact_id for artifact_id, body in self._bodies.items() if not body.uses]
        for artifact_id in unused:
            del self._bodies[artifact_id]
        return len(unused)


def _event(one: Link) -> Event:
    [event] = events_of(one)  # every draft is sealed by itself
    return event


def _erased(one: Link) -> Link:
    return one._replace(salted=None, digest=digest_of(one.salted or b""))


def _require_json(document: Document) -> None:
    try:
        encode(document.body)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"the document {document.kind}/{document.key} cannot be stored: {error}") from error
