"""Words that people and tools use for the same thing: a hand-made table over the vocabulary of tools."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from toolcrib.catalog.index.stem import stem


@cache
def read_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Stem → the stems that mean nearly the same, in the table's order."""
    near: dict[str, dict[str, None]] = {}
    for line in (files(__package__ or "") / "synonyms.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            _read_line(line, near)
    return MappingProxyType({one: tuple(others) for one, others in near.items()})


def _read_line(line: str, near: dict[str, dict[str, None]]) -> None:
    """`a b c` joins each with each; `a = b c` explains a by b and c, one way only."""
    short, explains, words = line.rpartition(" = ")
    stems = list(dict.fromkeys(stem(word) for word in words.split()))
    for one in [stem(short)] if explains else stems:
        near.setdefault(one, {}).update((other, None) for other in stems if other != one)
