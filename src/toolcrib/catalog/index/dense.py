"""The same sums as `postings.add_up`, in numpy. Imported only where numpy is."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, count, islice
from typing import NamedTuple, cast

import numpy as np

from toolcrib.catalog.index.document import FIELDS, SATURATION, Document
from toolcrib.catalog.index.postings import Column, Earlier, Found, Gain, Pack, Postings, Weighed

Doubles = np.ndarray[tuple[int], np.dtype[np.double]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
Singles = np.ndarray[tuple[int], np.dtype[np.single]]
Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
Table = np.ndarray[tuple[int, int], np.dtype[np.int64]]
FAINT = 0.02
BATCH = 5_000
MANY = 5
STRIDE = 16
SHAPE = ("weight", "dilution", "typical")


class Sums(NamedTuple):
    """As `postings.Sums`: the same to the last bit, since all is added in the same order."""

    alone: Doubles
    together: Doubles

    def best_alone(self, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
        return _best(self.alone, keep, within, earlier)

    def best_together(self, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
        return _best(self.together, keep, within, earlier)


def add_up(gains: list[Gain], size: int) -> Sums:
    """The sums of these gains over `size` slots."""
    alone = np.zeros(size)
    together = np.zeros(size) if any(gain.recalled for gain in gains) else alone
    for gain in gains:
        _add(gain, alone, together)
    return Sums(alone, together)


def pack_columns(documents: Iterable[Document]) -> Postings:
    """The postings of these documents, posted under 0, 1, 2 …: the same weights as `weigh_document`, term by term."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    pieces: list[_Piece] = []
    pending = iter(documents)
    first = 0
    while piece := _read(islice(pending, BATCH), first, numbers):
        pieces.append(piece)
        first += BATCH
    if not pieces:
        return Postings()
    terms, slots, weights, fields = (np.concatenate(part) for part in zip(*pieces, strict=True))
    order = np.argsort(terms, kind="stable")
    pack = Pack.of(
        array("i", np.cumsum(np.bincount(terms)).tolist()),
        array("q", slots[order].tobytes()),
        array("f", weights[order].tobytes()),
        array("B", fields[order].tobytes()),
    )
    return Postings(numbers, pack)


class _Piece(NamedTuple):
    """Postings of some documents, by term."""

    terms: Integers
    slots: Integers
    weights: Singles
    fields: Bytes


def _read(documents: Iterable[Document], first: int, numbers: Mapping[str, int]) -> _Piece | None:
    """The postings of these documents, the first of which has this slot; None where there are none."""
    said, lengths = array("q"), array("q")
    for document in documents:
        said.extend(map(numbers.__getitem__, chain.from_iterable(document.parts)))
        lengths.extend(map(len, document.parts))
    if not lengths:
        return None
    return _weigh(np.frombuffer(said, dtype=np.int64), np.frombuffer(lengths, dtype=np.int64), first)


def _weigh(said: Integers, lengths: Integers, first: int) -> _Piece:
    """Sort all terms of some documents at once, by term, document and field, and add up what stands together."""
    documents = len(lengths) // len(FIELDS)
    places = (np.arange(documents)[:, None] * STRIDE + np.arange(len(FIELDS))).ravel()
    standing, counts = np.unique(said * (documents * STRIDE) + np.repeat(places, lengths), return_counts=True)
    holding, number = standing // STRIDE, standing % STRIDE
    is_first = np.diff(holding, prepend=-1) != 0
    document = holding % documents
    gained = counts * _part_shares(lengths.reshape(documents, len(FIELDS)))[document, number]
    totals = np.bincount(np.cumsum(is_first) - 1, weights=gained)
    return _Piece(
        holding[is_first] // documents,
        first + document[is_first],
        (totals / (totals + SATURATION)).astype(np.single),
        number[is_first].astype(np.uint8),
    )


def _part_shares(lengths: Table) -> Doubles:
    """`Field.share` of every field of every document."""
    weight, dilution, typical = (np.array([getattr(part, name) for part in FIELDS]) for name in SHAPE)
    return weight / (1.0 - dilution + dilution * lengths / typical)


def _add(gain: Gain, alone: Doubles, together: Doubles) -> None:
    columns, recalled = gain
    if len(columns) == 1 and not recalled:
        slots, shares = _shares(*columns[0])
        alone[slots] += shares
        if together is not alone:
            together[slots] += shares
        return
    most = np.zeros(len(alone))
    _keep_most(columns, most)
    alone += most
    if together is not alone:
        _keep_most(recalled, most)
        together += most


def _keep_most(weighed: Weighed, most: Doubles) -> None:
    """Raise each document to the most that one of these terms gives it."""
    if len(weighed) < MANY:
        for column, weight in weighed:
            slots, shares = _shares(column, weight)
            most[slots] = np.maximum(most[slots], shares)
    else:
        parts = [_shares(column, weight) for column, weight in weighed]
        np.maximum.at(most, np.concatenate([slots for slots, _ in parts]), np.concatenate([part for _, part in parts]))


def _shares(column: Column, weight: float) -> tuple[Integers, Doubles]:
    slots = np.frombuffer(column.slots, dtype=np.int64)
    # Buffers of floats are unknown to the types of numpy, though it reads them.
    weights = np.frombuffer(cast("array[int]", column.weights), dtype=np.single)
    return slots, np.multiply(weights, weight, dtype=np.double)


def _best(sums: Doubles, keep: int, within: Iterable[int] | None, earlier: Earlier) -> Found:
    if within is not None:
        chosen = np.fromiter(within, dtype=np.intp)
        kept = np.zeros(len(sums))
        kept[chosen] = sums[chosen]
        sums = kept
    found = _highest(sums, keep, earlier)
    return dict(zip(found.tolist(), sums[found].tolist(), strict=True))


def _highest(sums: Doubles, keep: int, earlier: Earlier) -> Integers:
    """Slots of the highest sums. Most sums are low or nought: a falling threshold finds the few worth sorting."""
    if not len(sums) or (threshold := float(sums.max())) <= 0.0:
        return np.empty(0, dtype=np.intp)
    while True:
        threshold *= 0.75
        found = np.flatnonzero(sums >= threshold if threshold >= FAINT else sums > 0.0)
        if threshold < FAINT or len(found) >= keep:
            break
    if len(found) <= keep:
        return found
    scores = sums[found]
    least = np.partition(scores, len(scores) - keep)[len(scores) - keep]
    above = found[scores > least]
    level = earlier(found[scores == least].tolist(), keep - len(above))
    return np.sort(np.concatenate((above, np.array(level, dtype=np.intp))))
