"""Words that people and tools use for the same thing: a hand-made table over the vocabulary of tools."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from toolcrib.catalog.index.stem import stem

LOOSE = 0.45
CLOSE = 0.9
Synonyms = Mapping[str, Mapping[str, float]]


@cache
def read_synonyms() -> Synonyms:
    """Stem → the stems that mean nearly the same, in the table's order, each with its nearness."""
    near: dict[str, dict[str, float]] = {}
    for line in (files(__package__ or "") / "synonyms.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            _read_line(line, near)
    return MappingProxyType({one: MappingProxyType(others) for one, others in near.items()})


def _read_line(line: str, near: dict[str, dict[str, float]]) -> None:
    """`a b c` joins each with each, `a == b` more closely; `a = b c` explains a by b and c, one way only."""
    nearness = CLOSE if " == " in line else LOOSE
    short, explains, words = line.replace(" == ", " ").rpartition(" = ")
    stems = list(dict.fromkeys(stem(word) for word in words.split()))
    for one in [stem(short)] if explains else stems:
        known = near.setdefault(one, {})
        for other in stems:
            if other != one:
                known[other] = max(nearness, known.get(other, 0.0))
