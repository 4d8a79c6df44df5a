"""Calls with one tag per argument that stand whole in the window, every tag in its place: taken at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from sys import intern
from typing import TypeAlias

from toolcrib.dialects.families.tagged_values import CDATA, plain, typed
from toolcrib.dialects.formats.spec import Tagged, Text
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.reader import Reader, Take
from toolcrib.values.json import Json

_WORD = r"[^\W\d][\w.\-]*"
_HOLES = {"$is_string": r"(\w+)", "$type": r"(\w+)", "$number": r"\d+", "$index": r"\d+"}


def head(spec: Tagged) -> str:
    """Made from the layout: what stands around the name. A format without one is only ever read step by step."""
    each = spec.layout.each
    before = max((opening for opening in spec.opens if opening in each), key=len, default="")
    written = each[each.find(before) + len(before) :].partition("$pairs")[0]
    return _pattern(written, "$name", f"(?P<name>{_WORD})") if written else "(?!)"


@lru_cache(maxsize=64)
def taking(spec: Tagged) -> Take:
    """What takes a call of a known tool, unless there is markup among its values."""
    step, close, value_of = _step(spec), spec.value_close, _value_of(spec.text)
    lines, says_type = spec.text is Text.LINES, "$type" in spec.layout.pair or "$is_string" in spec.layout.pair

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        name, source, tools = head["name"], reader.source, reader.tools
        if tools.known is None or name not in tools.known:
            return None
        window, members = source.window, tools.members(name)
        as_it_is = value_of is None or (lines and reader.grammar.detecting and not head[0][-1].isspace())
        arguments: dict[str, Json] = {}
        begin = end = pos = head.end()
        while (tag := step(window, pos)) is not None:
            key, start = tag[1], tag.end()
            if key is None:
                if _holds_tags(window, begin, end, spec, len(arguments)) if close else tag[2] != name:
                    return None
                source.pos = start
                return ParsedCall(intern(name), arguments)
            ending = close or f"</{key}>"
            if value_of is None or as_it_is:
                end = window.find(ending, start)
                value = window[start:end]
            else:
                value, end = value_of(window, start, ending)
            if end < 0 or key in arguments:
                return None
            member = members[key]
            arguments[intern(key)] = (
                value if member.is_text else typed(value, tag[2] if says_type else None, member.types)
            )
            pos = end + len(ending)
        return None

    return take


def _step(spec: Tagged) -> Callable[[str, int], re.Match[str] | None]:
    """From tag to tag: to the first character of the next value, or behind the call."""
    key = spec.layout.pair.partition("$value")[0].lstrip()
    if spec.text is Text.LINES:
        key = key.removesuffix("\n")
    closes = "|".join(map(re.escape, spec.closes)) or f"</({_WORD})>"
    return re.compile(rf"\s*(?:{_pattern(key, '$key', f'({_WORD})')}|{closes})").match


def _pattern(template: str, hole: str, word: str) -> str:
    """A pattern for what a layout writes: to the letter, but for white space at its end, which is free."""
    written = template.rstrip()
    pieces = re.split(r"(\$[a-z_]+)", written)
    made = (word if piece == hole else _HOLES.get(piece) or re.escape(piece) for piece in pieces)
    return "".join(made) + r"\s*" * (written != template)


def _holds_tags(window: str, begin: int, end: int, spec: Tagged, count: int) -> bool:
    """Whether there is markup among the values that would not be there if each had been closed."""
    if window.count(spec.parameter_opens[0], begin, end) > count:
        return True
    return any(window.find(close, begin, end) >= 0 for close in spec.closes)


_ValueOf: TypeAlias = "Callable[[str, int, str], tuple[str, int]]"


def _value_of(text: Text) -> _ValueOf | None:
    """What finds the value that begins at a place, and where the close behind it stands, -1 if it does not."""
    return {Text.VERBATIM: None, Text.LINES: _line_value, Text.XML: _xml_value}[text]


def _line_value(window: str, start: int, close: str) -> tuple[str, int]:
    end = window.find(close, start)
    if window.startswith("\n", start) and window.endswith("\n", start + 1, end):
        return window[start + 1 : end - 1], end
    return plain(window, start, end, Text.LINES) if end >= 0 else "", end


def _xml_value(window: str, start: int, close: str) -> tuple[str, int]:
    if window.startswith(CDATA, start):
        end = window.find("]]>", start) + 3
        if window.startswith(close, end):
            return window[start + len(CDATA) : end - 3], end
    end = _close_in_xml(window, start, close)
    return plain(window, start, end, Text.XML) if end >= 0 else "", end


def _close_in_xml(window: str, start: int, close: str) -> int:
    """Where the close of a value stands, -1 if it is not there; one inside a CDATA section is text."""
    end = window.find(close, start)
    while end >= 0 and (section := window.find(CDATA, start, end)) >= 0:
        start = window.find("]]>", section) + 3
        end = window.find(close, start) if start > 2 else -1
    return end
