"""The same sums as `postings.best_candidates`, in numpy. Imported only where numpy is."""

from collections.abc import Iterable

import numpy as np

from toolcrib.catalog.index.postings import Candidate, Column


def best_candidates(
    weighted: Iterable[tuple[Column, float]], keep: int, within: Iterable[int] | None, size: int
) -> list[Candidate]:
    """The `keep` highest sums with every tie at the cut, over `size` slots."""
    sums = np.zeros(size)
    for column, weight in weighted:
        # float64 and one term after another: the sums equal those of plain Python to the last bit.
        slots = np.frombuffer(column.slots, dtype=np.intc)
        sums[slots] += np.frombuffer(column.weights, dtype=np.single).astype(np.double) * weight
    if within is not None:
        chosen = np.fromiter(within, dtype=np.intp)
        kept = np.zeros(size)
        kept[chosen] = sums[chosen]
        sums = kept
    return _highest(sums, keep)


def _highest(sums: "np.ndarray[tuple[int], np.dtype[np.double]]", keep: int) -> list[Candidate]:
    least = 0.0
    if len(sums) > keep:
        least = float(np.partition(sums, len(sums) - keep)[len(sums) - keep])
    found = np.flatnonzero(sums >= least if least > 0.0 else sums > 0.0)
    return [Candidate(slot, score) for slot, score in zip(found.tolist(), sums[found].tolist(), strict=True)]
