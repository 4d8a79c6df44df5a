"""From a request in words to its terms: what is asked weighs more than the values and names it is asked about."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from toolcrib.catalog.index.stem import stem
from toolcrib.catalog.index.words import WORD, Analyzer, Terms

QUOTED = 0.3
CAPITAL = 0.8
DIGITS = 0.2
REPEATED = 0.2
JOINED = 0.5
IMPLIED = 0.6
PASSING = 0.5
LONG = 8
TEXT_LIMIT = 4_000


Spoken = tuple[str, float, bool]
"""A word as it stands in a request, how much it is stressed, and whether it is written as a proper name."""


class Pair(NamedTuple):
    """Two neighbouring words of a request, by their terms."""

    first: str
    second: str


class Words(NamedTuple):
    """The terms of a request."""

    stress: dict[str, float]
    """Term → how much it was stressed: a quoted value, a proper name or a number weighs less."""
    spelt: dict[str, str]
    """Term → the word it came from."""
    pairs: dict[Pair, float]
    """Neighbours, with the stress of the weaker one."""
    proper: frozenset[str]
    """Terms that were only said as proper names."""


def read_query(text: str, analyzer: Analyzer) -> Words:
    """The terms of a request; of a request made of function words alone, those."""
    text = text if len(text) <= TEXT_LIMIT else f"{text[: TEXT_LIMIT // 2]} {text[-TEXT_LIMIT // 2 :]}"
    has_values = bool(SIGN.search(text))
    spoken = list(_spoken_words(text, [match.span() for match in VALUE.finditer(text)] if has_values else []))
    words = _gather(spoken, analyzer.terms_of_word)
    if not words.stress:
        words = _gather(spoken, analyzer.name_terms_of_word)
    if len(words.stress) > LONG:
        for term in PASSING_STEMS.intersection(words.stress):
            words.stress[term] *= PASSING
    for term, shape in IMPLICATIONS if has_values else ():
        if shape.search(text):
            words.stress[term] = max(IMPLIED, words.stress.get(term, 0.0))
            words.spelt.setdefault(term, term)
    return words


def _gather(spoken: list[Spoken], split: Callable[[str], Terms]) -> Words:
    stresses: dict[str, float] = {}
    spelt: dict[str, str] = {}
    proper: set[str] = set()
    common: set[str] = set()
    lone: list[tuple[str, float]] = []
    for word, stress, is_proper in spoken:
        terms = split(word)
        if len(terms) == 3 and terms[2] == word.lower():
            stress *= JOINED
        for term in terms:
            before = stresses.get(term)
            stresses[term] = stress if before is None else max(before, stress) + REPEATED * min(before, stress, 1.0)
            spelt.setdefault(term, word)
        (proper if is_proper else common).update(terms)
        lone.append((terms[0], stress) if len(terms) == 1 else ("", 0.0))
    pairs = {Pair(one, two): min(first, second) for (one, first), (two, second) in pairwise(lone) if one and two}
    # Where most words are capitals, capitals say nothing.
    only = proper - common if len(proper) <= len(common) else ()
    return Words(stresses, spelt, pairs, frozenset(only))


def _spoken_words(text: str, spans: list[tuple[int, int]]) -> Iterator[Spoken]:
    """The words of a text; those inside these spans are values."""
    span = 0
    for match in WORD.finditer(text):
        word, start = match.group(), match.start()
        while span < len(spans) and spans[span][1] <= start:
            span += 1
        stress = QUOTED if span < len(spans) and spans[span][0] <= start else 1.0
        is_proper = word.istitle() and _is_inside_sentence(text, start)
        if word.isdigit():
            stress *= DIGITS
        elif is_proper:
            stress *= CAPITAL
        yield word, stress, is_proper


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
SIGN = re.compile(r"[\"“@/]|\.\w|(?<!\w)'")
"""What every value has."""
# What a value tells of the tool that takes it: a term, and the shape that implies it.
IMPLICATIONS = (("url", re.compile(ADDRESS)), ("email", re.compile(MAIL)), ("fil", re.compile(FILE)))

# Words said in passing: times, counts and turns of speech. A long request has so many of them that some tool seems to
# answer to them; in a short one each word was chosen.
PASSING_WORDS = """
january february march april june july august september october november december
monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight morning afternoon evening
week weekend next last previous upcoming recent recently currently later earlier ago pm am
two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand million billion
first second third fourth fifth half dozen several various different lot bit little less small big
additionally moreover furthermore finally lastly firstly secondly afterwards therefore respectively respective
actually basically simply quickly exact exactly possible possibly appropriate right good great best better nice
assume assuming suppose ensure sure make give gave go goes went keep see say said left stay leave bring handle
think thought feel believe consider considering mention mentioned remember decide decided plan planning hope hoping
love loved enjoy prefer favorite ready happy glad excited fun interested interesting wondering curious
person people friend friends family wife husband guy folks work working dollar dollars
follow following example detail details part obtain choose identify define drop
including include included comprehensive detailed information info current latest top new specifically
guide guidance explain understand understanding overview insights advice tips suggest suggestions recommend
recommendations instructions step assistance struggling trouble necessary required successful available options
"""
PASSING_STEMS = frozenset(map(stem, PASSING_WORDS.split()))
