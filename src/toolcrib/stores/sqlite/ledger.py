"""One transaction: units of several callers, each of which succeeds or fails alone, linked into the chain."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import ClassVar

from toolcrib.ports import Conflict, Fenced, RunClosed, RunOpened, Unit
from toolcrib.stores import statements as sql
from toolcrib.stores.chain import GENESIS, NOTED_EVERY, Head, Row, Sealed, encode, link, seal
from toolcrib.stores.sqlite.connection import may_pass
from toolcrib.values.context import Document
from toolcrib.values.identity import Ownership
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError

_REMEMBERED = 8192
_MANY_UNFILED = 500
_TRANSACTION_WEIGHT = 6144  # about what a commit writes to the log, besides what its links fill
_LINK_WEIGHT = 320
_UNKNOWN = (-1, bytearray())
_NOBODY: tuple[str, str | None] = ("", None)
_NOTHING = Unit(())

# What is done inside a transaction, and the events that tell of it.
Work = Callable[["Ledger"], Sequence[Sealed]]
# The beginning of a row of events that are all of one session and run: session, run, first seq.
Stretch = tuple[str, str | None, int]


class HeadMissing(StoreError):
    """Somebody removed the row that notes the head."""


class Ticket(Receipt):
    """A unit that waits to be committed: what is sealed of it, and what else belongs to it, if anything does.

    `outcome` tells how it went, and is said once that is committed. Drafts are not kept: with many who wait they would
    be most of what lies about.
    """

    __slots__ = ("outcome", "owner", "rest", "sealed")
    awaited: ClassVar[bool] = True

    def __init__(self, unit: Unit, now: float, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop  # what a receipt is made of: its own words would cost every call one more
        self.said = None
        self._wake = None
        self._asyncio_future_blocking = None
        self.sealed = seal(unit.drafts, now)
        self.owner = unit.owner
        self.rest: Work | None = _recording(unit, self.sealed, now) if unit.documents or unit.runs else None
        self.outcome: int | Exception


class Note(Ticket):
    """A unit that nobody waits for."""

    __slots__ = ()
    awaited = False


class Errand(Ticket):
    """Work that needs the transaction."""

    __slots__ = ()

    def __init__(self, work: Work, now: float, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(_NOTHING, now, loop)
        self.rest = work


class Ledger:
    """The committing connection and what it remembers of the chain.

    Tip, run counters and owners are kept in memory and trusted only while the newest event, read inside the
    transaction, is the one written last from here: whoever appends or changes an owner adds an event. Between commits
    that follow closely the snapshot is held: SQLite then refuses to begin if anybody else has committed, so that
    nothing need be read, and the locks of a reader are not taken anew. It must be let go when nothing follows,
    because nobody can start the log anew before it.
    """

    def __init__(self, connection: sqlite3.Connection, crash: Callable[[str], None]) -> None:
        self.connection = connection
        self._cursors = (connection.cursor(), connection.cursor())
        self._execute = self._cursors[0].execute
        self._insert = self._cursors[1].executemany
        self._snapshot: sqlite3.Cursor | None = None
        self._crash = crash
        self._tip: tuple[int, bytes | bytearray] = _UNKNOWN
        self._noted = 0
        self._runs: dict[tuple[str, str | None], int] = {}
        self._owners: dict[str, Ownership] = {}
        self._owner: Ownership | None = None
        self._links: list[Row] = []
        self._stretches: list[Stretch] = []
        self._session, self._run = _NOBODY
        self._run_seq = 0
        self.weight = 0

    def commit(self, tickets: Sequence[Ticket]) -> None:
        """Commit the tickets together and set their outcomes; an sqlite3.Error means that none of them happened."""
        self._crash("before_begin")
        self._begin()
        try:
            for ticket in tickets:
                if ticket.owner is not self._owner or ticket.rest is not None:
                    ticket.outcome = self._take(ticket)
                else:
                    ticket.outcome = self._append(ticket.sealed)
            links = self._links
            if links:
                self._insert(sql.ADD_EVENT, links)
                self.weight += _TRANSACTION_WEIGHT
                self._crash("after_insert")
                if self._tip[0] - self._noted >= NOTED_EVERY:
                    self._note_head()
            self._crash("before_commit")
            self._execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        self._links = []
        self._crash("after_commit")

    @property
    def last_seq(self) -> int:
        """The newest event's sequence number, as far as it is known here."""
        return self._tip[0]

    def forget_owner(self, session_id: str) -> None:
        """The owner is being changed in this transaction: read it again when it is needed."""
        self._owners.pop(session_id, None)
        self._owner = None

    def require_owner(self, ownership: Ownership) -> None:
        """Raise Fenced unless this owner still holds the session."""
        if self._owners.get(ownership.session_id) == ownership:
            self._owner = ownership
            return
        row = self._execute(sql.READ_LEASE, (ownership.session_id,)).fetchone()
        owner, epoch = (row[0], row[1]) if row else (None, 0)
        if (owner, epoch) != (ownership.owner, ownership.epoch):
            raise Fenced(
                f"session {ownership.session_id} is no longer owned by {ownership.owner} (epoch {ownership.epoch});"
                f" it belongs to {owner or 'nobody'} (epoch {epoch})"
            )
        self._owners[ownership.session_id] = self._owner = ownership

    def file(self) -> None:
        """File the newest events where sessions, calls and runs are looked up; inside a transaction."""
        filed, newest = self._execute(sql.FILED_AND_NEWEST).fetchone()
        starts = self._stretches
        if not starts or starts[0][2] != filed + 1 or self._tip[0] != newest:
            starts = self._execute(sql.STRETCH_STARTS, (filed, filed)).fetchall()
        ends = [start[2] - 1 for start in starts[1:]] + [newest] * bool(starts)
        self._insert(sql.ADD_STRETCH, [(start[0], start[2], end) for start, end in zip(starts, ends, strict=True)])
        last_of = {start[:2]: end for start, end in zip(starts, ends, strict=True) if start[1] is not None}
        self._insert(sql.MOVE_RUN, [(end,) for end in last_of.values()])
        if starts:
            self._execute(sql.MOVE_FILED, (newest,))
        self._forget_stretches()
        self._note_head()

    def file_alone(self) -> None:
        """File the newest events in a transaction of its own."""
        self._alone(self.file)

    def file_leftovers(self) -> None:
        """File what earlier processes left unfiled, if that is much."""
        if int(self._execute(sql.UNFILED).fetchone()[0]) < _MANY_UNFILED:
            return
        try:
            self.file_alone()
        except sqlite3.Error as error:
            if not may_pass(error):  # a store that is busy or full can still be read
                raise
        except HeadMissing:
            return  # and one without its head can still be verified

    def close(self) -> None:
        """Note the head and let go of the file. An open cursor would keep it, and the log, for as long as it lives."""
        try:
            if self._tip[0] > self._noted:
                self._alone(self._note_head)
        except sqlite3.Error as error:
            if not may_pass(error):  # the note may stay behind, as it does when a process is killed
                raise
        finally:
            self.let_go()
            for cursor in self._cursors:
                cursor.close()
            self.connection.close()

    def let_go(self) -> None:
        """Let the log be copied and started anew: give up the snapshot."""
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None

    def _begin(self) -> None:
        """Begin a transaction in which the tip is known."""
        if self._snapshot is not None:
            try:
                self._execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError:  # somebody else commits, or has committed since
                self.let_go()
        self._execute("BEGIN IMMEDIATE")
        try:
            self._look_at_tip()
        except BaseException:
            self._undo()
            raise

    def _alone(self, work: Callable[[], None]) -> None:
        self._begin()
        try:
            work()
            self._execute("COMMIT")
        except BaseException:
            self._undo()
            raise

    def _note_head(self) -> None:
        self._execute(sql.NOTE_HEAD, self._tip)
        self._noted = self._tip[0]

    def _look_at_tip(self) -> None:
        row = self._execute(sql.READ_TIP).fetchone()
        if row == self._tip:
            # Nobody came between two commits. Read within the transaction, so that it is held from its end on.
            self._snapshot = self.connection.execute(sql.HOLD)
        else:
            self._catch_up(Head(*row) if row else Head(0, GENESIS))
        if len(self._runs) + len(self._owners) > _REMEMBERED:
            self._runs.clear()
            self._forget_owners()

    def _catch_up(self, tip: Head) -> None:
        """Somebody else committed: forget owners, and learn how far the remembered runs have come."""
        row = self._execute(sql.READ_HEAD).fetchone()
        if row is None:
            raise HeadMissing("the head row of the journal is missing; run `toolcrib sessions verify`")
        noted = Head(*row)
        self._forget_stretches()
        (old_seq, old_hash), self._noted = self._tip, noted.seq
        # Where the end was cut off the chain goes on after the gap, which verification will find.
        self._tip = noted if noted.seq > tip.seq else tip
        self._forget_owners()
        if not old_seq < tip.seq < old_seq + _REMEMBERED:
            self._runs.clear()
        elif self._execute(sql.HASH_AT, (old_seq,)).fetchone() != (old_hash,):
            self._runs.clear()  # the file is not the one that was written to: it was replaced
        for session_id, run_id, run_seq in self._execute(sql.RUNS_SINCE, (old_seq,)) if self._runs else ():
            if (session_id, run_id) in self._runs:
                self._runs[session_id, run_id] = run_seq

    def _take(self, ticket: Ticket) -> int | Exception:
        try:
            if ticket.owner is not None:
                self.require_owner(ticket.owner)
            if ticket.rest is not None:
                ticket.sealed = self._apart(ticket.rest)
        except (StoreError, sqlite3.IntegrityError) as error:
            return error
        # From here on nothing of this unit can fail by itself: its text is encoded and its numbers are new.
        return self._append(ticket.sealed)

    def _apart(self, work: Work) -> Sequence[Sealed]:
        """What can fail alone is undone alone."""
        self._execute("SAVEPOINT unit")
        try:
            sealed = work(self)
        except (StoreError, sqlite3.IntegrityError):
            self._execute("ROLLBACK TO unit")
            self._execute("RELEASE unit")
            raise
        self._execute("RELEASE unit")
        return sealed

    def put(self, document: Document, now: float) -> None:
        """Write a document over the version that was read; Conflict when it is another by now."""
        try:
            body = encode(document.body)
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the document {document.kind}/{document.key} cannot be stored: {error}") from error
        if document.version == 0:
            done = self._execute(sql.ADD_DOCUMENT, (document.kind, document.key, body, now))
        else:
            change = (body, now, document.kind, document.key, document.version)
            done = self._execute(sql.CHANGE_DOCUMENT, change)
        if done.rowcount == 0:
            raise Conflict(
                f"the document {document.kind}/{document.key} changed since version {document.version} was read;"
                " read it again"
            )

    def note_run(self, run: RunOpened | RunClosed) -> None:
        """Write down that a run was opened or closed."""
        if isinstance(run, RunClosed):
            self._execute(sql.CLOSE_RUN, (run.end_reason, run.ended_at, run.run_id))
            return
        parts = (run.run_id, run.session_id, run.agent_id, run.role, run.mode, run.parent_run_id, run.created_at)
        self._execute(sql.OPEN_RUN, parts)

    def _append(self, drafts: Sequence[Sealed]) -> int:
        seq, last_hash = self._tip
        for session_id, run_id, facts, salted, digest, size in drafts:
            if run_id != self._run or session_id != self._session:
                self._turn_to(session_id, run_id, seq + 1)
            seq += size
            run_seq = self._run_seq = 0 if run_id is None else self._run_seq + size
            last_hash = link(last_hash, digest, seq, run_seq, facts)
            self._links.append((seq, run_seq, facts.decode(), salted, last_hash))
            self.weight += len(salted) + _LINK_WEIGHT
        self._tip = (seq, last_hash)
        return seq

    def _turn_to(self, session_id: str, run_id: str | None, seq: int) -> None:
        """The event `seq` begins a stretch of another session or run."""
        self._remember_run()
        self._stretches.append((session_id, run_id, seq))
        self._session, self._run = run = (session_id, run_id)
        last = self._runs.get(run)
        self._run_seq = 0 if run_id is None else self._last_of_run(*run) if last is None else last

    def _remember_run(self) -> None:
        if self._run is not None:
            self._runs[self._session, self._run] = self._run_seq

    def _last_of_run(self, session_id: str, run_id: str | None) -> int:
        row = self._execute(sql.LAST_OF_RUN, (session_id, run_id, session_id, run_id)).fetchone()
        return int(row[0] or 0)

    def _forget_stretches(self) -> None:
        """Begin a new stretch with the next event; what is forgotten here is filed from the events themselves."""
        self._remember_run()
        self._stretches = []
        self._session, self._run = _NOBODY

    def _forget_owners(self) -> None:
        self._owners.clear()
        self._owner = None

    def _undo(self) -> None:
        self.let_go()
        self._links = []
        self._forget_stretches()
        self._tip = _UNKNOWN
        self._runs.clear()
        self._forget_owners()
        if self.connection.in_transaction:
            self._execute("ROLLBACK")


def _recording(unit: Unit, sealed: Sequence[Sealed], now: float) -> Work:
    """The part of a unit that is more than events."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        for document in unit.documents:
            ledger.put(document, now)
        for run in unit.runs:
            ledger.note_run(run)
        return sealed

    return work
