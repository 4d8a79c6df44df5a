"""The same sums as `postings.best_candidates`, in numpy. Imported only where numpy is."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from itertools import count

import numpy as np

from toolcrib.catalog.index.document import Document
from toolcrib.catalog.index.postings import Candidate, Column, Earlier, Gain, Packed, Postings

Doubles = np.ndarray[tuple[int], np.dtype[np.double]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
FAINT = 0.02


def best_candidates(
    gains: Iterable[Gain], keep: int, within: Iterable[int] | None, earlier: Earlier, size: int
) -> list[Candidate]:
    """The `keep` highest sums of gains, over `size` slots."""
    sums = np.zeros(size)
    for gain in gains:
        _add(gain, sums)
    if within is not None:
        chosen = np.fromiter(within, dtype=np.intp)
        kept = np.zeros(size)
        kept[chosen] = sums[chosen]
        sums = kept
    found = _highest(sums, keep, earlier)
    return [Candidate(slot, score) for slot, score in zip(found.tolist(), sums[found].tolist(), strict=True)]


def pack_columns(documents: Iterable[Document]) -> Postings:
    """The postings of these documents, posted under 0, 1, 2 …: all terms sorted at once."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    terms, weights, fields, lengths = array("i"), array("f"), array("B"), array("q")
    for document in documents:
        terms.extend(map(numbers.__getitem__, document.weights))
        weights.extend(document.weights.values())
        fields.frombytes(document.fields)
        lengths.append(len(document.weights))
    ids = np.frombuffer(terms, dtype=np.intc)
    order = np.argsort(ids, kind="stable")
    slots = np.repeat(np.arange(len(lengths)), np.frombuffer(lengths, dtype=np.int64))[order]
    ends = array("i", np.cumsum(np.bincount(ids, minlength=len(numbers))).tolist())
    packed = Packed(
        ends,
        array("q", slots.tobytes()),
        array("f", np.frombuffer(weights, dtype=np.single)[order].tobytes()),
        array("B", np.frombuffer(fields, dtype=np.uint8)[order].tobytes()),
    )
    return Postings(numbers, packed).unfold()


def _add(gain: Gain, sums: Doubles) -> None:
    """Add what each document gains: float64, in the order of plain Python, so that the sums agree to the last bit."""
    if len(gain) == 1:
        slots, shares = _shares(*gain[0])
        sums[slots] += shares
        return
    most = np.zeros(len(sums))
    first, *others = gain
    slots, shares = _shares(*first)
    most[slots] = shares
    for column, weight in others:
        slots, shares = _shares(column, weight)
        most[slots] = np.maximum(most[slots], shares)
    sums += most


def _shares(column: Column, weight: float) -> tuple[Integers, Doubles]:
    slots = np.frombuffer(column.slots, dtype=np.int64)
    return slots, np.frombuffer(column.weights, dtype=np.single).astype(np.double) * weight


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
