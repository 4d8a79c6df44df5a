"""From a request in words to weighted terms: what is asked weighs more than the values it is asked about."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from toolcrib.catalog.index.postings import Postings
from toolcrib.catalog.index.spelling import Spelling
from toolcrib.catalog.index.synonyms import Synonyms
from toolcrib.catalog.index.words import WORD, Analyzer

QUOTED = 0.3
CAPITAL = 0.8
DIGITS = 0.2
REPEATED = 0.2
TEXT_LIMIT = 4_000
CONCEPT_LIMIT = 40
FAINT = 0.03
GUESS_LIMIT = 3
SHORT = 5
JOINED = 0.5
IMPLIED = 0.6
NONE: Mapping[str, float] = MappingProxyType({})


class Words(NamedTuple):
    """The terms of a request."""

    stress: dict[str, float]
    """Term → how much it was stressed: a quoted value, a proper name or a number weighs less."""
    spelt: dict[str, str]
    """Term → the word it came from."""


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
    reasons: dict[str, Reason]
    words: Words


def read_query(text: str, analyzer: Analyzer) -> Words:
    """The terms of a request; of a request made of function words alone, those."""
    text = text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT // 2]} {text[-TEXT_LIMIT // 2 :]}"
    spoken = list(_stressed_words(text))
    words = _gather(spoken, analyzer.terms)
    if not words.stress:
        words = _gather(spoken, analyzer.name_terms)
    for term, shape in IMPLICATIONS:
        if shape.search(text):
            words.stress[term] = max(IMPLIED, words.stress.get(term, 0.0))
            words.spelt.setdefault(term, term)
    return words


def weigh_query(
    words: Words,
    postings: Postings,
    documents: int,
    synonyms: Synonyms,
    spelling: Callable[[], Spelling],
) -> Query:
    """Weigh each word by rarity, with its synonyms more lightly; an unknown word stands for its near spellings."""
    lexicon = Lexicon(postings, documents, synonyms, spelling)
    concepts: list[dict[str, float]] = []
    reasons: dict[str, Reason] = {}
    guesses = 0
    for term, stress in words.stress.items():
        if term in postings or term in synonyms:
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
    return _without_faint(concepts, reasons, words)


class Lexicon(NamedTuple):
    """What the index knows about words."""

    postings: Postings
    documents: int
    synonyms: Synonyms
    spelling: Callable[[], Spelling]

    def related(self, term: str, stress: float, words: Words) -> dict[str, float]:
        """A term and its synonyms; those that the request holds itself speak for themselves."""
        concept: dict[str, float] = {}
        own = math.inf
        if term in self.postings:
            own = self.postings.rarity(term, self.documents)
            concept[term] = stress * own
        for other, nearness in self.synonyms.get(term, NONE).items():
            if other in self.postings and other not in words.stress:
                concept[other] = nearness * stress * min(self.postings.rarity(other, self.documents), own)
        return concept

    def respelt(self, term: str, stress: float) -> dict[str, float]:
        near = self.spelling().near(term, self.postings.terms())
        return {other: stress * likeness * self.postings.rarity(other, self.documents) for other, likeness in near}


def _is_guessable(term: str, stress: float, words: Words) -> bool:
    """Values are no misspelt words, and short words are near so many others: unless the request says little else."""
    return term.isalpha() and (len(words.stress) <= 3 or (len(term) >= SHORT and stress >= 1.0))


def _without_faint(concepts: list[dict[str, float]], reasons: dict[str, Reason], words: Words) -> Query:
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
    return Query(kept, {term: weights[term] for term in heaviest}, reasons, words)


def _gather(spoken: list[tuple[str, float]], split: Callable[[str], list[str]]) -> Words:
    stresses: dict[str, float] = {}
    spelt: dict[str, str] = {}
    for word, stress in spoken:
        terms = split(word)
        if len(terms) == 3 and terms[2] == word.lower():
            stress *= JOINED
        for term in terms:
            before = stresses.get(term)
            stresses[term] = stress if before is None else max(before, stress) + REPEATED * min(before, stress, 1.0)
            spelt.setdefault(term, word)
    return Words(stresses, spelt)


def _stressed_words(text: str) -> Iterator[tuple[str, float]]:
    spans = [match.span() for match in VALUE.finditer(text)]
    span = 0
    for match in WORD.finditer(text):
        word, start = match.group(), match.start()
        while span < len(spans) and spans[span][1] <= start:
            span += 1
        stress = QUOTED if span < len(spans) and spans[span][0] <= start else 1.0
        if word.isdigit():
            stress *= DIGITS
        elif word.istitle() and _is_inside_sentence(text, start):
            stress *= CAPITAL
        yield word, stress


def _is_inside_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip()
    return bool(before) and before[-1] not in ".!?:\n\"'"


# A quoted value, an address, a file. Quotes inside words are apostrophes; spans are short so that an unpaired quote
# swallows little.
QUOTE = r"\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|“[^”\n]{1,200}”"
ADDRESS = r"\bhttps?://\S{1,500}|\bwww\.\S{1,200}"
MAIL = r"\b[\w.+-]{1,64}@[\w-]{1,64}\.\w+"
FILE = (
    r"(?<![\w/])(?:~|\.{1,2})?/[\w.-]{1,200}(?:/[\w.*-]{0,200}){0,20}"
    r"|\b[\w-]{1,100}\.(?:txt|md|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|xml|html?|css|py|js|ts|java|go|rs|cpp|sh|log|png|jpe?g|gif|svg"
    r"|mp[34]|wav|mov|zip|gz|tar|ini|toml|cfg|conf|sql|exe)\b"
)
VALUE = re.compile(f"{QUOTE}|{ADDRESS}|{MAIL}|{FILE}")
# What a value tells of the tool that takes it: a term, and the shape that implies it.
IMPLICATIONS = (("url", re.compile(ADDRESS)), ("email", re.compile(MAIL)), ("fil", re.compile(FILE)))
