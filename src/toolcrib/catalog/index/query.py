"""From the words of a request to weighted terms: by rarity, with synonyms, near spellings and neighbours."""

import math
from collections.abc import Callable, Iterator, KeysView, Mapping
from types import MappingProxyType
from typing import NamedTuple

from toolcrib.catalog.index.document import DESCRIBED_FROM
from toolcrib.catalog.index.postings import Column, Gain, Postings, Rarities
from toolcrib.catalog.index.request import Words
from toolcrib.catalog.index.spelling import Spelling
from toolcrib.catalog.index.synonyms import Synonyms

CONCEPT_LIMIT = 40
FAINT = 0.03
GUESS_LIMIT = 3
SHORT = 5
NEIGHBOURS = 0.25
NAME_OF_A_TOOL = 1.25
NAME_ELSEWHERE = 0.5
UNHEARD = 1.2
NONE: Mapping[str, float] = MappingProxyType({})


class Reason(NamedTuple):
    """Why a term was looked for: the request's word, and how it came to the term."""

    spelt: str
    way: str = ""

    def __str__(self) -> str:
        return f"{self.spelt} ({self.way})" if self.way else self.spelt


class Query(NamedTuple):
    """A request ready to be scored."""

    concepts: list[dict[str, float]]
    """Per word of the request: known terms for it → what a document gains by holding one; the best one counts."""
    weights: dict[str, float]
    """All those terms with their weights, the heaviest first."""
    columns: dict[str, Column]
    """The postings of each of these terms."""
    reasons: dict[str, Reason]
    words: Words

    def gains(self) -> list[Gain]:
        columns = self.columns
        return [Gain([(columns[term], weight) for term, weight in concept.items()], []) for concept in self.concepts]


def weigh_query(
    words: Words,
    postings: Postings,
    rarities: Rarities,
    synonyms: Synonyms,
    spelling: Callable[[], Spelling],
) -> Query:
    """Weigh each word by rarity, with its synonyms more lightly; an unknown word stands for its near spellings."""
    known = postings.terms()
    lexicon = Lexicon(postings, known, rarities, synonyms, spelling)
    concepts: list[dict[str, float]] = []
    reasons: dict[str, Reason] = {}
    guesses = 0
    for term, stress in words.stress.items():
        if term in known or term in synonyms:
            concept = lexicon.related(term, stress, words)
            reason = Reason(words.spelt[term], "synonym")
        elif guesses < GUESS_LIMIT and _is_guessable(term, stress, words):
            guesses += 1
            concept = lexicon.respelt(term, stress)
            reason = Reason(words.spelt[term], "respelt")
        else:
            continue
        concepts.append(concept)
        for other in concept:
            if other == term:
                reasons[other] = Reason(words.spelt[term])
            else:
                reasons.setdefault(other, reason)
    for joined, weight, reason in lexicon.neighbours(words):
        concepts.append({joined: weight})
        reasons.setdefault(joined, reason)
    kept, weights = _without_faint(concepts)
    return Query(kept, weights, {term: postings.column(term) for term in weights}, reasons, words)


class Lexicon(NamedTuple):
    """What the index knows about words."""

    postings: Postings
    known: KeysView[str]
    rarities: Rarities
    synonyms: Synonyms
    spelling: Callable[[], Spelling]

    def related(self, term: str, stress: float, words: Words) -> dict[str, float]:
        """A term and its synonyms, which say all there is of a term that no tool uses.

        Those that the request holds itself speak for themselves.
        """
        concept: dict[str, float] = {}
        own = math.inf
        if term in self.known:
            if term in words.proper:
                stress *= NAME_OF_A_TOOL if self.postings.is_within(term, DESCRIBED_FROM) else NAME_ELSEWHERE
            own = self.rarities[term]
            concept[term] = stress * own
        else:
            stress *= UNHEARD
        known, rarities, said = self.known, self.rarities, words.stress
        for other, nearness in self.synonyms.get(term, NONE).items():
            if other in known and other not in said:
                concept[other] = nearness * stress * min(rarities[other], own)
        return concept

    def neighbours(self, words: Words) -> Iterator[tuple[str, float, Reason]]:
        """Two words that a name has side by side, or that the catalog writes as one: (joined, weight, reason)."""
        for pair, stress in words.pairs.items():
            joined = pair.first + pair.second
            if joined in self.known and joined not in words.stress:
                weight = stress * self.rarities[joined]
                spelt = words.spelt[pair.second]
                if pair.first in self.known and pair.second in self.known:
                    yield joined, NEIGHBOURS * weight, Reason(spelt)
                else:
                    yield joined, weight, Reason(f"{words.spelt[pair.first]} {spelt}")

    def respelt(self, term: str, stress: float) -> dict[str, float]:
        near = self.spelling().near(term, self.known)
        return {other: stress * likeness * self.rarities[other] for other, likeness in near}


def _is_guessable(term: str, stress: float, words: Words) -> bool:
    """Values are no misspelt words, and short words are near so many others: unless the request says little else."""
    return term.isalpha() and (len(words.stress) <= 3 or (len(term) >= SHORT and stress >= 1.0))


def _without_faint(concepts: list[dict[str, float]]) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Leave out what cannot decide: words that stand nearly everywhere cost much to add up and change little."""
    concepts = sorted((concept for concept in concepts if concept), key=lambda concept: -max(concept.values()))
    least = FAINT * max(concepts[0].values()) if concepts else 0.0
    kept: list[dict[str, float]] = []
    weights: dict[str, float] = {}
    for concept in concepts[:CONCEPT_LIMIT]:
        strong = {term: weight for term, weight in concept.items() if weight > least}
        if strong:
            kept.append(strong)
        for term, weight in strong.items():
            weights[term] = max(weight, weights.get(term, 0.0))
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))
    return kept, {term: weights[term] for term in heaviest}
