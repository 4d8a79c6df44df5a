"""Parse a model's text: all at once, or piece by piece with the same result."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import replace

from toolcrib.dialects import prose
from toolcrib.dialects.formats.spec import Format
from toolcrib.dialects.grammar import grammar
from toolcrib.dialects.ledger import Unheard
from toolcrib.dialects.parsed import Delta, Parsed
from toolcrib.dialects.reader import Code, Reader
from toolcrib.dialects.tools import AnyTool, ToolTable


def parse(
    text: str | bytes,
    tools: Iterable[AnyTool] | None = None,
    dialect: str | Format | None = None,
    start_in_reasoning: bool = False,
    code: Code = Code.CONTENT,
) -> Parsed:
    """Calls, content and reasoning of a whole text. `dialect` is a name or a description; None means: find out."""
    parser = StreamParser(tools, dialect, start_in_reasoning, code)
    parser.hear_nothing()
    parser.feed(text)
    return parser.finish()


def with_text_calls(answer: Parsed, tools: Iterable[AnyTool] | None, dialect: str | Format | None = None) -> Parsed:
    """A native answer, with the calls its text holds when it has none of its own. One or the other, never both."""
    if answer.calls or not answer.content:
        return answer
    parsed = parse(answer.content, tools, dialect)
    reasoning = "\n".join(filter(None, (answer.reasoning, parsed.reasoning))) or None
    return replace(parsed, reasoning=reasoning, notes=[*answer.notes, *parsed.notes])


class StreamParser:
    """Parses a text that arrives in pieces, cut anywhere, even inside a character when the pieces are bytes."""

    __slots__ = ("_advance", "_decode", "_dialect", "_ledger", "_reader", "_source", "rest")

    def __init__(
        self,
        tools: Iterable[AnyTool] | None = None,
        dialect: str | Format | None = None,
        start_in_reasoning: bool = False,
        code: Code = Code.CONTENT,
    ) -> None:
        table = ToolTable(tools)
        self._reader = Reader(grammar(dialect, table.known), table, code)
        self._source, self._ledger = self._reader.source, self._reader.ledger
        self._dialect = dialect.name if isinstance(dialect, Format) else dialect
        self.rest: list[Delta] = []
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._advance = prose.read(self._reader, in_reasoning=start_in_reasoning).__next__
        self._advance()

    def feed(self, piece: str | bytes) -> list[Delta]:
        """Take the next piece; return what it made certain."""
        if isinstance(piece, bytes):
            piece = self._decode(piece)
        if not piece:
            return []
        self._source.refill(piece)
        self._advance()
        ledger = self._ledger
        deltas, ledger.deltas = ledger.deltas, []
        return deltas

    def hear_nothing(self) -> None:
        """Say that the next piece's deltas will not be looked at: they need not be kept."""
        self._ledger.deltas = Unheard()

    def finish(self) -> Parsed:
        """Say that the text has ended; return the whole answer. What only the end made certain is in `rest`."""
        self._source.refill(self._decode(b"", True))
        self._source.closed = True
        try:
            self._advance()
        except StopIteration:
            pass
        ledger = self._ledger
        if self._dialect is not None:
            ledger.dialect = ledger.dialect or self._dialect
        parsed = ledger.result()
        self.rest, ledger.deltas = ledger.deltas, []
        return parsed
