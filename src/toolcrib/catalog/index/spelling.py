"""Known words near an unknown one: what the query may have meant.

First the words one edit away, found by making every edit; then two known words written as one are taken apart; for
long words then those that share most trigrams and lie two edits away.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from heapq import nsmallest

from toolcrib.catalog.uncollected import uncollected

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEAR, FARTHER, SPLIT = 0.55, 0.35, 0.7
NEAR_LIMIT = 3
LEAST_LENGTH = 3
LONG = 8
RAREST = 7
END = 5
CLOSE_LIMIT = 6


class Spelling:
    """A vocabulary that can be asked for words near a misspelt one."""

    __slots__ = ("_ends", "_grams", "_starts")

    def __init__(self, words: Collection[str]) -> None:
        self._starts = {word[:END] for word in words}
        self._ends = {word[-END:] for word in words}
        self._grams: dict[str, list[str]] | None = None

    def add(self, word: str) -> None:
        self._starts.add(word[:END])
        self._ends.add(word[-END:])
        if self._grams is not None:
            _list_grams([word], self._grams)

    def near(self, word: str, known: Collection[str]) -> list[tuple[str, float]]:
        """Words meant by `word`, nearest first, with a likeness in 0..1; empty when nothing is near."""
        if len(word) < LEAST_LENGTH:
            return []
        if one_away := sorted(_edits(word, known, *self._places(word))):
            return [(other, NEAR) for other in one_away[:NEAR_LIMIT]]
        if parts := _taken_apart(word, known):
            return [(part, SPLIT) for part in parts]
        return [(other, FARTHER) for other in self._two_away(word, known)[:NEAR_LIMIT]] if len(word) >= LONG else []

    def _places(self, word: str) -> tuple[int, int]:
        """Where one edit can make a known word of it: a start that none has must change itself, and so must an end."""
        first = 0 if word[-END:] in self._ends else max(0, len(word) - END - 1)
        last = len(word) if word[:END] in self._starts else END - 1
        return first, min(last, len(word))

    def _two_away(self, word: str, known: Collection[str]) -> list[str]:
        """Two edits leave some of the rarest trigrams as they are."""
        if self._grams is None:
            with uncollected():
                self._grams = _list_grams(known, {})
        grams = self._grams
        listed = sorted((words for gram in _grams(word) if (words := grams.get(gram))), key=len)
        shared: Counter[str] = Counter()
        for words in listed[:RAREST]:
            shared.update(words)
        close = [(-count, other) for other, count in shared.items() if count > 1 and abs(len(other) - len(word)) <= 2]
        likely = [other for _, other in nsmallest(CLOSE_LIMIT, close) if other in known]
        return [other for other in likely if edit_distance(word, other, 2) <= 2]


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; anything over `limit` comes back as `limit + 1`."""
    one, other = _unlike_parts(one, other)
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for at, against in enumerate(other, 1):
            cost = min(last[at] + 1, line[at - 1] + 1, last[at - 1] + (letter != against))
            if row > 1 and at > 1 and letter == other[at - 2] and one[row - 2] == against:
                cost = min(cost, before[at - 2] + 1)
            line.append(cost)
        if min(line) > limit:
            return limit + 1
        before, last = last, line
    return min(last[-1], limit + 1)


def _unlike_parts(one: str, other: str) -> tuple[str, str]:
    """Both without the beginning and the end that they share."""
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    one, other = one[start:], other[start:]
    shorter -= start
    end = next((at for at in range(shorter) if one[-1 - at] != other[-1 - at]), shorter)
    return one[: len(one) - end], other[: len(other) - end]


def _edits(word: str, known: Collection[str], first: int, last: int) -> set[str]:
    """The known words one edit away, with the edit at one of these places."""
    parts = [(word[:at], word[at:]) for at in range(first, last + 1)]
    edits = {edit for start, end in parts for letter in LETTERS if (edit := start + letter + end) in known}
    edits |= {edit for start, end in parts for letter in LETTERS if (edit := start + letter + end[1:]) in known}
    edits |= {edit for start, end in parts if end and (edit := start + end[1:]) in known}
    edits |= {edit for start, end in parts if len(end) > 1 and (edit := start + end[1] + end[0] + end[2:]) in known}
    return edits


def _taken_apart(word: str, known: Collection[str]) -> tuple[str, str] | None:
    for at in range(3, len(word) - 2):
        if word[:at] in known and word[at:] in known:
            return word[:at], word[at:]
    return None


def _list_grams(words: Iterable[str], grams: dict[str, list[str]]) -> dict[str, list[str]]:
    """Trigram → the longer words that hold it."""
    for word in words:
        if len(word) >= LONG - 2 and word.isalpha():
            for gram in _grams(word):
                grams.setdefault(gram, []).append(word)
    return grams


def _grams(word: str) -> set[str]:
    padded = f"^{word}$"
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
