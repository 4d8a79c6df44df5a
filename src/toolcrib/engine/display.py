"""What one run shows of its tools: the list that a provider gets, what searches added, and what was pushed out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from toolcrib.catalog.discovery.activation import Activation
from toolcrib.catalog.discovery.finding import Answer, By, Catalog, Wanted
from toolcrib.catalog.discovery.lines import signature, summary
from toolcrib.catalog.discovery.listing import Listing, is_true, listing
from toolcrib.catalog.discovery.meta import CALL, introduced
from toolcrib.catalog.discovery.minify import Omission, minify
from toolcrib.catalog.discovery.showing import Mode
from toolcrib.catalog.index import Entry, Kind, UsageMemory
from toolcrib.engine.discovery import closed
from toolcrib.ports import Unit
from toolcrib.values.event import Draft
from toolcrib.values.json import JsonObject
from toolcrib.values.name import ENVELOPE, SEARCH, NameTable
from toolcrib.values.receipt import Receipt
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

if TYPE_CHECKING:
    from toolcrib.engine.discovery import Discovery
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.held import Held
    from toolcrib.engine.run import Run

ACTIVATED, EVICTED = "tools_activated", "tools_evicted"
ASKED_LIMIT = 500
ASKED_LENGTH = 4_000
"""Longer requests are answered, but they say too much to be remembered."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
Advertiser = Callable[[Iterable[ToolSpec], NameTable, str], list[JsonObject]]


