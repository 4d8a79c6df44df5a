"""Known words near an unknown one: what the query may have meant.

Candidates share trigrams with the word and lie within one edit of it, or two for long words; two known words written as one are taken apart.
"""

from collections import Counter
from collections.abc import Collection, Iterable

NEAR_LIMIT = 3
LEAST_LENGTH = 3
NEAR, FARTHER, SPLIT = 0.55, 0.35, 0.7


class Spelling:
    """A vocabulary that can be asked for words near a misspelt one."""

    __slots__ = ("_grams",)

    def __init__(self, words: Iterable[str]) -> None:
        self._grams: dict[str, list[str]] = {}
        for word in words:
            self.add(word)

    def add(self, word: str) -> None:
        if len(word) >= LEAST_LENGTH:
            for gram in set(_grams(word)):
                self._grams.setdefault(gram, []).append(word)

    def near(self, word: str, known: Collection[str]) -> list[tuple[str, float]]:
        """Words meant by `word`, nearest first, with a likeness in 0..1; empty when nothing is near."""
        if len(word) < LEAST_LENGTH:
            return []
        parts = _taken_apart(word, known)
        if parts:
            return [(part, SPLIT) for part in parts]
        shared: Counter[str] = Counter()
        for gram in set(_grams(word)):
            shared.update(self._grams.get(gram, ()))
        allowed = 1 if len(word) < 8 else 2
        found: list[tuple[float, str]] = []
        for other, count in shared.most_common(40):
            if other in known and abs(len(other) - len(word)) <= allowed:
                edits = edit_distance(word, other, allowed)
                if edits <= allowed:
                    found.append((edits + 1.0 / (2.0 + count), other))
        return [(other, NEAR if cost < 1.6 else FARTHER) for cost, other in sorted(set(found))[:NEAR_LIMIT]]


def edit_distance(one: str, other: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; anything over `limit` comes back as `limit + 1`."""
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


def _taken_apart(word: str, known: Collection[str]) -> tuple[str, str] | None:
    for at in range(3, len(word) - 2):
        if word[:at] in known and word[at:] in known:
            return word[:at], word[at:]
    return None


def _grams(word: str) -> list[str]:
    """Trigrams of the padded word; short words also by their pairs, since one edit spoils most of their trigrams."""
    padded = f"^{word}$"
    grams = [padded[start : start + 3] for start in range(len(padded) - 2)]
    if len(word) <= 5:
        grams += [word[:at] + word[at + 1 :] + "~" for at in range(len(word))]
        grams.append(word + "~")
    return grams
