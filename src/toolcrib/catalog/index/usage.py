"""Usage memory: past queries that led to a successful call sharpen later searches.

A memory is a plain value, bounded and easy to erase. Where it comes from, and whose it is, is its keeper's business.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType

from toolcrib.catalog.index.postings import Candidate, Gain, Postings
from toolcrib.catalog.index.query import read_query
from toolcrib.catalog.index.words import Analyzer

QUERIES_PER_TOOL = 10
TOOL_LIMIT = 2_000
QUERY_LENGTH = 400
NEAREST = 3
SHARPNESS = 1.6

Best = Callable[[list[Gain], int, int], list[Candidate]]


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


class Recollection:
    """A memory made ready to be asked: which tools answered queries like this one?"""

    __slots__ = ("_owners", "_postings", "_rarity")

    def __init__(self, memory: UsageMemory, analyzer: Analyzer, catalog: Postings, documents: int) -> None:
        past = [
            (name, read_query(query, analyzer).stress)
            for name, queries in sorted(memory.past.items())
            for query in queries
        ]
        self._owners = [name for name, _ in past]
        self._postings = Postings()
        self._rarity = _rarities([words for _, words in past], catalog, documents)
        for slot, (_, words) in enumerate(past):
            direction = self._direction(words)
            self._postings.insert(slot, direction.items(), repeat(0, len(direction)))

    def likeness(self, words: dict[str, float], best: Best) -> dict[str, float]:
        """Tool → how much the words resemble its past queries: the nearest three count."""
        known = {word: weight for word, weight in self._direction(words).items() if word in self._postings}
        found = best(self._postings.gains({word: weight} for word, weight in known.items()), 60, len(self._owners))
        per_tool: dict[str, list[float]] = {}
        for candidate in sorted(found, key=lambda candidate: (-candidate.score, candidate.slot)):
            per_tool.setdefault(self._owners[candidate.slot], []).append(candidate.score**SHARPNESS)
        return {name: sum(scores[:NEAREST]) for name, scores in per_tool.items()}

    def _direction(self, words: dict[str, float]) -> dict[str, float]:
        """Words weighed by rarity, scaled to length one."""
        weighed = {word: stress * self._rarity.get(word, self._rarity[""]) for word, stress in words.items()}
        length = math.sqrt(sum(weight * weight for weight in weighed.values())) or 1.0
        return {word: weight / length for word, weight in weighed.items()}


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
