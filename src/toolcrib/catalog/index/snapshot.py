"""An index as bytes: a JSON head with the words and names, then the columns as raw arrays."""

import json
import sys
import zlib
from array import array
from dataclasses import dataclass
from heapq import nsmallest
from operator import lt

from toolcrib.catalog.index.names import Names
from toolcrib.catalog.index.postings import Pack, Postings

MAGIC = b"toolcrib index 2\n"


class SnapshotError(ValueError):
    """The bytes are not a snapshot that this version can read."""


@dataclass(slots=True)
class Contents:
    """Everything an index holds, by slot and by term."""

    names_by_slot: list[str]
    kinds: list[str]
    name_terms: list[str]
    keys: list[str]
    postings: Postings
    names: Names

    in_order: bool = True
    """Whether slots stand in the order of their names, as they do where all were given at once."""

    def earlier(self, slots: list[int], count: int) -> list[int]:
        """The first so many of these slots by name. Where many tools say the same, all of them may be equal."""
        if self.in_order or len(slots) <= count:
            return slots[:count]
        return nsmallest(count, slots, key=self.names_by_slot.__getitem__)

    def grow(self) -> int:
        """A new empty slot."""
        for column in (self.names_by_slot, self.kinds, self.name_terms, self.keys):
            column.append("")
        return len(self.names_by_slot) - 1


def pack(contents: Contents) -> bytes:
    """The contents in a form that `unpack` reads without looking at each posting."""
    terms = sorted(contents.postings.terms())
    ends, slots, weights, fields = array("i"), array("q"), array("f"), array("B")
    for term in terms:
        column = contents.postings.column(term)
        slots.extend(column.slots)
        weights.extend(column.weights)
        fields.extend(column.fields)
        ends.append(len(slots))
    head = json.dumps(
        {
            "byteorder": sys.byteorder,
            "terms": terms,
            "rows": [contents.names_by_slot, contents.kinds, contents.name_terms, contents.keys],
            "names": [contents.names.full, contents.names.alias, contents.names.last],
        }
    ).encode()
    parts = [head, *(part.tobytes() for part in (ends, slots, weights, fields))]
    sizes = array("q", [len(part) for part in parts]).tobytes()
    body = b"".join([sizes, *parts])
    return MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


def unpack(data: bytes) -> Contents:
    """The contents again; raises SnapshotError rather than trust damaged bytes."""
    start = len(MAGIC) + 4
    body = memoryview(data)[start:]
    if data[: len(MAGIC)] != MAGIC or zlib.crc32(body) != int.from_bytes(data[len(MAGIC) : start], "little"):
        raise SnapshotError("not an index snapshot of this version, or damaged: build the index anew")
    sizes = array("q", body[:40].tobytes())
    parts: list[memoryview] = []
    at = 40
    for size in sizes:
        parts.append(body[at : at + size])
        at += size
    head = json.loads(bytes(parts[0]))
    if head["byteorder"] != sys.byteorder:
        raise SnapshotError("the snapshot was written on a machine of another byte order: build the index anew")
    columns = (array("i"), array("q"), array("f"), array("B"))
    for column, part in zip(columns, parts[1:], strict=True):
        column.frombytes(part)
    names, kinds, name_terms, keys = head["rows"]
    full, alias, last = head["names"]
    in_order = all(map(lt, names, names[1:]))
    postings = Postings(head["terms"], Pack.of(*columns))
    return Contents(names, kinds, name_terms, keys, postings, Names(full, alias, last), in_order)
