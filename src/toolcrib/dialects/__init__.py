"""Every model's tool-call language: text formats and native ones, in both directions, streaming.

Usable on its own: nothing here imports the engine, a store or a framework. Deciding whether a call may run is not done
here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from toolcrib.dialects.parsed import Delta, Kind, Note, Parsed, ParsedCall, Span, Status

if TYPE_CHECKING:
    from toolcrib.dialects.reader import Code
    from toolcrib.dialects.render import render_calls
    from toolcrib.dialects.stream import StreamParser, parse, with_text_calls

__all__ = [
    "Code",
    "Delta",
    "Kind",
    "Note",
    "Parsed",
    "ParsedCall",
    "Span",
    "Status",
    "StreamParser",
    "parse",
    "render_calls",
    "with_text_calls",
]

_HOMES = {
    "Code": "reader",
    "StreamParser": "stream",
    "parse": "stream",
    "render_calls": "render",
    "with_text_calls": "stream",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
