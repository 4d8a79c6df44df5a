"""The postings of many documents at once, in plain Python: term by term, as they lie in a snapshot."""

from array import array
from collections.abc import Iterable

from toolcrib.catalog.index.document import SATURATION, Document, masses_of
from toolcrib.catalog.index.postings import Pack, Postings

_Lists = tuple[list[int], list[float], list[int]]


def pack_columns(documents: Iterable[Document]) -> Postings:
    """The postings of these documents, posted under 0, 1, 2 …"""
    columns: dict[str, _Lists] = {}
    known = columns.get
    for slot, document in enumerate(documents):
        masses, fields = masses_of(document)
        for (term, mass), field in zip(masses.items(), fields, strict=True):
            column = known(term)
            if column is None:
                columns[term] = [slot], [mass / (mass + SATURATION)], [field]
            else:
                column[0].append(slot)
                column[1].append(mass / (mass + SATURATION))
                column[2].append(field)
    return Postings(columns, _end_to_end(columns.values()))


def _end_to_end(columns: Iterable[_Lists]) -> Pack:
    ends, slots, weights, fields = array("i"), array("q"), array("f"), array("B")
    for column in columns:
        slots.fromlist(column[0])
        weights.fromlist(column[1])
        fields.fromlist(column[2])
        ends.append(len(slots))
    return Pack.of(ends, slots, weights, fields)
