"""How the parts of a score become one order, and how a hit is explained."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from typing import NamedTuple, Protocol

from toolcrib.catalog.index.document import FIELDS, Kind
from toolcrib.catalog.index.names import Rank
from toolcrib.catalog.index.postings import Found, Rarities
from toolcrib.catalog.index.query import Query, Reason

NAME_COVERAGE = 0.2
USAGE_SHARE = 0.35
EXPLAINED_SHARE = 0.6
EXPECTED = 0.2
EXPLAINING = 3
STEADY = 0.999
STEADINESS = 3
MEANING_SHARE = 0.35
LEAST_MEANING = 0.25
REASONS = 6
EXPLAINED = 24


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. Scores compare only within one answer list; 1 and more means called by name."""

    name: str
    score: float
    why: str
    kind: Kind = Kind.TOOL


class Meaning(Protocol):
    """Nearness in meaning, from vectors kept per name."""

    def put(self, texts: Mapping[str, str]) -> None: ...
    def drop(self, name: str) -> None: ...
    def likeness(self, query: str, names: Iterable[str], nearest: int) -> Mapping[str, float]:
        """Cosines of the query with these names and with the `nearest` closest of all."""
        ...


class Memory(NamedTuple):
    """What past queries say, and what would be said without them."""

    likeness: dict[int, float]
    """Slot → how much the request resembles its past queries."""
    alone: dict[int, float]
    """The lexical scores by the definitions alone."""
    explained: float
    """How much of the request the best definitions hold together, 0..1."""


class Scores(NamedTuple):
    """The parts of the scores, each slot → 0..1 or a little more."""

    lexical: dict[int, float]
    meaning: dict[int, float]
    memory: Memory | None


class Place(NamedTuple):
    """The slots that hold a term, the first field in each, and why the term was looked for."""

    slots: "array[int] | memoryview[int]"
    fields: "array[int] | memoryview[int]"
    reason: Reason


def fuse(scores: Scores, called: Mapping[int, Rank]) -> dict[int, float]:
    """One score below 1 per slot: a convex sum of what is there."""
    base = _with_meaning(scores.lexical, scores.meaning)
    if scores.memory is not None:
        base = _with_memory(base, _with_meaning(scores.memory.alone, scores.meaning), scores.memory)
    fused = {slot: 0.999 * score for slot, score in _scaled(base, 1.0).items()}
    return fused | {slot: fused.get(slot, 0.0) for slot in called}


def _with_meaning(base: dict[int, float], meaning: dict[int, float]) -> dict[int, float]:
    if not meaning:
        return base
    near = {slot: score for slot, score in meaning.items() if score >= LEAST_MEANING or slot in base}
    nearest = max(LEAST_MEANING, *near.values()) if near else 1.0
    return _convex(base, {slot: score / nearest for slot, score in near.items()}, MEANING_SHARE)


def _with_memory(base: dict[int, float], alone: dict[int, float], memory: Memory) -> dict[int, float]:
    """Likeness counts beyond what a tool's own score lets expect, and less where definitions explain the request.

    What stands far ahead without the memory keeps its place beside what the memory lifts.
    """
    beyond = {slot: max(0.0, score - EXPECTED * base.get(slot, 0.0)) for slot, score in memory.likeness.items()}
    share = USAGE_SHARE * (1.0 - EXPLAINED_SHARE * memory.explained)
    lifted = _scaled(_convex(base, beyond, share), 0.0)
    steady = {slot: STEADY * score**STEADINESS for slot, score in _scaled(alone, 0.0).items()}
    return {slot: max(lifted.get(slot, 0.0), steady.get(slot, 0.0)) for slot in lifted.keys() | steady.keys()}


def _scaled(scores: dict[int, float], least: float) -> dict[int, float]:
    """Scores as parts of the highest, or of the least that the highest counts as."""
    highest = max(scores.values(), default=0.0)
    highest = max(highest, least) or 1.0
    return {slot: score / highest for slot, score in scores.items()}


def name_lifts(
    slots: Iterable[int], weights: Mapping[str, float], name_terms: list[str], rarities: Rarities
) -> dict[int, float]:
    """Slot → a factor from 1 upwards: how much of its name, by rarity, the query holds."""
    factors: dict[int, float] = {}
    for slot in slots:
        terms = name_terms[slot].split()
        held = total = 0.0
        if not weights.keys().isdisjoint(terms):
            for term in terms:
                rare = rarities[term]
                total += rare
                held += min(rare, weights.get(term, 0.0))
        factors[slot] = 1.0 + NAME_COVERAGE * held / total if total else 1.0
    return factors


def lifted(found: Found, factors: Mapping[int, float]) -> Found:
    """Sums times their factors, scaled so that the best is 1."""
    sums = {slot: score * factors[slot] for slot, score in found.items()}
    highest = max(sums.values(), default=1.0)
    return {slot: score / highest for slot, score in sums.items()}


def explained_share(query: Query, found: Found) -> float:
    """How much of a request the best definitions hold together, 0..1: a request may be about several tools."""
    asked = sum(max(concept.values()) for concept in query.concepts)
    least = min(nlargest(EXPLAINING, found.values()), default=0.0)
    # Equals are all taken: which slots they have tells only in which order they were added.
    best = [slot for slot, score in found.items() if score >= least]
    return sum(_most_held(query, concept, best) for concept in query.concepts) / asked if asked else 0.0


def _most_held(query: Query, concept: Mapping[str, float], slots: list[int]) -> float:
    """The most that one of these slots gains by a concept."""
    most = 0.0
    for term, weight in concept.items():
        column = query.columns[term]
        for slot in slots:
            at = bisect_left(column.slots, slot)
            if at < len(column.slots) and column.slots[at] == slot:
                most = max(most, weight * column.weights[at])
    return most


def explain(slot: int, rank: Rank, places: Iterable[Place], scores: Scores) -> str:
    """Why a slot was found, in a few words."""
    reasons = [RANK_REASONS[rank]] if rank else []
    by_field: dict[str, list[str]] = {}
    explained: set[str] = set()
    for slots, fields, reason in places:
        if reason.spelt in explained:
            continue
        at = bisect_left(slots, slot)
        if at < len(slots) and slots[at] == slot:
            explained.add(reason.spelt)
            by_field.setdefault(LABELS[fields[at]], []).append(str(reason))
    reasons += [f"{label}: {', '.join(terms[:REASONS])}" for label, terms in by_field.items()]
    if scores.memory is not None and slot in scores.memory.likeness:
        reasons.append("used for a similar request")
    if slot in scores.meaning and not by_field:
        reasons.append("similar meaning")
    return "; ".join(reasons)


def places_of(query: Query) -> list[Place]:
    """Where the heaviest terms of a query stand."""
    columns = islice(query.columns.items(), EXPLAINED)
    return [Place(column.slots, column.fields, query.reasons[term]) for term, column in columns]


def _convex(base: dict[int, float], other: dict[int, float], share: float) -> dict[int, float]:
    slots = base.keys() | other.keys()
    return {slot: (1.0 - share) * base.get(slot, 0.0) + share * other.get(slot, 0.0) for slot in slots}


LABELS = [part.label for part in FIELDS]
RANK_REASONS = {
    Rank.MENTION: "named in the query",
    Rank.LAST_PART: "exact name without its group",
    Rank.ALIAS: "exact alias",
    Rank.NAME: "exact name",
}
