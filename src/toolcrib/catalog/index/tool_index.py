"""`ToolIndex`: the search engine of the catalog, usable on its own."""

import sys
from collections.abc import Callable, Collection, Container, Iterable
from enum import Enum
from functools import cache, partial
from heapq import heappop, heappush, nlargest
from types import ModuleType

from toolcrib.catalog.index import postings as plain
from toolcrib.catalog.index.document import Described, Document, Kind, meaning_text, read_document
from toolcrib.catalog.index.names import NAME_LIMIT, Keys, Names, Rank
from toolcrib.catalog.index.postings import Candidate, Earlier, Gain, Postings, cut
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
    name_coverage,
    places_of,
)
from toolcrib.catalog.index.request import read_query
from toolcrib.catalog.index.snapshot import Contents, pack, unpack
from toolcrib.catalog.index.spelling import Spelling
from toolcrib.catalog.index.synonyms import read_synonyms
from toolcrib.catalog.index.usage import UNTRIED, Readings, Recollection, UsageMemory, read_queries
from toolcrib.catalog.index.words import Analyzer, key_of

DEPTH = 40
DEEPER = 8
NEAREST = 50
ANY = sys.maxsize
NAME_LIFT = 1.0 + NAME_COVERAGE

Allowed = Collection[str] | Callable[[str], bool]


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
        self._dense = _numpy_arithmetic() if arithmetic is Arithmetic.FASTEST else None

    @classmethod
    def build(
        cls,
        specs: Iterable[Described],
        *,
        meaning: Meaning | None = None,
        arithmetic: Arithmetic = Arithmetic.FASTEST,
    ) -> "ToolIndex":
        """An index of these definitions; of two with one name the later counts."""
        index = cls(meaning=meaning, arithmetic=arithmetic)
        by_name = {spec.name: spec for spec in specs}
        if meaning is not None:
            meaning.put({name: meaning_text(spec) for name, spec in by_name.items()})
        documents = (read_document(by_name[name], index._analyzer) for name in sorted(by_name))
        if index._dense is not None:
            index._contents.postings = index._dense.pack_columns(map(index._enter, documents))
        else:
            for document in documents:
                index._insert(document)
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
        asked = weigh_query(
            read_query(query, self._analyzer), self._contents.postings, len(self), self._synonyms, self._words
        )
        called = {slot: rank for slot, rank in self._contents.names.called(query).items() if admits(slot)}
        recalled = self._recall(usage)
        best = partial(self._candidates, limit=limit, allowed=allowed, admits=admits)
        reach = limit if self._meaning is None else ANY
        found = _within_reach(best(self._contents.postings.gains(asked.concepts)), reach, called, NAME_LIFT)
        lift = cache(partial(self._lift, asked.weights))
        lexical = _lifted(found, lift)
        memory: Memory | None = None
        if recalled is not None:
            memory = Memory(self._liked(recalled, asked, admits), lexical, explained_share(asked, found))
            kept = called.keys() | memory.likeness.keys()
            together = _within_reach(best(recalled.gains(asked)), reach, kept, NAME_LIFT * UNTRIED)
            lexical = _lifted(recalled.joined(found, together), lift)
        scores = Scores(lexical, self._meant(query, lexical, admits), memory)
        fused = fuse(scores, called)
        names = self._contents.names_by_slot
        order = self._ordered(fused, called, key_of(query[:NAME_LIMIT]))
        places = places_of(asked, self._contents.postings)
        return [
            Hit(
                names[slot],
                called.get(slot, Rank.WORDS) + fused[slot],
                explain(slot, called.get(slot, Rank.WORDS), places, scores),
                Kind(self._contents.kinds[slot]),
            )
            for slot in order[: max(0, limit)]
        ]

    def _ordered(self, fused: dict[int, float], called: dict[int, Rank], key: str) -> list[int]:
        """Best first. Of tools with the alias that was asked for, the one that lists it earlier comes before."""
        names, keys = self._contents.names_by_slot, self._contents.keys
        places = {slot: keys[slot].split(" ").index(key, 2) for slot, rank in called.items() if rank is Rank.ALIAS}
        return sorted(
            fused, key=lambda slot: (-called.get(slot, Rank.WORDS), places.get(slot, 0), -fused[slot], names[slot])
        )

    def snapshot(self) -> bytes:
        """The index as bytes, for `from_snapshot`; vectors are not part of it."""
        return pack(self._contents)

    @classmethod
    def from_snapshot(cls, data: bytes, *, arithmetic: Arithmetic = Arithmetic.FASTEST) -> "ToolIndex":
        """An index as it was; raises SnapshotError when the bytes are damaged or from another version."""
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
        if self._spelling is not None:
            for term in document.weights:
                if term not in postings:
                    self._spelling.add(term)
        postings.insert(self._slots[document.name], document.weights.items(), document.fields)
        self._recollection = None

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
        self._spelling = None
        self._recollection = None

    def _admission(self, allowed: Allowed | None, kinds: Collection[Kind] | None) -> Callable[[int], bool]:
        names, kind_of = self._contents.names_by_slot, self._contents.kinds
        permits: Callable[[str], bool] | None = allowed if callable(allowed) else None
        listed = None if allowed is None or callable(allowed) else allowed

        def admits(slot: int) -> bool:
            name = names[slot]
            if (listed is not None and name not in listed) or (permits is not None and not permits(name)):
                return False
            return kinds is None or kind_of[slot] in kinds

        return admits

    def _candidates(
        self, gains: list[Gain], limit: int, allowed: Allowed | None, admits: Callable[[int], bool]
    ) -> list[Candidate]:
        """The highest sums that are admitted, looking deeper while too few are."""
        within: list[int] | None = None
        if allowed is not None and not callable(allowed) and len(allowed) * 4 < len(self):
            within = sorted(self._slots[name] for name in set(allowed) if name in self._slots)
        wanted = depth = max(DEPTH, 2 * limit)
        while True:
            found = self._best(gains, depth, len(self._contents.kinds), self._contents.earlier, within)
            admitted = [candidate for candidate in found if admits(candidate.slot)]
            if len(admitted) >= wanted or len(found) < depth:
                return cut(admitted, wanted, self._contents.names_by_slot)
            depth *= DEEPER

    def _best(
        self, gains: list[Gain], keep: int, size: int, earlier: Earlier, within: list[int] | None = None
    ) -> list[Candidate]:
        if self._dense is None:
            return plain.best_candidates(gains, keep, within, earlier)
        return self._dense.best_candidates(gains, keep, within, earlier, size)

    def _lift(self, weights: dict[str, float], slot: int) -> float:
        """How much more a tool counts because its name is covered by the query."""
        contents = self._contents
        return name_coverage(contents.name_terms[slot], weights, partial(contents.postings.rarity, documents=len(self)))

    def _recall(self, usage: UsageMemory | None) -> Recollection | None:
        if usage is None or not usage.past:
            return None
        if self._recollection is None or self._recollection[0] is not usage:
            self._readings = read_queries(usage, self._analyzer, self._readings)
            fresh = Recollection(usage, self._readings, self._contents.postings, self._slots)
            self._recollection = (usage, fresh)
        return self._recollection[1] or None

    def _liked(self, recalled: Recollection, asked: Query, admits: Callable[[int], bool]) -> dict[int, float]:
        likeness = recalled.likeness(asked.words.stress, self._best)
        return {slot: score for slot, score in likeness.items() if admits(slot)}

    def _meant(self, query: str, lexical: dict[int, float], admits: Callable[[int], bool]) -> dict[int, float]:
        if self._meaning is None or not query.strip():
            return {}
        names = self._contents.names_by_slot
        near = self._meaning.likeness(query, [names[slot] for slot in lexical], NEAREST)
        slots = {self._slots[name]: score for name, score in near.items() if name in self._slots}
        return {slot: score for slot, score in slots.items() if admits(slot)}

    def _words(self) -> Spelling:
        if self._spelling is None:
            self._spelling = Spelling(self._contents.postings.terms())
        return self._spelling


def _lifted(found: list[Candidate], lift: Callable[[int], float]) -> dict[int, float]:
    """Sums lifted, scaled so that the best is 1."""
    sums = {slot: score * lift(slot) for slot, score in found}
    highest = max(sums.values(), default=1.0)
    return {slot: score / highest for slot, score in sums.items()}


def _within_reach(found: list[Candidate], limit: int, kept: Container[int], lift: float) -> list[Candidate]:
    """Those that a lift can still bring among the first `limit`, and those kept in any case."""
    if len(found) <= limit or limit < 1:
        return found
    last = nlargest(limit, (candidate.score for candidate in found))[-1] / lift
    return [candidate for candidate in found if candidate.score >= last or candidate.slot in kept]


def _numpy_arithmetic() -> ModuleType | None:
    try:
        from toolcrib.catalog.index import dense
    except ImportError:
        return None
    return dense
