"""Every model's tool-call language: text formats and native ones, in both directions, streaming.

Usable on its own: nothing here imports the engine, a store or a framework. Deciding whether a call may run is not done
here.
"""

from toolcrib.dialects.parsed import Delta, Kind, Note, Parsed, ParsedCall, Span, Status
from toolcrib.dialects.reader import Code
from toolcrib.dialects.stream import StreamParser, parse

__all__ = ["Code", "Delta", "Kind", "Note", "Parsed", "ParsedCall", "Span", "Status", "StreamParser", "parse"]
