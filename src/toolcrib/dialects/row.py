"""Calls in a row: behind a call that was read, those that stand whole in the window just as their format writes them.

This is a shortcut: whatever is not to the letter is left unread, for the families to read step by step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from toolcrib.dialects.families import family
from toolcrib.dialects.formats.spec import Channels, Format, JsonBlock, Nested
from toolcrib.dialects.reader import Reader

EnterWhole = Callable[[Reader, Format], bool]
_ALLOWANCE, _AGAIN = 200_000, 4


def take_row(reader: Reader, spec: Format) -> None:
    """Enter the calls that follow. The ledger must just have noted markup: white space between calls is layout."""
    row = _row(spec)
    if row is None or not reader.tools.known:
        return
    source, enter_whole = reader.source, row.enter_whole
    window, begin = source.window, source.pos
    while not reader.spent and (opened := row.lead(window, begin)) is not None:
        if opened.re.groups > 1 and opened["name"] not in reader.tools.known:
            break
        source.pos = opened.start("call")
        source.mark()
        reader.opened, source.pos = source.position, opened.end()
        if reader.wasted > _ALLOWANCE + _AGAIN * reader.opened or not enter_whole(reader, spec):
            reader.wasted += len(window) - begin
            source.pos = begin
            break
        reader.own_call()
        begin = source.pos
    source.release()


class _Row(NamedTuple):
    """How one call leads to the next, which begins at the group `call`; a group `name` must name a tool."""

    lead: Callable[[str, int], re.Match[str] | None]
    enter_whole: EnterWhole


@lru_cache(maxsize=128)
def _row(spec: Format) -> _Row | None:
    """Made from the layout: what stands between the end of a call and the body of the next. None in lists."""
    if "<>" in spec.opens:  # the tag is the name of a tool
        return _Row(re.compile(r"\s*(?P<call>)(?=<)").match, family(type(spec)).enter_whole)
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
    return _Row(re.compile(rf"\s*{_loose(written[:start])}(?P<call>{lead})").match, family(type(spec)).enter_whole)


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
    return "".join(
        r"(?P<name>[\w.\-]+)" if it == "$name" else r"\s*" if it.isspace() else re.escape(it) for it in pieces
    )
