"""Tools beside those of other families: which could be taken for one another, and which speak of one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from toolcrib.values.spec import ToolSpec

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-]+[A-Za-z0-9]+)+")
_LIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "_": None, "-": None, ".": None})
_SHORTEST_MASKED = 8
_SAME_WORDS = 0.6


@dataclass(slots=True)
class Neighbours:
    """An index of tools by how their names look and by what they are called in their own family."""

    looks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    masks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    tails: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])

    @classmethod
    def of(cls, specs: Iterable[ToolSpec]) -> Neighbours:
        index = cls()
        for spec in specs:
            tail = tail_of(spec)
            index.specs[spec.name] = spec
            index.looks.setdefault(look_of(tail), set()).add(spec.name)
            index.tails.setdefault(tail.lower(), set()).add(spec.name)
            for mask in _masks(tail.lower()):
                index.masks.setdefault(mask, set()).add(spec.name)
        return index

    def look_alikes(self, spec: ToolSpec) -> Iterator[str]:
        """Tools of other families whose names could be taken for this one's, though they are not the same."""
        tail = tail_of(spec).lower()
        near = set(self.looks.get(look_of(tail), ()))
        for mask in _masks(tail):
            near |= self.masks.get(mask, set())
        for name in sorted(near):
            other = tail_of(self.specs[name]).lower()
            if self._is_foreign_to(spec, name) and words_of(other) != words_of(tail) and not _is_variant(tail, other):
                yield f"its name looks like that of {name}"

    def shadows(self, spec: ToolSpec) -> Iterator[str]:
        """Tools that this one stands in front of: it bears their full name, or their name and their words."""
        raw = str(spec.metadata.get("raw_name") or tail_of(spec)).replace("__", ".").lower()
        for name in sorted(self.specs):
            if "." in raw and self._is_foreign_to(spec, name) and raw == name.lower():
                yield f"it calls itself {name}, which is another tool"
        tail = tail_of(spec).lower()
        for name in sorted(self.tails.get(tail, ())) if len(words_of(tail)) > 1 else ():
            if self._is_foreign_to(spec, name) and _likeness(spec, self.specs[name]) >= _SAME_WORDS:
                yield f"it has the name and the words of {name}"

    def named_in(self, text: str, spec: ToolSpec) -> list[str]:
        """Tools of other families that a text names; words that anybody uses are no names."""
        found: dict[str, None] = {}
        for token in _TOKEN.findall(text):
            plain = token.lower().replace("__", ".")
            if plain in self.specs:
                found.update(dict.fromkeys([plain] if self._is_foreign_to(spec, plain) else []))
            elif own := self.tails.get(plain):
                kin = any(not self._is_foreign_to(spec, name) for name in own)
                found.update({} if kin else {min(own): None})
        return list(found)

    def _is_foreign_to(self, spec: ToolSpec, name: str) -> bool:
        return name in self.specs and self.specs[name].family != spec.family


def tail_of(spec: ToolSpec) -> str:
    """What a tool is called in its own family."""
    return spec.name.removeprefix(f"{spec.family}.")


def look_of(name: str) -> str:
    """What a name looks like at a glance."""
    return name.lower().replace("rn", "m").replace("vv", "w").translate(_LIKE)


def words_of(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name))


def _masks(name: str) -> Iterator[str]:
    """A name with one letter left open: two names that differ in one letter share one."""
    if len(name) >= _SHORTEST_MASKED:
        yield from (f"{name[:number]}*{name[number + 1 :]}" for number in range(len(name)))


def _is_variant(name: str, other: str) -> bool:
    """Whether two names differ in a number or a whole short word, as honest relatives do."""
    pairs = zip(words_of(name), words_of(other), strict=False)
    differing = [(one, two) for one, two in pairs if one != two]
    return len(words_of(name)) == len(words_of(other)) and all(
        (one.isdigit() and two.isdigit()) or len(one) <= 3 for one, two in differing
    )


def _likeness(spec: ToolSpec, other: ToolSpec) -> float:
    mine, theirs = set(words_of(spec.description)), set(words_of(other.description))
    return len(mine & theirs) / max(len(mine | theirs), 1)
