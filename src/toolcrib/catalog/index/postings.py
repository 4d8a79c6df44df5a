"""Where each term stands: for every term the slots of the documents that hold it, with weight and fields.

Columns are sorted by slot and hold exactly what is indexed now: removing a document deletes its postings, and a freed
slot is used again.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, KeysView
from itertools import count
from typing import NamedTuple, Protocol


class Loose(NamedTuple):
    """The postings of one term, as three arrays of equal length that can grow."""

    slots: "array[int]"
    weights: "array[float]"
    fields: "array[int]"


class Packed(NamedTuple):
    """The same, as parts of longer arrays."""

    slots: "memoryview[int]"
    weights: "memoryview[float]"
    fields: "memoryview[int]"


Column = Loose | Packed
Weighed = list[tuple[Column, float]]
"""Columns of terms that mean one thing, each with its weight; a document gains by its best one."""


class Gain(NamedTuple):
    """What documents gain by one word of a request."""

    columns: Weighed
    recalled: Weighed
    """Columns of those documents that gain more where their past queries count as well."""


class Postings:
    """The inverted index proper. Columns may lie packed, to be read in place: only those that change are taken out."""

    __slots__ = ("_columns", "_pack")

    def __init__(self, terms: Iterable[str] = (), pack: "Pack | None" = None) -> None:
        self._columns: dict[str, Loose | int] = dict(zip(terms, count()))
        self._pack = pack or Pack.of(array("i"), array("q"), array("f"), array("B"))

    def __contains__(self, term: object) -> bool:
        return term in self._columns

    def terms(self) -> KeysView[str]:
        return self._columns.keys()

    def column(self, term: str) -> Column:
        """The postings of a term that is in the index."""
        column = self._columns[term]
        return self._pack.column(column) if isinstance(column, int) else column

    def insert(self, slot: int, weights: Iterable[tuple[str, float]], fields: Iterable[int]) -> None:
        """Post a document's terms, given with weight and field in the same order."""
        columns = self._columns
        for (term, weight), field in zip(weights, fields, strict=True):
            column = columns.get(term)
            if column is None:
                columns[term] = Loose(array("q", (slot,)), array("f", (weight,)), array("B", (field,)))
                continue
            slots, shares, places = self._taken_out(term, column) if isinstance(column, int) else column
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
        for term in [term for term, column in self._columns.items() if self._holds(column, slot)]:
            column = self._columns[term]
            slots, weights, places = self._taken_out(term, column) if isinstance(column, int) else column
            at = bisect_left(slots, slot)
            del slots[at], weights[at], places[at]
            if not slots:
                del self._columns[term]

    def _holds(self, column: Loose | int, slot: int) -> bool:
        slots, (start, end) = (
            (self._pack.slots, self._pack.span(column))
            if isinstance(column, int)
            else (column.slots, (0, len(column.slots)))
        )
        at = bisect_left(slots, slot, start, end)
        return at < end and slots[at] == slot

    def _taken_out(self, term: str, number: int) -> Loose:
        column = self._columns[term] = Loose(array("q"), array("f"), array("B"))
        for own, lying in zip(column, self._pack.column(number), strict=True):
            own.frombytes(lying.tobytes())
        return column

    def length(self, term: str) -> int:
        """How many documents hold a term that is in the index."""
        column = self._columns[term]
        if not isinstance(column, int):
            return len(column.slots)
        start, end = self._pack.span(column)
        return end - start

    def is_within(self, term: str, end: int) -> bool:
        """Whether the term stands, in any document, in one of the first `end` fields."""
        fields = self.column(term).fields.tobytes()
        return any(number in fields for number in range(end))


class Rarities(dict[str, float]):
    """Term → inverse document frequency, near zero for a word that stands everywhere; found out once per term.

    It holds only as long as the postings stay as they are.
    """

    __slots__ = ("_documents", "_postings")

    def __init__(self, postings: Postings, documents: int) -> None:
        super().__init__()
        self._postings = postings
        self._documents = documents

    def __missing__(self, term: str) -> float:
        rarity = self[term] = rarity_of(self._postings.length(term), self._documents)
        return rarity


