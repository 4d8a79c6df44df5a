"""What the text between a pair of argument tags stands for."""

from __future__ import annotations

import re

from toolcrib.dialects.coerce import fit
from toolcrib.dialects.formats.spec import Text
from toolcrib.values.json import Json

CDATA = "<![CDATA["
_ANYTHING = frozenset({"integer", "number", "boolean", "null", "array", "object"})


def plain(text: str, start: int, end: int, meaning: Text) -> str:
    """The string that a stretch of text stands for."""
    if meaning is Text.LINES:  # by position: a copy per step would double a large value each time
        line_end = "\r\n" if text.startswith("\r\n", start, end) else "\n"
        if text.startswith(line_end, start, end):
            start += len(line_end)
        if text.endswith(line_end, start, end):
            end -= len(line_end)
    if meaning is Text.XML and text.startswith(CDATA, start, end) and text.find("]]>", start) == end - 3:
        return text[start + len(CDATA) : end - 3]
    value = text[start:end]
    return _from_xml(value) if meaning is Text.XML and ("&" in value or CDATA in value) else value


def _from_xml(text: str) -> str:
    import html  # its table of entities takes longer to load than all the rest

    pieces = re.split(r"(<!\[CDATA\[[\s\S]*?\]\]>)", text)
    return "".join(
        piece[len(CDATA) : -3] if piece.startswith(CDATA) and piece.endswith("]]>") else html.unescape(piece)
        for piece in pieces
    )


def typed(text: str, said: str | None, types: frozenset[str]) -> Json:
    """The value of an argument: by its schema, and where that is silent by what the markup says of it."""
    if types:
        return fit(text, types)
    return text if said in (None, "true", "string") else fit(text, _ANYTHING)
