"""The guard: whether tools are still what operators approved, asked before they are shown and before they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from toolcrib.catalog.contract import body_of, classify
from toolcrib.catalog.neighbours import Neighbours
from toolcrib.catalog.poison import Suspicion, suspicions
from toolcrib.catalog.registry import Registry, Snapshot
from toolcrib.policy.contracts import Book, Outcome, is_foreign, outcome_of, status_of, waits
from toolcrib.ports import Store, Unit
from toolcrib.values.contract import GUARD_SESSION, Approval, Basis, Change, Enforcement, Status
from toolcrib.values.event import Draft, EventType, Level
from toolcrib.values.identity import Principal, Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import StoreError, ToolcribError
from toolcrib.values.tool import Tool

_MOST_TOLD = 10_000


class Judged(NamedTuple):
    """How one tool stands, and what follows."""

    status: Status
    outcome: Outcome
    baseline: Approval | None


class Row(NamedTuple):
    """A tool beside its baseline, as operators look at it; a tool that is gone has only its name."""

    name: str
    tool: Tool | None
    status: Status
    change: Change | None
    registered: str | None
    baseline: Approval | None


@dataclass(slots=True, eq=False)
class Guard:
    """One per process: the book of approvals as it was read last, and the tools as they first came."""

    store: Store
    registry: Registry
    enforcement: Enforcement
    books: dict[Surface, Book] = field(default_factory=dict[Surface, Book])
    first: dict[str, Tool] = field(default_factory=dict[str, Tool])
    suspects: dict[str, tuple[Suspicion, ...]] = field(default_factory=dict[str, "tuple[Suspicion, ...]"])
    _read: dict[Surface, int] = field(default_factory=dict[Surface, int])
    _noticed: Snapshot | None = None
    _told: set[tuple[Surface, str, str]] = field(default_factory=set[tuple[Surface, str, str]])

    async def look(self, surface: Surface) -> None:
        """Before a run begins: read what was approved since, and pin what is foreign and was never seen."""
        if self.enforcement is Enforcement.OFF:
            return
        self.notice()
        await self.read(surface)
        book = self.books[surface]
        if book.trouble is None:
            fresh = [each for each in self._foreign() if each.name not in book.baselines]
            if fresh:
                await self._write(surface, fresh, Basis.PINNED, "toolcrib", "first sight")

    async def read(self, surface: Surface) -> None:
        """Have the baselines of a surface as they are in the store now; unreadable ones approve nothing."""
        before = self.books.get(surface)
        try:
            count = await self.store.approval_count()
            if before is not None and before.trouble is None and self._read[surface] == count:
                return
            approved = await self.store.has_snapshot(surface)
            book = Book(await self.store.baselines(surface), approved=approved)
            self._read[surface] = count
        except StoreError as error:
            book = Book(trouble=str(error))
            self._record(EventType.CONTRACT_ERROR, Level.ERROR, {"surface": surface, "problem": str(error)})
        self.books[surface] = book
        if before is not None and (changed := before.changed(book, self.registry.snapshot)):
            self.registry.touch(changed)

    async def approve(
        self,
        surface: Surface,
        names: Iterable[str],
        basis: Basis,
        principal: Principal,
        reason: str,
        seen: Mapping[str, Tool] | None = None,
    ) -> None:
        """Add an operator's word for these tools, or for the absence of those that are gone.

        They are approved as they were `seen`: what a server made of them meanwhile nobody looked at.
        """
        snapshot = self.registry.snapshot if seen is None else seen
        here = [tool for name in names if (tool := snapshot.get(name)) is not None]
        await self._write(surface, here, basis, str(principal), reason)
        gone = [
            Approval(surface, name, "", Basis.RETIRED, str(principal), reason) for name in names if name not in snapshot
        ]
        if gone:
            await self.store.approve(gone, {})
            await self.read(surface)

    def notice(self) -> None:
        """Remember tools as they first came, and look for what foreign ones should not say."""
        snapshot = self.registry.snapshot
        if snapshot is self._noticed:
            return
        changed = None if self._noticed is None else snapshot.changed_since(self._noticed)
        self._noticed = snapshot
        for name in snapshot if changed is None else changed:
            tool = snapshot.get(name)
            if tool is None:
                self.suspects.pop(name, None)
            elif self.first.setdefault(name, tool) is tool and self.enforcement is Enforcement.ENFORCE:
                _ = tool.fingerprint  # now: once the file behind it has changed, its source would be that of another
        self._suspect([tool for name in changed or snapshot if (tool := snapshot.get(name)) and is_foreign(tool.spec)])

    def judge(self, tool: Tool, surface: Surface) -> Judged:
        """How a tool stands on a surface now."""
        book = self.books.get(surface) or Book()
        if book.trouble is not None:
            return Judged(
                Status.BASELINE_ERROR, outcome_of(tool.spec, Status.BASELINE_ERROR, self.enforcement, None), None
            )
        baseline = book.baselines.get(tool.name)
        first = self.first.get(tool.name, tool).fingerprint if self._compares_first(book) else None
        if baseline is None and not book.approved and first is None:
            return Judged(Status.UNCHECKED, Outcome.FINE, None)
        status = status_of(tool.fingerprint, baseline, first, approved=book.approved)
        return Judged(status, outcome_of(tool.spec, status, self.enforcement, baseline), baseline)

    def tell(self, tool: Tool, surface: Surface, judged: Judged) -> None:
        """Record that a tool is not what it was, once for each of its forms."""
        form = (surface, tool.name, tool.fingerprint)
        if judged.outcome is Outcome.FINE or form in self._told or len(self._told) >= _MOST_TOLD:
            return
        self._told.add(form)
        payload: JsonObject = {
            "surface": surface,
            "tool": tool.name,
            "status": judged.status,
            "outcome": judged.outcome,
            "fingerprint": tool.fingerprint,
            "baseline": None if judged.baseline is None else judged.baseline.fingerprint,
        }
        self._record(EventType.CONTRACT_DRIFT, Level.WARNING, payload)

    async def rows(self, surface: Surface) -> list[Row]:
        """Every tool beside its baseline, and those that are gone."""
        self.notice()
        await self.read(surface)
        snapshot, book = self.registry.snapshot, self.books[surface]
        found = [await self._row(tool, surface) for tool in snapshot.values()]
        gone = [each for name, each in book.baselines.items() if name not in snapshot and each.basis is not _RETIRED]
        found += [Row(each.tool, None, Status.MISSING, None, each.fingerprint, each) for each in gone]
        return sorted(found, key=lambda row: row.name)

    async def _row(self, tool: Tool, surface: Surface) -> Row:
        judged = self.judge(tool, surface)
        baseline = judged.baseline
        if judged.outcome is Outcome.FINE and waits(tool.spec, baseline):
            judged = judged._replace(status=Status.NEW)
        registered = self.first.get(tool.name, tool).fingerprint if baseline is None else baseline.fingerprint
        change: Change | None = None
        if judged.status is Status.MISMATCH:
            kept = body_of(self.first[tool.name]) if baseline is None else await self.store.contract(registered)
            change = Change.WIDENED if kept is None else classify(kept, body_of(tool))
        return Row(tool.name, tool, judged.status, change, registered, baseline)

    async def _write(self, surface: Surface, tools: list[Tool], basis: Basis, principal: str, reason: str) -> None:
        entries = [Approval(surface, tool.name, tool.fingerprint, basis, principal, reason) for tool in tools]
        try:
            await self.store.approve(entries, {tool.fingerprint: body_of(tool) for tool in tools})
        except StoreError as error:
            if basis is not Basis.PINNED:
                raise
            self.books[surface] = Book(trouble=str(error))
            return
        await self.read(surface)

    def _foreign(self) -> list[Tool]:
        return [tool for tool in self.registry.snapshot.values() if is_foreign(tool.spec)]

    def _compares_first(self, book: Book) -> bool:
        return self.enforcement is Enforcement.ENFORCE and not book.approved

    def _suspect(self, tools: list[Tool]) -> None:
        if not tools:
            return
        neighbours = Neighbours.of(tool.spec for tool in self.registry.snapshot.values())
        for tool in tools:
            found = tuple(suspicions(tool.spec, neighbours))
            if found and found != self.suspects.get(tool.name):
                said = [{"kind": each.kind, "place": each.place, "why": each.why} for each in found]
                self._record(EventType.CONTRACT_SUSPECT, Level.WARNING, {"tool": tool.name, "reasons": said})
            if found:
                self.suspects[tool.name] = found
            else:
                self.suspects.pop(tool.name, None)

    def _record(self, kind: EventType, level: Level, payload: JsonObject) -> None:
        try:
            self.store.queue(Unit((Draft(kind, GUARD_SESSION, level=level, payload=payload),)))
        except ToolcribError:
            return  # a store that takes nothing has refused the run itself


_RETIRED = Basis.RETIRED


@frozen
class Post:
    """The guard as the effective sets of one surface ask it."""

    guard: Guard
    surface: Surface

    def hides(self, tool: Tool) -> str | None:
        """Why a tool must not even be shown; None when it may be."""
        if not is_foreign(tool.spec):
            return None
        judged = self.guard.judge(tool, self.surface)
        if judged.outcome is not Outcome.FINE:
            self.guard.tell(tool, self.surface, judged)
        return why_not(tool, self.surface, judged) if judged.outcome is Outcome.HIDE else None

    def refuses(self, tool: Tool) -> str | None:
        """Why a tool must not run as it is now; None when it may."""
        judged = self.guard.judge(tool, self.surface)
        if judged.outcome is Outcome.FINE:
            return None
        self.guard.tell(tool, self.surface, judged)
        return why_not(tool, self.surface, judged) if judged.outcome is not Outcome.TELL else None


def why_not(tool: Tool, surface: Surface, judged: Judged) -> str:
    """What an agent is told; nothing of what the tool says of itself now is in it."""
    return f"{_WHY[judged.status]}; an operator can look at it: toolcrib guard diff {tool.name} --surface {surface}"


_WHY: Mapping[Status, str] = {
    Status.MISMATCH: "it is no longer the tool that was approved",
    Status.NEW: "nobody has approved it yet",
    Status.BASELINE_ERROR: "what was approved of it cannot be read",
}