def rarity_of(holding: int, documents: int) -> float:
    return math.log(1.0 + (documents - holding + 0.5) / (holding + 0.5))


class Pack(NamedTuple):
    """Columns end to end; column `n` lies from `ends[n - 1]` to `ends[n]`."""

    ends: "array[int]"
    slots: "memoryview[int]"
    weights: "memoryview[float]"
    fields: "memoryview[int]"

    @classmethod
    def of(cls, ends: "array[int]", slots: "array[int]", weights: "array[float]", fields: "array[int]") -> "Pack":
        return cls(ends, memoryview(slots), memoryview(weights), memoryview(fields))

    def span(self, number: int) -> tuple[int, int]:
        return self.ends[number - 1] if number else 0, self.ends[number]

    def column(self, number: int) -> Packed:
        ends, slots, weights, fields = self
        start, end = ends[number - 1] if number else 0, ends[number]
        return Packed(slots[start:end], weights[start:end], fields[start:end])


Found = dict[int, float]
"""Slot → the sum of what it gains."""
Earlier = Callable[[list[int], int], list[int]]
"""The first so many of these slots, which are in order, as equal scores stand in an answer."""


Best = Callable[[int, Iterable[int] | None, Earlier], Found]
"""So many of the highest sums, of these slots or of all."""


class Scored(Protocol):
    """Sums that can be asked for the highest."""

    @property
    def best_alone(self) -> Best: ...
    @property
    def best_together(self) -> Best: ...


AddUp = Callable[[list[Gain], int], Scored]


class Sums(NamedTuple):
    """What each document gains: by its definition alone, and together with its past queries."""

    alone: Found
    together: Found

    def best_alone(self, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
        return _highest(self.alone, keep, within, earlier)

    def best_together(self, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
        return _highest(self.together, keep, within, earlier)


def add_up(gains: list[Gain], size: int) -> Sums:
    """The sums of these gains over all of `size` slots, in plain Python."""
    alone: Found = {}
    together: Found = {} if any(gain.recalled for gain in gains) else alone
    for columns, recalled in gains:
        shares = _most(columns)
        _add(shares, alone)
        if together is not alone:
            _keep_most(recalled, shares)
            _add(shares, together)
    return Sums(alone, together)


def _most(weighed: Weighed) -> Found:
    """What each document gains: the most that one of these terms gives it."""
    if not weighed:
        return {}
    column, weight = weighed[0]
    shares = {slot: weight * share for slot, share in zip(column.slots, column.weights, strict=True)}
    _keep_most(weighed[1:], shares)
    return shares


def _keep_most(weighed: Weighed, shares: Found) -> None:
    """Raise each document to the most that one of these terms gives it."""
    for column, weight in weighed:
        for slot, share in zip(column.slots, column.weights, strict=True):
            if weight * share > shares.get(slot, 0.0):
                shares[slot] = weight * share


def _add(shares: Found, sums: Found) -> None:
    for slot, share in shares.items():
        sums[slot] = sums.get(slot, 0.0) + share


def _highest(sums: Found, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
    if within is not None:
        sums = {slot: sums[slot] for slot in within if slot in sums}
    if len(sums) > keep:
        least = sorted(sums.values(), reverse=True)[keep - 1]
        above = {slot: score for slot, score in sums.items() if score > least}
        level = earlier(sorted(slot for slot, score in sums.items() if score == least), keep - len(above))
        sums = above | dict.fromkeys(level, least)
    return {slot: sums[slot] for slot in sorted(sums)}


def cut(found: Found, keep: int, names: list[str]) -> Found:
    """Exactly `keep` of them; ties at the cut go by name, so that the order of registration never shows."""
    if len(found) <= keep:
        return found
    return dict(sorted(found.items(), key=lambda item: (-item[1], names[item[0]]))[:keep])
