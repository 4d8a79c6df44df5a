"""Usage memory: past queries that led to a successful call sharpen later searches.

A memory is a plain value, bounded and easy to erase. Where it comes from, and whose it is, is its keeper's business.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType

from toolcrib.catalog.index.document import Field, mass_of, saturated
from toolcrib.catalog.index.postings import AddUp, Column, Found, Gain, Loose, Postings, Weighed, rarity_of
from toolcrib.catalog.index.query import Query
from toolcrib.catalog.index.request import read_query
from toolcrib.catalog.index.words import Analyzer

QUERIES_PER_TOOL = 10
TOOL_LIMIT = 2_000
QUERY_LENGTH = 400
LIKE_LIMIT = 60
UNTRIED = 1.1
CHANCE = 3
ASKED = Field("past queries", 1.0, 0.7, 20.0)

Readings = dict[str, dict[str, float]]
"""Past query → its words with their stress."""


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
        """As `Query.gains`, where the past queries of a tool are one more field of its definition."""
        gains = [
            Gain(columns, [(self._column(term), weight) for term, weight in concept.items() if term in self._masses])
            for concept, (columns, _) in zip(asked.concepts, asked.gains(), strict=True)
        ]
        said = {word for concept in asked.concepts for word in concept}
        for word, stress in asked.words.stress.items():
            if word in self._masses and word not in said:
                gains.append(Gain([], self._unsaid(word, stress)))
        return gains

    def _unsaid(self, word: str, stress: float) -> Weighed:
        """Columns of a word that no definition holds, or that is too faint to decide anything but for past queries."""
        columns = [self._catalog.column(word)] if word in self._catalog else []
        holding = set(self._masses[word]).union(*(column.slots for column in columns))
        weight = stress * rarity_of(len(holding), self._documents)
        return [(column, weight) for column in (*columns, self._column(word))]

    def joined(self, alone: Found, together: Found) -> Found:
        """Found either way. What was asked for in other words than these is held back; what has no past queries, and
        so could gain nothing by them, is not, and neither is what gains, or a tool would fall behind its like by use.
        """
        joined = {**alone, **together}
        for slot, score in joined.items():
            if slot not in self._remembered:
                joined[slot] = UNTRIED * score
            elif slot in alone and score > alone[slot]:
                joined[slot] = score + (UNTRIED - 1.0) * alone[slot]
        return joined

    def _column(self, term: str) -> Column:
        """The tools whose past queries hold a term, with what definition and past queries weigh together."""
        column = self._columns.get(term)
        if column is None:
            masses = self._masses[term]
            own = _weights_of(self._catalog.column(term)) if term in self._catalog else {}
            slots = sorted(masses)
            sums = [mass_of(own[slot]) + masses[slot] if slot in own else masses[slot] for slot in slots]
            weights = map(saturated, sums)
            column = self._columns[term] = Loose(array("q", slots), array("f", weights), array("B"))
        return column

    def likeness(self, words: dict[str, float], add_up: AddUp) -> Found:
        """Slot → how much the words resemble its past queries; one alone may do so by chance unless it is very near."""
        known = {word: weight for word, weight in self._direction(words).items() if word in self._postings}
        gains = [Gain([(self._postings.column(word), weight)], []) for word, weight in known.items()]
        found = add_up(gains, len(self._owners)).best_alone(LIKE_LIMIT, None, _first)
        per_tool: dict[int, list[float]] = {}
        for number in sorted(found, key=lambda number: (-found[number], number)):
            per_tool.setdefault(self._owners[number], []).append(found[number])
        return {slot: nearest**CHANCE + sum(others) for slot, (nearest, *others) in per_tool.items()}

    def _direction(self, words: dict[str, float]) -> dict[str, float]:
        """Words weighed by rarity, scaled to length one."""
        weighed = {word: stress * self._rarity.get(word, self._rarity[""]) for word, stress in words.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values())) or 1.0
        return {word: weight / length for word, weight in weighed.items()}


def _weights_of(column: Column) -> Found:
    return dict(zip(column.slots, column.weights, strict=True))


def _first(numbers: list[int], count: int) -> list[int]:
    """Past queries are numbered in the order of their tools' names."""
    return numbers[:count]


def _masses(past: list[tuple[int, dict[str, float]]]) -> dict[str, dict[int, float]]:
    """Term → slot → what the past queries of that tool add to the term's weight, diluted by how much they say.

    A query that led to several tools says less of each: most of its words were about the others.
    """
    tools = Counter(id(words) for _, words in past)
    said: dict[int, dict[str, float]] = {}
    for slot, words in past:
        totals = said.setdefault(slot, {})
        part = 1.0 / math.sqrt(tools[id(words)])
        for word, stress in words.items():
            totals[word] = totals.get(word, 0.0) + part * stress
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
            holding[word] += catalog.length(word)
    return {word: rarity_of(count, total) for word, count in holding.items()}
