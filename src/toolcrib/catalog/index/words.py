"""From text to terms: identifiers are split, case and accents folded, words stemmed, function words dropped.

`FileRead`, `file_read` and `file-read` give the same terms; scripts without spaces give overlapping pairs of letters.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import chain

from toolcrib.catalog.index.stem import stem

Terms = tuple[str, ...]
MEMORY_LIMIT = 100_000
WORD_LIMIT = 48


class Analyzer:
    """Splits text into terms; remembers the words it has seen, since catalogs repeat themselves."""

    __slots__ = ("_named", "_spoken")

    def __init__(self) -> None:
        self._named = named = _Memory(_terms_of)
        self._spoken = _Memory(lambda word: _without_stops(named[word] if word in named else _terms_of(word)))

    def terms(self, text: str) -> list[str]:
        """The terms of prose: function words carry nothing and are left out."""
        return list(chain.from_iterable(map(self._spoken.__getitem__, words_of(text)))) if text else []

    def terms_of_word(self, word: str) -> Terms:
        """As `terms`, of a single run of letters and digits."""
        return self._spoken[word]

    def name_terms_of_word(self, word: str) -> Terms:
        """As `name_terms`, of a single run of letters and digits."""
        return self._named[word]

    def name_terms(self, text: str) -> list[str]:
        """The terms of a name, where every word counts."""
        return list(chain.from_iterable(map(self._named.__getitem__, words_of(text)))) if text else []


class _Memory(dict[str, Terms]):
    """Word → terms, found out once per word."""

    def __init__(self, find: Callable[[str], Terms]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> Terms:
        terms = self._find(word)
        if len(self) < MEMORY_LIMIT:
            self[word] = terms
        return terms


def _without_stops(terms: Terms) -> Terms:
    """The same, where none is a function word."""
    return terms if STOP_STEMS.isdisjoint(terms) else tuple(term for term in terms if term not in STOP_STEMS)


def key_of(text: str) -> str:
    """Letters and digits alone, folded: two spellings of one name share a key."""
    return "".join(map(fold, words_of(text)))


def words_of(text: str) -> list[str]:
    """Runs of letters and digits. Plain ASCII, nearly all there is, takes a path twice as fast as the pattern."""
    return text.translate(ASCII_WORDS).split() if text.isascii() else WORD.findall(text)


def fold(word: str) -> str:
    """Lower case, without accents or width variants; letters and digits only, though some signs unfold into phrases."""
    if word.isascii():
        return word.lower()
    unfolded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return "".join(letter for letter in unfolded if letter.isalnum())


def _terms_of(word: str) -> Terms:
    word = word[:WORD_LIMIT]
    if not word.isascii():
        folded = fold(word)
        return _foreign_terms(folded) if folded else ()
    if word.islower() or word.isdigit() or word.istitle() or word.isupper():
        return _simple_terms(word.lower())
    pieces = [piece.lower() for piece in PIECE.findall(word)]
    terms = [stem(piece) for piece in pieces]
    # "GitHub" must meet "github" as well as "git" and "hub".
    return (*terms, word.lower()) if len(pieces) == 2 else tuple(terms)


def _simple_terms(word: str) -> Terms:
    if word.isalpha() or word.isdigit():
        return (stem(word),)
    letters = LETTERS.match(word)
    return (word, stem(letters.group())) if letters else (word,)


def _foreign_terms(word: str) -> Terms:
    if not UNSPACED.search(word):
        return (word,)
    return tuple(word[start : start + 2] for start in range(max(1, len(word) - 1)))


WORD = re.compile(r"[^\W_]+")
ASCII_WORDS = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])\d*|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")
LETTERS = re.compile(r"[a-z]{3,}(?=\d+$)")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

STOP_WORDS = """
a about above across after again all almost along already also although always am among an and another any
anyone anything are around as at away back be because been before being below between both but by came can
cannot come could did do does doing don done down during each either else enough etc even ever every everyone
everything few for from further had has have having he her here hers him himself his how however i if in instead
into is isn it its itself just lately let lets like ll m many may maybe me might mine more most much must my
myself near need needed needs neither never no nor not now of off often oh ok okay on once one only onto or
other others our ours out over own per perhaps please quite rather re really s same seems shall she should since
so some somebody someone something soon still such t than thank thanks that the their them themselves then there
these they thing things this those though through thus to together too toward under until up upon us use used
uses using ve very via want wanted wants was wasn way we well were what whatever when where whether which while
who whole whom whose why will wish with within without won would yes yet you your yours yourself able assist d
going gonna help hello hey hi i'd i'll i'm kindly know looking tell try trying tool tools function functions
provide provided provides given based specific specified particular certain allow allows allowing
"""
STOP_STEMS = frozenset(stem(word) for word in STOP_WORDS.split())
