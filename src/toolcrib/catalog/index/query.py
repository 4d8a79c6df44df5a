"""From a request in words to weighted terms: what is asked weighs more than the values it is asked about."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from toolcrib.catalog.index.postings import Postings
from toolcrib.catalog.index.spelling import Spelling
from toolcrib.catalog.index.words import WORD, Analyzer

QUOTED = 0.3
CAPITAL = 0.8
DIGITS = 0.2
REPEATED = 0.2
SYNONYM = 0.2
TEXT_LIMIT = 4_000
TERM_LIMIT = 48
NEAR_WORD_LIMIT = 8


class Words(NamedTuple):
    """The terms of a request."""

    stress: dict[str, float]
    """Term → how much it was stressed: a quoted value, a proper name or a number weighs less."""
    spelt: dict[str, str]
    """Term → the word it came from."""


class Query(NamedTuple):
    """A request ready to be scored."""

    weights: dict[str, float]
    """Known term → how much a document gains by holding it."""
    reasons: dict[str, str]
    """The same terms → the request's word for each, as `Hit.why` shows it."""
    words: Words


def read_query(text: str, analyzer: Analyzer) -> Words:
    """The terms of a request; of a request made of function words alone, those."""
    text = text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT // 2]} {text[-TEXT_LIMIT // 2 :]}"
    spoken = list(_stressed_words(text))
    words = _gather(spoken, analyzer.terms)
    return words if words.stress else _gather(spoken, analyzer.name_terms)


def weigh_query(
    words: Words,
    postings: Postings,
    documents: int,
    synonyms: Mapping[str, tuple[str, ...]],
    spelling: Callable[[], Spelling],
) -> Query:
    """Weigh the known terms by rarity; add near spellings of unknown words and, more lightly, synonyms."""
    rarity = {term: postings.rarity(term, documents) for term in words.stress if term in postings}
    weights = {term: words.stress[term] * rarity[term] for term in rarity}
    reasons = {term: words.spelt[term] for term in rarity}

    def offer(term: str, weight: float, reason: str) -> None:
        if weight > weights.get(term, 0.0):
            weights[term] = weight
            reasons[term] = reason

    unknown = [term for term in words.stress if term not in rarity and term not in synonyms and term.isalpha()]
    for term in unknown[:NEAR_WORD_LIMIT]:
        for other, likeness in spelling().near(term, postings.terms()):
            weight = words.stress[term] * likeness * postings.rarity(other, documents)
            offer(other, weight, f"{words.spelt[term]} (respelt)")
    for term, stress in words.stress.items():
        for other in synonyms.get(term, ()):
            if other in postings and other not in words.stress:
                weight = SYNONYM * stress * min(postings.rarity(other, documents), rarity.get(term, math.inf))
                offer(other, weight, f"{words.spelt[term]} (synonym)")
    return Query(_heaviest(weights), reasons, words)


def _gather(spoken: list[tuple[str, float]], split: Callable[[str], list[str]]) -> Words:
    stresses: dict[str, float] = {}
    spelt: dict[str, str] = {}
    for word, stress in spoken:
        for term in split(word):
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


def _heaviest(weights: dict[str, float]) -> dict[str, float]:
    if len(weights) <= TERM_LIMIT:
        return weights
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:TERM_LIMIT])


# A quoted value or an address. Quotes inside words are apostrophes; spans are short so that an unpaired quote swallows little.
VALUE = re.compile(r'"[^"\n]{1,200}"|(?<!\w)\'[^\'\n]{1,200}\'(?!\w)|“[^”\n]{1,200}”|\bhttps?://\S+')
