"""Tools beside those of other families: which could be taken for one another, and which speak of one another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from toolcrib.values.spec import ToolSpec, ToolType

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-]+[A-Za-z0-9]+)+")
_LIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "_": None, "-": None, ".": None})
_SHORTEST_MASKED = 8
_SAME_WORDS = 0.8
_SHORT_WORD = 5
_MOST = 4
_STEERING = re.compile(
    r"\b(?:before|prior to|whenever|(?:each|every) time|instead of|rather than|after)\b"
    r"([^.\n]{0,60}(?:\.\w[^.\n]{0,60}){0,3})",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Neighbours:
    """An index of tools by how their names look and by what they are called in their own family."""

    looks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    masks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    tails: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    kin: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    names: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, specs: Iterable[ToolSpec]) -> Neighbours:
        index = cls()
        for spec in specs:
            tail = tail_of(spec)
            index.specs[spec.name], index.names[spec.name.lower()] = spec, spec.name
            index.kin.add((spec.family, tail.lower()))
            _file(index.looks, look_of(tail), spec.name)
            _file(index.tails, tail.lower(), spec.name)
            for mask in _masks(tail.lower()):
                _file(index.masks, mask, spec.name)
        return index

    def look_alikes(self, spec: ToolSpec) -> Iterator[str]:
        """Tools of other families whose names could be taken for this one's, though they are not the same."""
        tail = tail_of(spec)
        near = set(self.looks.get(look_of(tail), ()))
        for mask in _masks(tail.lower()):
            near.update(self.masks.get(mask, ()))
        for name in sorted(near):
            if self._is_foreign_to(spec, name) and _deceives(tail, tail_of(self.specs[name])):
                yield f"its name looks like that of {name}"

    def shadows(self, spec: ToolSpec) -> Iterator[str]:
        """Tools that this one stands in front of: it bears their full name, or their name and their words."""
        tail = tail_of(spec).lower()
        raw = str(spec.metadata.get("raw_name") or tail).replace("__", ".").lower()
        if "." in raw and (name := self.names.get(raw)) is not None and self._is_foreign_to(spec, name):
            yield f"it calls itself {name}, which is another tool"
        for name in self.tails.get(tail, ()) if len(words_of(tail)) > 1 else ():
            other = self.specs[name]
            if self._is_foreign_to(spec, name) and _imitates(spec, other):
                yield f"it has the name and the words of {name}"

    def steered_in(self, text: str, spec: ToolSpec) -> list[str]:
        """Tools of other families of which a text says when to use them; to name one in passing is nothing."""
        found: dict[str, None] = {}
        for turn in _STEERING.finditer(text):
            for token in _TOKEN.findall(turn[1]):
                plain = token.lower().replace("__", ".")
                meant = [self.names[plain]] if plain in self.names else self.tails.get(plain, [])
                if (spec.family, plain) not in self.kin and meant and self._is_foreign_to(spec, meant[0]):
                    found[meant[0]] = None
        return list(found)

    def _is_foreign_to(self, spec: ToolSpec, name: str) -> bool:
        return name in self.specs and self.specs[name].family != spec.family


def _file(index: dict[str, list[str]], key: str, name: str) -> None:
    """Keep the first few: a hundred servers with the same names need not be compared with one another."""
    held = index.setdefault(key, [])
    if len(held) < _MOST:
        held.append(name)


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


def _deceives(name: str, other: str) -> bool:
    """Whether two names look alike and are not: not the same words, nor honest relatives (`get_date`, `get_data`)."""
    mine, theirs = words_of(name), words_of(other)
    if "".join(mine) == "".join(theirs) or len(mine) != len(theirs):
        return False
    differing = [(one, two) for one, two in zip(mine, theirs, strict=True) if one != two]
    return all(look_of(one) == look_of(two) or min(len(one), len(two)) > _SHORT_WORD for one, two in differing)


def _imitates(spec: ToolSpec, other: ToolSpec) -> bool:
    """Whether two servers' tools say the same; two copies of one server in two places do so honestly."""
    same_program = bool(spec.source.version) and spec.source.version == other.source.version
    return other.tool_type is ToolType.MCP and not same_program and _likeness(spec, other) >= _SAME_WORDS


def _likeness(spec: ToolSpec, other: ToolSpec) -> float:
    mine, theirs = set(words_of(spec.description)), set(words_of(other.description))
    return len(mine & theirs) / max(len(mine | theirs), 1)
