"""Usage memory: past queries that led to a successful call sharpen later searches.

A memory is a plain value, bounded and easy to erase. Where it comes from, and whose it is, is its keeper's business.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType

from toolcrib.catalog.index.document import Field, mass_of, saturated
from toolcrib.catalog.index.postings import Candidate, Column, Earlier, Gain, Postings
from toolcrib.catalog.index.query import Query
from toolcrib.catalog.index.request import read_query
from toolcrib.catalog.index.words import Analyzer

QUERIES_PER_TOOL = 10
TOOL_LIMIT = 2_000
QUERY_LENGTH = 400
LIKE_LIMIT = 60
UNTRIED = 1.1
CHANCE = 3
ASKED = Field("past queries", 0.7, 0.5, 20.0)

Readings = dict[str, dict[str, float]]
"""Past query → its words with their stress."""
Best = Callable[[list[Gain], int, int, Earlier], list[Candidate]]


@dataclass(frozen=True, slots=True, eq=False)
class UsageMemory:
    """Tool name → the last queries that ended in a successful call of it, oldest first."""

    past: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def remember(self, name: str, query: str) -> "UsageMemory":
        """A memory that also knows this query; the oldest query, and the tool longest unused, make room."""
        query = " ".join(query.split())[:QUERY_LENGTH]
        past = dict(self.past)
        queries = [known for known in past.pop(name, ()) if known != query]
        if query:
            queries.append(query)
        if queries:
            past[name] = tuple(queries[-QUERIES_PER_TOOL:])
        while len(past) > TOOL_LIMIT:
            del past[next(iter(past))]
        return UsageMemory(MappingProxyType(past))

    def forget(self, name: str) -> "UsageMemory":
        """A memory without that tool."""
        return UsageMemory(MappingProxyType({known: queries for known, queries in self.past.items() if known != name}))


def read_queries(memory: UsageMemory, analyzer: Analyzer, known: Readings) -> Readings:
    """The words of every past query; those of a known one are taken over."""
    return {
        query: known[query] if query in known else read_query(query, analyzer).stress
        for queries in memory.past.values()
        for query in queries
    }


class Recollection:
    """A memory made ready to be asked, in two ways: by the words of all past queries of a tool, and by single queries.

    Slots are those of the catalog, so it holds only as long as the catalog stays as it is.
    """

    __slots__ = ("_catalog", "_columns", "_documents", "_masses", "_owners", "_postings", "_rarity", "_remembered")

    def __init__(self, memory: UsageMemory, readings: Readings, catalog: Postings, slots: Mapping[str, int]) -> None:
        past = [
            (slots[name], readings[query])
            for name, queries in sorted(memory.past.items())
            if name in slots
            for query in queries
        ]
        self._catalog = catalog
        self._documents = len(slots)
        self._columns: dict[str, Column] = {}
        self._masses = _masses(past)
        self._owners = [slot for slot, _ in past]
        self._remembered = frozenset(self._owners)
        self._postings = Postings()
        self._rarity = _rarities([words for _, words in past], catalog, len(slots))
        for number, (_, words) in enumerate(past):
            direction = self._direction(words)
            self._postings.insert(number, direction.items(), repeat(0, len(direction)))

    def __bool__(self) -> bool:
        """Whether any tool that is remembered is still there."""
        return bool(self._owners)

    def gains(self, asked: Query) -> list[Gain]:
        """As `Postings.gains`, where the past queries of a tool are one more field of its definition."""
        said = {word for concept in asked.concepts for word in concept}
        fresh = {word: stress for word, stress in asked.words.stress.items() if word in self._masses}
        only = [{word: stress * self._rarity_of(word)} for word, stress in fresh.items() if word not in said]
        return [[(self._column(term), weight) for term, weight in concept.items()] for concept in asked.concepts + only]

    def joined(self, alone: list[Candidate], together: list[Candidate]) -> list[Candidate]:
        """Candidates of either kind; a tool without past queries, which could gain nothing by them, loses nothing."""
        sums = {**dict(alone), **dict(together)}
        return [Candidate(slot, score if slot in self._remembered else UNTRIED * score) for slot, score in sums.items()]

    def _column(self, term: str) -> Column:
        """The catalog's postings of a term with what past queries add."""
        masses = self._masses.get(term)
        if masses is None:
            return self._catalog.column(term)
        if term not in self._columns:
            slots, weights, fields = _copied(self._catalog.column(term)) if term in self._catalog else _empty()
            for slot, mass in masses.items():
                at = bisect_left(slots, slot)
                if at < len(slots) and slots[at] == slot:
                    weights[at] = saturated(mass_of(weights[at]) + mass)
                else:
                    slots.insert(at, slot)
                    weights.insert(at, saturated(mass))
                    fields.insert(at, 0)
            self._columns[term] = Column(slots, weights, fields)
        return self._columns[term]

    def _rarity_of(self, word: str) -> float:
        holding = len(self._column(word).slots)
        return math.log(1.0 + (self._documents - holding + 0.5) / (holding + 0.5))

    def likeness(self, words: dict[str, float], best: Best) -> dict[int, float]:
        """Slot → how much the words resemble its past queries; one alone may do so by chance unless it is very near."""
        known = {word: weight for word, weight in self._direction(words).items() if word in self._postings}
        gains = self._postings.gains({word: weight} for word, weight in known.items())
        found = best(gains, LIKE_LIMIT, len(self._owners), _first)
        per_tool: dict[int, list[float]] = {}
        for candidate in sorted(found, key=lambda candidate: (-candidate.score, candidate.slot)):
            per_tool.setdefault(self._owners[candidate.slot], []).append(candidate.score)
        return {slot: nearest**CHANCE + sum(others) for slot, (nearest, *others) in per_tool.items()}

    def _direction(self, words: dict[str, float]) -> dict[str, float]:
        """Words weighed by rarity, scaled to length one."""
        weighed = {word: stress * self._rarity.get(word, self._rarity[""]) for word, stress in words.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values())) or 1.0
        return {word: weight / length for word, weight in weighed.items()}


def _copied(column: Column) -> Column:
    return Column(column.slots[:], column.weights[:], column.fields[:])


def _empty() -> Column:
    return Column(array("q"), array("f"), array("B"))


def _first(numbers: list[int], count: int) -> list[int]:
    """Past queries are numbered in the order of their tools' names."""
    return numbers[:count]


def _masses(past: list[tuple[int, dict[str, float]]]) -> dict[str, dict[int, float]]:
    """Term → slot → what the past queries of that tool add to the term's weight, diluted by how much they say."""
    said: dict[int, dict[str, float]] = {}
    for slot, words in past:
        totals = said.setdefault(slot, {})
        for word, stress in words.items():
            totals[word] = totals.get(word, 0.0) + stress
    masses: dict[str, dict[int, float]] = {}
    for slot, totals in said.items():
        share = ASKED.share(sum(totals.values()))
        for word, total in totals.items():
            masses.setdefault(word, {})[slot] = share * total
    return masses


def _rarities(past: list[dict[str, float]], catalog: Postings, documents: int) -> dict[str, float]:
    """Rarity of each remembered word over catalog and memory together; under "" that of a word never seen."""
    holding: dict[str, int] = {"": 0}
    for words in past:
        for word in words:
            holding[word] = holding.get(word, 0) + 1
    total = documents + len(past)
    for word in holding:
        if word in catalog:
            holding[word] += len(catalog.column(word).slots)
    return {word: math.log(1.0 + (total - count + 0.5) / (count + 0.5)) for word, count in holding.items()}
