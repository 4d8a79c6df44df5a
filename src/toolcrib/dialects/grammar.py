"""Which strings mean what in a dialect: the openings of one format and its cousins, or of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from toolcrib.dialects.formats import FORMATS, GROUPS, NAMES
from toolcrib.dialects.formats.spec import ANY, LETTER, Format, Invoked, JsonBlock, Nested, Tagged
from toolcrib.dialects.source import Markers

NAMED_TAGS_LIMIT = 64


class Alternative(NamedTuple):
    """One way to go on after an opening. `close` is set when the opening only wraps calls."""

    format: Format
    starts: str
    own: bool
    close: str = ""
    ahead: re.Pattern[str] | None = None

    def accepts(self, char: str) -> bool:
        if self.starts == ANY or char in self.starts:
            return True
        return LETTER in self.starts and (char.isalpha() or char == "_")


class Grammar(NamedTuple):
    """Everything that can happen in prose."""

    markers: Markers
    openings: dict[str, tuple[Alternative, ...]]
    reasoning: dict[str, str]
    reasoning_closes: Markers
    drops: frozenset[str]
    frames: dict[str, str]
    at_start: tuple[Alternative, ...]
    detecting: bool


def grammar(dialect: str | Format | None, tool_names: frozenset[str] | None) -> Grammar:
    """The grammar of a dialect, or of every dialect when none is given."""
    if dialect is None:
        names = tool_names if tool_names and len(tool_names) <= NAMED_TAGS_LIMIT else frozenset[str]()
        return _build(tuple(FORMATS.values()), True, names)
    formats = chosen(dialect)
    by_name = any("<>" in spec.opens for spec in formats)
    return _build(formats, False, tool_names if tool_names and by_name else frozenset[str]())


def chosen(dialect: str | Format) -> tuple[Format, ...]:
    """The formats a dialect stands for."""
    if isinstance(dialect, Format):
        return (dialect,)
    if dialect in GROUPS:
        return tuple(FORMATS[name] for name in GROUPS[dialect])
    name = NAMES.get(dialect, dialect)
    if name not in FORMATS:
        raise ValueError(f"unknown dialect {dialect!r}; known: {', '.join(sorted((*FORMATS, *GROUPS)))}")
    return (FORMATS[name],)


@lru_cache(maxsize=128)
def _build(formats: tuple[Format, ...], detecting: bool, tool_names: frozenset[str]) -> Grammar:
    openings: dict[str, list[Alternative]] = {}
    for spec in formats:
        _add(openings, spec, tool_names, own=True)
    for cousin in () if detecting else _cousins(formats, openings):
        _add(openings, cousin, frozenset(), own=False)
    for spec in () if detecting else formats:
        _add_json(openings, spec)
    at_start = tuple(
        option for option in openings.pop("", ()) if not (detecting and isinstance(option.format, Invoked))
    )
    reasoning = dict(spec.reasoning for spec in formats)
    drops = frozenset(token for spec in formats for token in spec.drops)
    frames = {opening: close for spec in formats for opening, close in spec.frames if opening not in openings}
    closes = {alternative.close for options in openings.values() for alternative in options if alternative.close}
    closes.update(close for spec in formats for close in spec.closes)
    literals = {*openings, *reasoning, *drops, *frames, *closes, "`", "~~~"} - {""}
    return Grammar(
        Markers(literals, _lookahead(openings)),
        {opening: tuple(options) for opening, options in openings.items()},
        reasoning,
        Markers(reasoning.values()),
        drops,
        frames,
        at_start,
        detecting,
    )


def _lookahead(openings: dict[str, list[Alternative]]) -> dict[str, str]:
    """What must follow an opening, for openings that mean nothing without it."""
    return {
        opening: "|".join({option.ahead.pattern for option in options if option.ahead})
        for opening, options in openings.items()
        if all(option.ahead for option in options)
    }


def _add(openings: dict[str, list[Alternative]], spec: Format, tool_names: Iterable[str], *, own: bool) -> None:
    ahead = {opening: re.compile(pattern) for opening, pattern in spec.ahead}
    named = (f"<{name}>" for name in tool_names) if "<>" in spec.opens else ()
    for opening in (*spec.opens, *named):
        if opening != "<>":
            _offer(openings.setdefault(opening, []), Alternative(spec, spec.starts, own, ahead=ahead.get(opening)))
    for opening, close in spec.wraps:
        inner = "".join(sorted({opened[0] for opened in spec.opens if opened}))
        _offer(openings.setdefault(opening, []), Alternative(spec, inner, own, close))


def _add_json(openings: dict[str, list[Alternative]], spec: Format) -> None:
    """Let JSON stand between the tags of a format that writes something else there: models drift to it."""
    tags = spec.wraps or (tuple((opening, spec.closes[0]) for opening in spec.opens) if spec.closes else ())
    for opening, close in tags if isinstance(spec, Tagged | Invoked | Nested) else ():
        json = JsonBlock(name=spec.name, opens=(opening,), closes=(close,), starts="{[", layout=spec.layout)
        if len(opening) > 3 and not opening.endswith("="):
            _offer(openings.setdefault(opening, []), Alternative(json, json.starts, own=False))


def _offer(options: list[Alternative], option: Alternative) -> None:
    """Add a way to go on, unless one that reads the same is there."""
    if all(_reading(other) != _reading(option) for other in options):
        options.append(option)


def _reading(option: Alternative) -> tuple[object, ...]:
    spec = option.format
    same = [value for key, value in spec.values().items() if key not in _ASIDE]
    return type(spec), same, option.starts, option.close


_ASIDE = frozenset({"name", "names", "layout", "declaration", "drops", "frames", "reasoning", "wraps"})


def _cousins(formats: tuple[Format, ...], openings: dict[str, list[Alternative]]) -> list[Format]:
    """Formats that share an opening: models drift from one to the other under the same tag."""
    shared = {opening for opening in openings if len(opening) > 3}
    return [
        spec
        for spec in FORMATS.values()
        if spec not in formats
        and not spec.bare
        and shared.intersection((*spec.opens, *(pair[0] for pair in spec.wraps)))
    ]
