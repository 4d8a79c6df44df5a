"""`ToolIndex`: the search engine of the catalog, usable on its own."""

import sys
from collections.abc import Callable, Collection, Container, Iterable
from enum import Enum
from heapq import heappop, heappush
from types import ModuleType
from typing import NamedTuple

from toolcrib.catalog.index.document import Described, Document, Kind, meaning_text, read_document, weigh_document
from toolcrib.catalog.index.names import NAME_LIMIT, Keys, Names, Rank
from toolcrib.catalog.index.packing import pack_columns
from toolcrib.catalog.index.postings import AddUp, Best, Found, Postings, Rarities, add_up, cut
from toolcrib.catalog.index.query import Query, weigh_query
from toolcrib.catalog.index.ranking import (
    NAME_COVERAGE,
    Hit,
    Meaning,
    Memory,
    Scores,
    explain,
    explained_share,
    fuse,
    lifted,
    name_lifts,
    places_of,
)
from toolcrib.catalog.index.request import read_query
from toolcrib.catalog.index.snapshot import Contents, pack, unpack
from toolcrib.catalog.index.spelling import Spelling
from toolcrib.catalog.index.synonyms import read_synonyms
from toolcrib.catalog.index.usage import UNTRIED, Readings, Recollection, UsageMemory, read_queries
from toolcrib.catalog.index.words import Analyzer, key_of
from toolcrib.catalog.uncollected import uncollected

DEPTH = 40
DEEPER = 8
NEAREST = 50
ANY = sys.maxsize
NAME_LIFT = 1.0 + NAME_COVERAGE

Allowed = Collection[str] | Callable[[str], bool]
Admits = Callable[[int], bool]


class Arithmetic(Enum):
    """What adds up the scores; the results are the same."""

    FASTEST = "numpy where it is installed, else plain Python"
    PLAIN = "plain Python"


