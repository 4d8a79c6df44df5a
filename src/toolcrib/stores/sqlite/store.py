"""The store's front: what `ports.Store` promises, each promise handed to the module that keeps it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from toolcrib.policy.grants import Grant
from toolcrib.policy.limits import Block, Rate
from toolcrib.ports import Clock, Question, QuestionState, RunRow, SessionRow, Unit, Verification
from toolcrib.stores import statements as sql
from toolcrib.stores.artifacts import MOST_BYTES, DiskArtifacts
from toolcrib.stores.chain import Link, decode, events_of, name_in_facts
from toolcrib.stores.migrations import steps
from toolcrib.stores.sqlite import erasure, guard, inbox, leases, meters
from toolcrib.stores.sqlite.artifact_records import ArtifactRecords
from toolcrib.stores.sqlite.checkpoint import Checkpoint
from toolcrib.stores.sqlite.connection import Durability, connect_writer, explain
from toolcrib.stores.sqlite.evidence import Evidence
from toolcrib.stores.sqlite.ledger import Errand, Ledger, Note, Ticket, Work
from toolcrib.stores.sqlite.opening import prepare
from toolcrib.stores.sqlite.place import doubts
from toolcrib.stores.sqlite.reader import Reader
from toolcrib.stores.sqlite.writer import Writer
from toolcrib.stores.verify import Purge, verify
from toolcrib.values.context import Document
from toolcrib.values.contract import Approval, Edge, Lock, SeenEdge
from toolcrib.values.event import Event
from toolcrib.values.identity import Ownership, Principal, Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.permission import PermissionDecision
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError

T = TypeVar("T")
PATIENCE = 5.0
_FLUSH_AFTER = 0.02
_READERS = 2


def no_crash(point: str) -> None:
    """The usual answer to a named crash point: go on."""


class SqliteStore:
    """Journal, documents, leases, inbox and artifacts in one SQLite file."""

    def __init__(
        self,
        path: Path,
        ledger: Ledger,
        durability: Durability,
        clock: Clock,
        patience: float,
        artifacts: Callable[[ArtifactRecords], DiskArtifacts],
    ) -> None:
        self.path = path
        self._clock = clock
        self._ledger = ledger
        self._checkpoint = Checkpoint(path)
        self._reader = Reader(path, patience, _READERS)
        self._writer = Writer(path, ledger, durability, patience, self._checkpoint, self._announce)
        self._artifacts = artifacts(ArtifactRecords(self._reader, self._do))
        self._warnings = doubts(path)
        self._flush_at = 0.0
        self._closed = False
        self._watchers: tuple[tuple[asyncio.AbstractEventLoop, Callable[[int], None]], ...] = ()

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        durability: Durability,
        clock: Clock,
        artifacts_dir: Path | None = None,
        artifact_bytes: int = MOST_BYTES,
        patience: float = PATIENCE,
        crash: Callable[[str], None] = no_crash,
    ) -> SqliteStore:
        """Open the store at `path`, making or migrating it first. Blocks for some milliseconds."""
        path = Path(path)
        prepare(path, clock, crash, steps())
        try:
            ledger = Ledger(connect_writer(path, durability, patience), crash)
            ledger.file_leftovers()
        except sqlite3.Error as error:
            raise explain(error, path) from error
        folder = artifacts_dir or path.parent / "artifacts"
        sync = os.fsync if durability is Durability.FULL else None

        def artifacts(records: ArtifactRecords) -> DiskArtifacts:
            return DiskArtifacts(folder, records, clock, sync, crash, artifact_bytes)

        return cls(path, ledger, durability, clock, patience, artifacts)

    @property
    def artifacts(self) -> DiskArtifacts:
        return self._artifacts

    def warnings(self) -> Sequence[str]:
        """What cannot be trusted about the place where the store lies."""
        return tuple(self._warnings)

    def append(self, unit: Unit) -> Receipt:
        loop, now = asyncio.get_running_loop(), self._clock.now()
        try:
            ticket = Ticket(unit, now, loop)
            self._writer.submit(ticket)
        except StoreError as error:
            ticket = Receipt(loop)
            ticket.say(error)
        return ticket

    def queue(self, unit: Unit) -> None:
        loop = asyncio.get_running_loop()
        now = self._clock.now()
        self._writer.hold(Note(unit, now, loop))
        if self._flush_at < time.monotonic():
            self._flush_at = time.monotonic() + _FLUSH_AFTER
            loop.call_later(_FLUSH_AFTER, self._writer.flush, loop)

    async def events(self, *, session_id: str | None, after: int, limit: int) -> Sequence[Event]:
        if session_id is None:
            found = await self._events(sql.LINKS_AFTER, after, limit)
        else:
            place = (after, after, session_id, session_id, after, limit)
            found = await self._events(sql.SESSION_LINKS_AFTER, *place, session_id, after, limit)
        return [event for event in found if event.seq > after][:limit]

    async def call_events(self, session_id: str, call_id: str) -> Sequence[Event]:
        found = await self._events(sql.LINKS_NAMING, session_id, session_id, name_in_facts(call_id))
        return [event for event in found if event.call_id == call_id]

    async def verify(self, expect: str | None) -> Verification:
        return await self._reader.read(lambda connection: verify(Evidence(connection), expect))

    async def purge(self, *, session_id: str | None, before: float | None) -> int:
        """Erase payloads and the artifacts of the same sessions; a record of the purge stays in the chain."""
        await self._artifacts.forget(session_id, before)
        await self._do(inbox.forgetting(session_id, before))
        await self._do(erasure.filing)
        if not await self._reader.read(lambda connection: erasure.is_needed(connection, session_id, before)):
            await asyncio.to_thread(self._checkpoint.truncate)
            return 0
        rules: list[Purge] = []
        await self._do(erasure.recording(session_id, before, self._clock.now(), rules.append))
        erased = erasure.Erased()
        while not erased.done:
            await self._do(erasure.erasing(rules[-1], erased))
            erased.advance()
        if not await asyncio.to_thread(self._checkpoint.truncate):
            self._warnings.append(
                f"erased payloads are still in the log of {self.path}, because somebody was reading; purge again"
            )
        return erased.payloads

    async def changed(self) -> int:
        """The newest sequence number, whoever committed it: cheap enough to poll."""
        return await self._reader.read(lambda connection: int((connection.execute(sql.READ_TIP).fetchone() or (0,))[0]))

    def subscribe(self, wake: Callable[[int], None]) -> Callable[[], None]:
        watcher = (asyncio.get_running_loop(), wake)
        self._watchers = (*self._watchers, watcher)

        def stop() -> None:
            self._watchers = tuple(other for other in self._watchers if other is not watcher)

        return stop

    async def load(self, kind: str, key: str) -> Document | None:
        row = await self._reader.read(lambda connection: connection.execute(sql.READ_DOCUMENT, (kind, key)).fetchone())
        return Document(kind, key, decode(row[0]), int(row[1])) if row else None

    async def claim(self, session_id: str, *, agent_id: str, project: str, owner: str, ttl: float) -> Ownership:
        now = self._clock.now()
        claimed: list[Ownership] = []
        await self._do(leases.claiming(session_id, agent_id, project, owner, ttl, now, claimed.append))
        return claimed[-1]

    async def renew(self, ownership: Ownership, ttl: float) -> None:
        await self._do(leases.renewing(ownership, ttl, self._clock.now()))

    async def release(self, ownership: Ownership, state: str) -> None:
        await self._do(leases.releasing(ownership, state, self._clock.now()))

    async def sessions(self, *, limit: int) -> Sequence[SessionRow]:
        return await self._rows(SessionRow, sql.NEWEST_SESSIONS, limit)

    async def session(self, session_id: str) -> SessionRow | None:
        rows = await self._rows(SessionRow, sql.ONE_SESSION, session_id)
        return rows[0] if rows else None

    async def runs(self, session_id: str) -> Sequence[RunRow]:
        return await self._rows(RunRow, sql.SESSION_RUNS, session_id)

    async def ask(self, question: Question, unit: Unit) -> None:
        await self._do(inbox.asking(question, unit, self._clock.now()))

    async def answer(self, request_id: str, decision: PermissionDecision, principal: Principal) -> Question:
        await self._do(inbox.answering(request_id, decision, principal, self._clock.now()))
        answered = await self.question(request_id)
        assert answered is not None, "a question that was just answered is there"
        return answered

    async def end_question(self, request_id: str, state: QuestionState) -> Question | None:
        await self._do(inbox.ending(request_id, state))
        return await self.question(request_id)

    async def question(self, request_id: str) -> Question | None:
        rows = await self._rows(inbox.question_of, sql.ONE_QUESTION, request_id)
        return rows[0] if rows else None

    async def questions(self, *, session_id: str | None, state: QuestionState | None, limit: int) -> Sequence[Question]:
        if session_id is not None:
            return await self._rows(inbox.question_of, sql.OPEN_QUESTIONS, session_id, limit)
        if state is not None:
            return await self._rows(inbox.question_of, sql.QUESTIONS_IN_STATE, state.value, limit)
        return await self._rows(inbox.question_of, sql.ALL_QUESTIONS, limit)

    async def add_grants(self, grants: Sequence[Grant], unit: Unit) -> None:
        await self._do(inbox.granting(grants, unit, self._clock.now()))

    async def grants(self, ownership: Ownership) -> Sequence[Grant]:
        held = (ownership.session_id, ownership.epoch, ownership.owner)
        return await self._rows(Grant, sql.SESSION_GRANTS, *held)

    async def draw(self, bucket: str, rate: Rate, holder: str, wanted: int, now: float) -> Block:
        drawn: list[Block] = []
        await self._do(meters.drawing(bucket, rate, holder, wanted, now, drawn.append))
        return drawn[-1]

    async def give_back(self, holder: str, unspent: Mapping[str, int]) -> None:
        await self._do(meters.returning(holder, unspent))

    async def approve(self, approvals: Sequence[Approval], bodies: Mapping[str, JsonObject]) -> None:
        await self._do(guard.approving(approvals, bodies, self._clock.now()))

    async def baselines(self, surface: Surface) -> Mapping[str, Approval]:
        found = await self._rows(guard.approval_of, sql.BASELINES, surface.value)
        return {each.tool: each for each in found}

    async def approvals(self, surface: Surface, tool: str) -> Sequence[Approval]:
        return await self._rows(guard.approval_of, sql.TOOL_APPROVALS, surface.value, tool)

    async def approval_count(self) -> int:
        return (await self._rows(int, sql.APPROVAL_COUNT))[0]

    async def has_snapshot(self, surface: Surface) -> bool:
        return bool((await self._rows(int, sql.SNAPSHOT_COUNT, surface.value))[0])

    async def contract(self, fingerprint: str) -> JsonObject | None:
        found = await self._rows(guard.body_of, sql.READ_CONTRACT, fingerprint)
        return found[0] if found else None

    async def see_edge(self, edge: Edge) -> SeenEdge:
        seen: list[SeenEdge] = []
        await self._do(guard.seeing(edge, self._clock.now(), seen.append))
        return seen[-1]

    async def edges(self, scope: str | None) -> Sequence[SeenEdge]:
        if scope is None:
            return await self._rows(guard.edge_of, sql.ALL_EDGES)
        return await self._rows(guard.edge_of, sql.SCOPE_EDGES, scope)

    async def approve_edge(self, edge_id: str, principal: Principal) -> SeenEdge:
        seen: list[SeenEdge] = []
        await self._do(guard.approving_edge(edge_id, str(principal), self._clock.now(), seen.append))
        return seen[-1]

    async def locks(self) -> Sequence[Lock]:
        return await self._rows(Lock, sql.LOCKS)

    async def lock(self, scope: str, principal: Principal) -> None:
        await self._do(guard.locking(scope, str(principal), self._clock.now()))

    async def unlock(self, scope: str, principal: Principal) -> None:
        await self._do(guard.unlocking(scope, str(principal), self._clock.now()))

    async def close(self) -> None:
        """Commit what is queued and let go of the file."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        self._reader.close()
        self._checkpoint.close()
        try:
            self._ledger.close()
        except sqlite3.Error as error:
            raise explain(error, self.path) from error

    async def _do(self, work: Work) -> None:
        errand = Errand(work, self._clock.now(), asyncio.get_running_loop())
        self._writer.hold(errand)
        self._writer.ring()  # never on the event loop: the work may touch many rows or files
        await errand

    async def _events(self, statement: str, *parameters: str | int) -> Sequence[Event]:
        found = await self._rows(_told, statement, *parameters)
        return [event for events in found for event in events]

    async def _rows(self, make: Callable[..., T], statement: str, *parameters: str | int) -> list[T]:
        return await self._reader.read(lambda db: [make(*row) for row in db.execute(statement, parameters)])

    def _announce(self, seq: int) -> None:
        for loop, wake in self._watchers:
            loop.call_soon_threadsafe(wake, seq)


def _told(*row: object) -> Sequence[Event]:
    return events_of(Link._make(row))