class Display:
    """One run's view. Whatever it shows is part of the effective set; nothing here lets anything run."""

    def __init__(self, run: Run, discovery: Discovery, held: Held, view: str) -> None:
        self.run = run
        self.held = held
        self._discovery = discovery
        self._replaces = discovery.showing.mode is Mode.REPLACE
        self._lists: dict[tuple[str, tuple[str, ...]], list[JsonObject]] = {}
        self._catalog: Catalog | None = None
        self._usage: UsageMemory | None = None
        self._asked: dict[str, str] = {}
        self._lessons: dict[tuple[str, str], None] = {}
        specs = run.tools.specs
        unusable = closed(specs, run.tools)
        self._specs = {spec.name: spec for spec in specs if spec.name not in unusable}
        self._pinned = discovery.pinned(self._specs)
        self.listing = self._opening(view)

    @property
    def mode(self) -> Mode:
        return Mode.REPLACE if self._replaces else Mode.APPEND

    @property
    def active(self) -> tuple[str, ...]:
        """Pinned tools and those that a search or a call made active."""
        return tuple(name for name in self._activation.shown if name in self._specs)

    @property
    def dropped(self) -> dict[str, tuple[Omission, ...]]:
        """Per tool that is sent as a definition: what its schema no longer says."""
        return {spec.name: minify(spec.input_schema).dropped for spec in self._defined()}

    def advertised(self, provider: str, advertiser: Advertiser) -> list[JsonObject]:
        """The provider's list: the meta-tools, then pinned tools, then (where they replace each other) active ones."""
        defined = self._defined()
        key = (provider, tuple(spec.name for spec in defined))
        known = self._lists.get(key)
        if known is None:
            search = introduced(self._specs[SEARCH], self.listing)
            specs = [search, *([] if self._replaces else [CALL]), *map(_short, defined)]
            names = NameTable.build([*(spec.name for spec in specs), ENVELOPE])
            self._lists.clear()
            known = self._lists[key] = advertiser(specs, names, provider)
        return list(known)

    async def find(self, wanted: Wanted) -> Answer:
        """Answer a search from what this run may use, and make what was found active."""
        catalog = self._catalog or await self._open_catalog()
        answer = catalog.answer(wanted)
        if self._replaces:
            answer = replace(answer, found=tuple(replace(found, signature="") for found in answer.found))
        if answer.tools:
            self._activate(answer.tools, f"found by {wanted.by.value}")
        if wanted.by is By.QUERY and len(wanted.text) <= ASKED_LENGTH:
            self._asked.update((name, wanted.text) for name in answer.tools)
            _bound(self._asked)
        return answer

    def settled(self, flight: Flight, result: ToolResult) -> None:
        """A call was settled: a tool that was let through is active now; if it worked, its search was a good one."""
        name = result.name
        if flight.permit is None or name == SEARCH:
            return
        recent = self.held.activation.recent
        if not recent or recent[-1] != name:
            self._activate((name,), "called by name")
        if self._asked and result.ok and (query := self._asked.pop(name, None)) is not None:
            self._lessons[name, query] = None
            _bound(self._lessons)

    def compacted(self) -> str:
        """The conversation was shortened: evict down to the ceiling, and tell again what only answers had told."""
        self._fit("the conversation was compacted")
        sent = {spec.name for spec in self._defined()}
        specs = [self._specs[name] for name in self.active if name not in sent]
        return "\n".join(f"{signature(spec)} - {summary(spec)}" for spec in specs)

    def lessons(self) -> list[tuple[str, str]]:
        """(tool, query) pairs that are worth remembering, without secrets."""
        redact = self.run.runtime.redactor.text
        return [(name, redact(query)[0]) for name, query in self._lessons]

    def reopen(self) -> None:
        """Go on where the session was left, within a ceiling that may be another by now."""
        if self._replaces:
            self._fit("the session was taken up again")
        self.keep()

    def keep(self) -> None:
        """Write down what is shown and in which order it was used, unless that is on record."""
        if not self.held.stored:
            self._keep(())

    def _activate(self, names: tuple[str, ...], because: str) -> None:
        held = self.held
        before = self._activation
        after = before.found(names)
        if after is before or after.recent == before.recent:
            return
        evicted: tuple[str, ...] = ()
        if self._replaces:
            after, gone = after.bounded()
            evicted = tuple(name for name in gone if name in before)  # what there was no room for never came in
        held.activation = after
        held.stored = False
        fresh = [name for name in names if name in after and name not in before]
        why = self._because("others were used more recently")
        if fresh:
            told = {"evicted": list(evicted), "evicted_because": why} if evicted else {}
            self._note(ACTIVATED, {"tools": fresh, "because": because, **told})
        elif evicted:
            self._note(EVICTED, {"tools": list(evicted), "because": why})

    def _fit(self, occasion: str) -> None:
        self.held.activation, evicted = self._activation.bounded()
        if evicted:
            self._note(EVICTED, {"tools": list(evicted), "because": self._because(occasion)})

    def _because(self, occasion: str) -> str:
        return f"{occasion}, and at most {self.held.activation.ceiling} tools are active; search finds it again"

    def _note(self, kind: str, payload: JsonObject) -> None:
        self._keep((self.run.draft(kind, None, payload),))

    def _keep(self, drafts: tuple[Draft, ...]) -> None:
        """Record events together with the state they lead to."""
        run, documents = self.run, self.held.documents()
        if drafts or documents:
            kept = run.runtime.store.append(Unit(drafts, run.ownership, documents))
            kept.add_done_callback(self._was_kept)

    def _was_kept(self, kept: Receipt) -> None:
        if kept.exception() is not None:
            self.held.not_kept()

    def _defined(self) -> list[ToolSpec]:
        names = self.active if self._replaces else self._pinned
        return [self._specs[name] for name in names if name in self._specs and name != SEARCH]

    @property
    def _activation(self) -> Activation:
        """What the session's runs have in common, with the pinned tools that this one has."""
        return replace(self.held.activation, pinned=self._pinned)

    def _opening(self, view: str) -> Listing:
        """What such runs of the session began with, while it is still true: a provider's cache holds it."""
        rest = [spec for spec in self._specs.values() if spec.name != SEARCH]
        told = self.held.openings.get(view)
        if told is None or not is_true(told, rest):
            told = listing(rest, self._discovery.showing.listing_tokens, self._discovery.estimator)
            self.held.open(view, told)
        return told

    async def _open_catalog(self) -> Catalog:
        """The run's own view of the index: its tools, and the usage memory as it is now."""
        discovery = self._discovery
        if (memories := discovery.memories()) is not None:
            self._usage = await memories.of(self.run.agent.agent_id)
        specs = {name: spec for name, spec in self._specs.items() if name != SEARCH}
        entries = {name: entry for name, entry in discovery.entries.items() if self._may_meet(entry)}
        allowed = specs.keys() | entries.keys()
        index = await discovery.index()
        self._catalog = Catalog(
            specs,
            entries,
            lambda text, limit: index.search(text, limit, allowed=allowed, usage=self._usage),
        )
        return self._catalog

    def _may_meet(self, entry: Entry) -> bool:
        """Agents are found by those that may start them; what has the name of a tool would be mistaken for it."""
        from toolcrib.engine.children import may_start  # which needs the run

        if entry.name in self.run.tools.snapshot:
            return False
        return entry.kind is not Kind.AGENT or may_start(self.run, entry.name)


def _bound(kept: dict[_Key, _Value]) -> None:
    """The oldest make room."""
    while len(kept) > ASKED_LIMIT:
        del kept[next(iter(kept))]


def _short(spec: ToolSpec) -> ToolSpec:
    return replace(spec, input_schema=minify(spec.input_schema).schema)
