"""Calls in a row: behind a call that was read, those that stand whole in the window just as their format writes them.

This is a shortcut: whatever is not to the letter is left unread, for the families to read step by step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from toolcrib.dialects.families import family
from toolcrib.dialects.formats.spec import Channels, Format, JsonBlock, Nested
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.reader import Reader, Take

Matching: TypeAlias = "Callable[[str, int], re.Match[str] | None]"
_ALLOWANCE, _AGAIN = 200_000, 4


class Row(NamedTuple):
    """How one call leads to the next, whose text begins at the group `call`, and how that is taken from there."""

    lead: Matching
    take: Take


def take_row(reader: Reader, row: Row) -> None:
    """Enter the calls that follow. The last owned character must belong to a call: what lies between is layout."""
    source = reader.source
    if not reader.tools.known or reader.spent or reader.wasted > _ALLOWANCE + _AGAIN * source.position:
        return
    lead, take = row
    follow = reader.ledger.following()
    window, base, begin = source.window, source.base, source.pos
    while (opened := lead(window, begin)) is not None:
        call = take(reader, opened)
        if call is None:
            reader.wasted += len(window) - begin
            break
        start, begin = opened.start("call"), source.pos
        follow(call, base + start, base + begin)
    source.pos = begin


def take_following(reader: Reader, spec: Format) -> None:
    """Enter the calls that follow with an opening of their own. The ledger must just have noted markup."""
    row = _row(spec)
    if row is not None:
        take_row(reader, row)


def with_close(take: Take, closes: tuple[str, ...], otherwise: str) -> Take:
    """The same up to one of `closes`; for a format without any, up to where the pattern `otherwise` fits."""
    tail = re.compile(rf"\s*(?:{'|'.join(map(re.escape, closes)) or otherwise})").match

    def take_closed(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        call, source = take(reader, head), reader.source
        end = tail(source.window, source.pos) if call is not None else None
        if end is None:
            return None
        source.pos = end.end()
        return call

    return take_closed


@lru_cache(maxsize=128)
def _row(spec: Format) -> Row | None:
    """Made from the layout: what stands between the end of a call and the body of the next. None in lists."""
    reading = family(type(spec))
    if "<>" in spec.opens:  # the tag is the name of a tool
        return Row(re.compile(rf"\s*(?P<call>){reading.head(spec)}").match, reading.taking(spec))
    layout, end = spec.layout, _end(spec)
    written = (layout.each[end:] + layout.between + layout.each[:end]).lstrip()
    openings = [opening for opening in spec.opens if opening and opening in written]
    if spec.bare or not openings:
        return None
    start = min(written.find(opening) for opening in openings)
    body = max(written.find(opening) + len(opening) for opening in openings)
    lead = re.escape(written[start:body])
    if isinstance(spec, JsonBlock):
        lead += _loose(written[body : written.find("{", body)])
    take = reading.taking(spec)
    if "$name" in written[:start]:
        take = _addressed(take)
    return Row(re.compile(rf"\s*{_loose(written[:start])}(?P<call>{lead}){reading.head(spec)}").match, take)


def _addressed(take: Take) -> Take:
    """What takes a call whose lead names the tool as well."""

    def take_addressed(reader: Reader, opened: re.Match[str]) -> ParsedCall | None:
        return take(reader, opened) if opened["to"] == opened["name"] else None

    return take_addressed


def _end(spec: Format) -> int:
    """Where in the layout a call ends: behind its close, or behind its arguments."""
    each = spec.layout.each
    closes = spec.ends if isinstance(spec, Channels) else spec.closes
    if isinstance(spec, Nested):
        closes = (f"{spec.prefix}</{spec.element}>",)
    ends = [each.rfind(close) + len(close) for close in closes if close in each]
    return max(ends, default=max(each.rfind(last) + len(last) for last in ("}", ")", "$arguments")))


def _loose(template: str) -> str:
    """A pattern for what a layout writes, with free white space."""
    pieces = re.split(r"(\$[a-z]+|\s+)", template)
    return "".join(r"(?P<to>[\w.\-]+)" if it == "$name" else r"\s*" if it.isspace() else re.escape(it) for it in pieces)
