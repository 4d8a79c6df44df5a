"""Where each term stands: for every term the slots of the documents that hold it, with weight and fields.

Columns are sorted by slot and hold exactly what is indexed now: removing a document deletes its postings, and a freed
slot is used again.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, KeysView, Mapping
from itertools import count
from typing import NamedTuple


class Column(NamedTuple):
    """The postings of one term, as three arrays of equal length."""

    slots: "array[int]"
    weights: "array[float]"
    fields: "array[int]"


Gain = list[tuple[Column, float]]
"""Columns of terms that mean one thing, each with its weight; a document gains by its best one."""


class Postings:
    """The inverted index proper. Columns of a loaded snapshot are unpacked when they are first asked for, and the
    snapshot is let go with the last of them."""

    __slots__ = ("_columns", "_folded", "_packed", "_rarities")

    def __init__(self, terms: Iterable[str] = (), packed: "Packed | None" = None) -> None:
        self._columns: dict[str, Column | int] = dict(zip(terms, count()))
        self._packed = packed
        self._folded = len(self._columns)
        self._rarities: dict[tuple[str, int], float] = {}

    def __contains__(self, term: object) -> bool:
        return term in self._columns

    def terms(self) -> KeysView[str]:
        return self._columns.keys()

    def column(self, term: str) -> Column:
        """The postings of a term that is in the index."""
        column = self._columns[term]
        if isinstance(column, int):
            assert self._packed is not None
            column = self._columns[term] = self._packed.column(column)
            self._folded -= 1
            if not self._folded:
                self._packed = None
        return column

    def unfold(self) -> "Postings":
        """These postings with every column unpacked."""
        for term in self._columns:
            self.column(term)
        return self

    def insert(self, slot: int, weights: Iterable[tuple[str, float]], fields: Iterable[int]) -> None:
        """Post a document's terms, given with weight and field in the same order."""
        columns = self._columns
        self._rarities.clear()
        for (term, weight), field in zip(weights, fields, strict=True):
            column = columns.get(term)
            if column is None:
                columns[term] = Column(array("q", (slot,)), array("f", (weight,)), array("B", (field,)))
                continue
            slots, shares, places = self.column(term) if isinstance(column, int) else column
            if slots[-1] > slot:
                at = bisect_left(slots, slot)
                slots.insert(at, slot)
                shares.insert(at, weight)
                places.insert(at, field)
            else:
                slots.append(slot)
                shares.append(weight)
                places.append(field)

    def delete(self, slot: int) -> None:
        """Take a document out, and with it the terms that no other document holds."""
        self._rarities.clear()
        for term in list(self._columns):
            slots, weights, places = self.column(term)
            at = bisect_left(slots, slot)
            if at < len(slots) and slots[at] == slot:
                del slots[at], weights[at], places[at]
                if not slots:
                    del self._columns[term]

    def rarity(self, term: str, documents: int) -> float:
        """Inverse document frequency: near zero for a word that stands everywhere."""
        rarity = self._rarities.get((term, documents))
        if rarity is None:
            holding = len(self.column(term).slots)
            rarity = self._rarities[term, documents] = math.log(1.0 + (documents - holding + 0.5) / (holding + 0.5))
        return rarity

    def is_within(self, term: str, end: int) -> bool:
        """Whether the term stands, in any document, in one of the first `end` fields."""
        fields = self.column(term).fields.tobytes()
        return any(number in fields for number in range(end))

    def gains(self, concepts: Iterable[Mapping[str, float]]) -> list[Gain]:
        return [[(self.column(term), weight) for term, weight in concept.items()] for concept in concepts]


class Packed(NamedTuple):
    """The columns of a snapshot, end to end; column `n` lies from `ends[n - 1]` to `ends[n]`."""

    ends: "array[int]"
    slots: "array[int]"
    weights: "array[float]"
    fields: "array[int]"

    def column(self, number: int) -> Column:
        start, end = self.ends[number - 1] if number else 0, self.ends[number]
        return Column(self.slots[start:end], self.weights[start:end], self.fields[start:end])


class Candidate(NamedTuple):
    """A document with the sum of its term weights."""

    slot: int
    score: float


Earlier = Callable[[list[int], int], list[int]]
"""The first so many of these slots, which are in order, as equal scores stand in an answer."""


def best_candidates(
    gains: Iterable[Gain], keep: int, within: Iterable[int] | None, earlier: Earlier
) -> list[Candidate]:
    """The `keep` highest sums of gains, in plain Python; only those `within`."""
    sums: dict[int, float] = {}
    for gain in gains:
        for slot, share in _shares(gain).items():
            sums[slot] = sums.get(slot, 0.0) + share
    if within is not None:
        sums = {slot: sums[slot] for slot in within if slot in sums}
    if len(sums) > keep:
        least = sorted(sums.values(), reverse=True)[keep - 1]
        above = {slot: score for slot, score in sums.items() if score > least}
        level = earlier(sorted(slot for slot, score in sums.items() if score == least), keep - len(above))
        sums = above | dict.fromkeys(level, least)
    return [Candidate(slot, sums[slot]) for slot in sorted(sums)]


def _shares(gain: Gain) -> dict[int, float]:
    """What each document gains: the most that one of its terms gives."""
    (column, weight), *others = gain
    shares = {slot: weight * share for slot, share in zip(column.slots, column.weights, strict=True)}
    for column, weight in others:
        for slot, share in zip(column.slots, column.weights, strict=True):
            if weight * share > shares.get(slot, 0.0):
                shares[slot] = weight * share
    return shares


def cut(candidates: list[Candidate], keep: int, names: list[str]) -> list[Candidate]:
    """Exactly `keep` candidates; ties at the cut go by name, so that the order of registration never shows."""
    if len(candidates) <= keep:
        return candidates
    return sorted(candidates, key=lambda candidate: (-candidate.score, names[candidate.slot]))[:keep]