class ToolIndex:
    """Finds tools, skills and agents by name, alias or description.

    Reading is safe from several threads; adding and removing need the index to themselves.
    """

    def __init__(self, *, meaning: Meaning | None = None, arithmetic: Arithmetic = Arithmetic.FASTEST) -> None:
        self._contents = Contents([], [], [], [], Postings(), Names())
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._analyzer = Analyzer()
        self._synonyms = read_synonyms()
        self._spelling: Spelling | None = None
        self._recollection: tuple[UsageMemory, Recollection] | None = None
        self._readings: Readings = {}
        self._meaning = meaning
        self._rarities: Rarities | None = None
        self._dense = _numpy_arithmetic() if arithmetic is Arithmetic.FASTEST else None
        self._add_up: AddUp = self._dense.add_up if self._dense is not None else add_up

    @classmethod
    def build(
        cls,
        specs: Iterable[Described],
        *,
        meaning: Meaning | None = None,
        arithmetic: Arithmetic = Arithmetic.FASTEST,
    ) -> "ToolIndex":
        """An index of these definitions; of two with one name the later counts."""
        by_name = {spec.name: spec for spec in specs}
        if meaning is not None:
            meaning.put({name: meaning_text(spec) for name, spec in by_name.items()})
        with uncollected():
            index = cls(meaning=meaning, arithmetic=arithmetic)
            documents = (read_document(by_name[name], index._analyzer) for name in sorted(by_name))
            pack_all = pack_columns if index._dense is None else index._dense.pack_columns
            index._contents.postings = pack_all(map(index._enter, documents))
        return index

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, name: object) -> bool:
        return name in self._slots

    def add(self, spec: Described) -> None:
        """Index a definition; one of the same name is replaced."""
        document = read_document(spec, self._analyzer)
        if self._meaning is not None:
            self._meaning.put({spec.name: meaning_text(spec)})
        if spec.name in self._slots:
            self._delete(spec.name)
        self._insert(document)

    def remove(self, name: str) -> None:
        """Take a definition out; raises KeyError when there is none of that name."""
        self._delete(name)
        if self._meaning is not None:
            self._meaning.drop(name)

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        allowed: Allowed | None = None,
        kinds: Collection[Kind] | None = None,
        usage: UsageMemory | None = None,
    ) -> list[Hit]:
        """The best `limit` answers, best first; ties go by name.

        `allowed` is what the caller may see, as names or as a test of a name. What the query calls by its exact name
        or alias always comes first; `usage` can lift a tool only below that.
        """
        admits = self._admission(allowed, kinds)
        called = self._contents.names.called(query)
        if admits is not None:
            called = {slot: rank for slot, rank in called.items() if admits(slot)}
        asked = weigh_query(
            read_query(query, self._analyzer), self._contents.postings, self._rarity(), self._synonyms, self._words
        )
        scores = self._score(query, asked, called, limit, _Filter(admits, self._within(allowed)), self._recall(usage))
        fused = fuse(scores, called)
        names, kind_of = self._contents.names_by_slot, self._contents.kinds
        order = self._ordered(fused, called, key_of(query[:NAME_LIMIT]) if called else "")
        places = places_of(asked)
        return [
            Hit(
                names[slot],
                called.get(slot, Rank.WORDS) + fused[slot],
                explain(slot, called.get(slot, Rank.WORDS), places, scores),
                Kind(kind_of[slot]),
            )
            for slot in order[: max(0, limit)]
        ]

    def _score(
        self,
        query: str,
        asked: Query,
        called: dict[int, Rank],
        limit: int,
        filtering: "_Filter",
        recalled: Recollection | None,
    ) -> Scores:
        contents = self._contents
        reach = limit if self._meaning is None else ANY
        gains = asked.gains() if recalled is None else recalled.gains(asked)
        sums = self._add_up(gains, len(contents.kinds))
        found = _within_reach(self._candidates(sums.best_alone, limit, filtering), reach, called, NAME_LIFT)
        if recalled is None:
            lexical = lifted(found, name_lifts(found, asked.weights, contents.name_terms, self._rarity()))
            return Scores(lexical, self._meant(query, lexical, filtering), None)
        likeness = self._liked(recalled, asked, filtering)
        kept = called.keys() | likeness.keys()
        together = self._candidates(sums.best_together, limit, filtering)
        joined = recalled.joined(found, _within_reach(together, reach, kept, NAME_LIFT * UNTRIED))
        lifts = name_lifts(joined, asked.weights, contents.name_terms, self._rarity())
        memory = Memory(likeness, lifted(found, lifts), explained_share(asked, found))
        lexical = lifted(joined, lifts)
        return Scores(lexical, self._meant(query, lexical, filtering), memory)

    def _ordered(self, fused: dict[int, float], called: dict[int, Rank], key: str) -> list[int]:
        """Best first. Of tools with the alias that was asked for, the one that lists it earlier comes before."""
        names, keys = self._contents.names_by_slot, self._contents.keys
        order = sorted(fused, key=names.__getitem__)
        order.sort(key=fused.__getitem__, reverse=True)
        if called:
            places = {slot: keys[slot].split(" ").index(key, 2) for slot, rank in called.items() if rank is Rank.ALIAS}
            order.sort(key=lambda slot: (-called.get(slot, Rank.WORDS), places.get(slot, 0)))
        return order

    def snapshot(self) -> bytes:
        """The index as bytes, for `from_snapshot`; vectors are not part of it."""
        return pack(self._contents)

    @classmethod
    def from_snapshot(cls, data: bytes, *, arithmetic: Arithmetic = Arithmetic.FASTEST) -> "ToolIndex":
        """An index as it was; raises SnapshotError when the bytes are damaged or from another version."""
        with uncollected():
            index = cls(arithmetic=arithmetic)
            index._contents = unpack(data)
        for slot, name in enumerate(index._contents.names_by_slot):
            if name:
                index._slots[name] = slot
            else:
                heappush(index._free, slot)
        return index

    def _insert(self, document: Document) -> None:
        postings = self._contents.postings
        self._enter(document)
        weights, fields = weigh_document(document)
        if self._spelling is not None:
            for term in weights:
                if term not in postings:
                    self._spelling.add(term)
        postings.insert(self._slots[document.name], weights.items(), fields)
        self._recollection = self._rarities = None

    def _enter(self, document: Document) -> Document:
        """Give a document its slot and names; its terms are still to be posted."""
        contents = self._contents
        slot = heappop(self._free) if self._free else contents.grow()
        contents.in_order &= slot == 0 or contents.names_by_slot[slot - 1] < document.name
        contents.in_order &= slot + 1 == len(contents.names_by_slot)
        contents.names_by_slot[slot] = document.name
        contents.kinds[slot] = document.kind.value
        contents.name_terms[slot] = " ".join(document.name_terms)
        contents.keys[slot] = " ".join((document.keys.full, document.keys.last, *document.keys.aliases))
        contents.names.insert(slot, document.keys)
        self._slots[document.name] = slot
        return document

    def _delete(self, name: str) -> None:
        contents = self._contents
        slot = self._slots.pop(name)
        full, last, *aliases = contents.keys[slot].split(" ")
        contents.names.delete(slot, Keys(full, last, tuple(aliases)))
        contents.names_by_slot[slot] = contents.keys[slot] = contents.name_terms[slot] = ""
        contents.postings.delete(slot)
        heappush(self._free, slot)
        self._spelling = self._recollection = self._rarities = None

    def _admission(self, allowed: Allowed | None, kinds: Collection[Kind] | None) -> Admits | None:
        """A test of a slot; None where everything is admitted."""
        if allowed is None and kinds is None:
            return None
        names, kind_of = self._contents.names_by_slot, self._contents.kinds
        permits: Callable[[str], bool] | None = allowed if callable(allowed) else None
        listed = None if allowed is None or callable(allowed) else allowed

        def admits(slot: int) -> bool:
            name = names[slot]
            if (listed is not None and name not in listed) or (permits is not None and not permits(name)):
                return False
            return kinds is None or kind_of[slot] in kinds

        return admits

    def _within(self, allowed: Allowed | None) -> list[int] | None:
        """The slots of names that are so few that it pays to look at them alone."""
        if allowed is None or callable(allowed) or len(allowed) * 4 >= len(self):
            return None
        return sorted(self._slots[name] for name in set(allowed) if name in self._slots)

    def _candidates(self, best: Best, limit: int, filtering: "_Filter") -> Found:
        """The highest sums that are admitted, looking deeper while too few are."""
        wanted = depth = max(DEPTH, 2 * limit)
        while True:
            found = best(depth, filtering.within, self._contents.earlier)
            admitted = filtering.admitted(found)
            if len(admitted) >= wanted or len(found) < depth:
                return cut(admitted, wanted, self._contents.names_by_slot)
            depth *= DEEPER

    def _rarity(self) -> Rarities:
        if self._rarities is None:
            self._rarities = Rarities(self._contents.postings, len(self))
        return self._rarities

    def _recall(self, usage: UsageMemory | None) -> Recollection | None:
        if usage is None or not usage.past:
            return None
        if self._recollection is None or self._recollection[0] is not usage:
            self._readings = read_queries(usage, self._analyzer, self._readings)
            fresh = Recollection(usage, self._readings, self._contents.postings, self._slots)
            self._recollection = (usage, fresh)
        return self._recollection[1] or None

    def _liked(self, recalled: Recollection, asked: Query, filtering: "_Filter") -> Found:
        return filtering.admitted(recalled.likeness(asked.words.stress, self._add_up))

    def _meant(self, query: str, lexical: Found, filtering: "_Filter") -> Found:
        if self._meaning is None or not query.strip():
            return {}
        names = self._contents.names_by_slot
        near = self._meaning.likeness(query, [names[slot] for slot in lexical], NEAREST)
        return filtering.admitted({self._slots[name]: score for name, score in near.items() if name in self._slots})

    def _words(self) -> Spelling:
        if self._spelling is None:
            self._spelling = Spelling(self._contents.postings.terms())
        return self._spelling


class _Filter(NamedTuple):
    """What the caller may see."""

    admits: Admits | None
    within: list[int] | None

    def admitted(self, found: Found) -> Found:
        admits = self.admits
        return found if admits is None else {slot: score for slot, score in found.items() if admits(slot)}


def _within_reach(found: Found, limit: int, kept: Container[int], lift: float) -> Found:
    """Those that a lift can still bring among the first `limit`, and those kept in any case."""
    if len(found) <= limit or limit < 1:
        return found
    last = sorted(found.values(), reverse=True)[limit - 1] / lift
    return {slot: score for slot, score in found.items() if score >= last or slot in kept}


def _numpy_arithmetic() -> ModuleType | None:
    try:
        from toolcrib.catalog.index import dense
    except ImportError:
        return None
    return dense
