"""Where parsed text goes: content, reasoning, calls and notes, with the owner of every character."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from toolcrib.dialects.parsed import Delta, Kind, Note, Parsed, ParsedCall, Span
from toolcrib.dialects.source import Pieces

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
_OPENING = " \t\n([{:=,>"
_HEAD = 5
_SOMETHING = "....."
_CALL, _MARKUP = Kind.CALL, Kind.MARKUP
# Calling the class takes twice as long, which counts where there are thousands of calls.
_span = cast("Callable[[type[Span], tuple[Kind, int, int]], Span]", vars(tuple)["__new__"])


class Unheard(list[Delta]):
    """The deltas of a text that is read at once: nobody looks at them."""

    __slots__ = ()

    def append(self, object: Delta, /) -> None:
        pass


class Ledger:
    """Collects one answer.

    White space beside markup is layout. Between two pieces of content only the white space before the markup stays
    (or, if there is none, that behind it); at the beginning and at the end of the content none does.
    """

    __slots__ = (
        "_content",
        "_empty",
        "_gap",
        "_line",
        "_reasoning",
        "_space",
        "_tail",
        "_touches_markup",
        "calls",
        "deltas",
        "dialect",
        "notes",
        "spans",
    )

    def __init__(self) -> None:
        self._content = Pieces()
        self._reasoning = Pieces()
        self._space: list[str] = []
        self._gap = ""
        self._empty = True
        self._touches_markup = False
        self._tail = self._line = ""
        self.calls: list[ParsedCall] = []
        self.deltas: list[Delta] = []
        self.notes: list[Note] = []
        self.spans: list[Span] = []
        self.dialect: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no content yet but white space."""
        return self._empty

    @property
    def in_layout(self) -> bool:
        """Whether there was nothing but white space since the last markup."""
        return self._touches_markup

    def content(self, text: str) -> None:
        self._tail = text if len(text) > 1 else self._tail[-1:] + text
        if "\n" in text:
            self._line = text[text.rfind("\n") + 1 :][:_HEAD]
        elif len(self._line) < _HEAD:
            self._line = (self._line + text)[:_HEAD]
        if self._space or self._empty or self._touches_markup or text[-1].isspace():
            text = self._hold(text)
            if not text:
                return
        self._content.write(text)
        self.deltas.append(Delta(Kind.CONTENT, text))

    def reasoning(self, text: str) -> None:
        self._reasoning.write(text)
        self.deltas.append(Delta(Kind.REASONING, text))

    def markup(self) -> None:
        """Note that markup stands here."""
        if not self._touches_markup:
            self._gap = "".join(self._space)
            self._touches_markup = True
        self._space.clear()
        self._tail, self._line = "", _SOMETHING

    def call(self, call: ParsedCall) -> None:
        self.calls.append(call)
        if type(self.deltas) is not Unheard:
            self.deltas.append(Delta(Kind.CALL, "", call))

    def following(self) -> Callable[[ParsedCall, int, int], None]:
        """What enters one call behind another, with its beginning and its end. What nobody owns before it is markup."""
        spans, calls, deltas, own = self.spans, self.calls, self.deltas, self.own
        heard, owned = type(deltas) is not Unheard, self.owned

        def follow(call: ParsedCall, start: int, end: int) -> None:
            nonlocal owned
            if start > owned:
                own(_MARKUP, start)
            owned = end
            spans.append(_span(Span, (_CALL, start, end)))
            calls.append(call)
            if heard:
                deltas.append(Delta(_CALL, "", call))

        return follow

    def note(self, code: str, message: str, position: int) -> None:
        self.notes.append(Note(code, message, position))

    def own(self, kind: Kind, end: int) -> None:
        """Everything from the last owned character up to `end` is `kind`."""
        spans = self.spans
        start = spans[-1].end if spans else 0
        if end <= start:
            return
        if spans and spans[-1].kind is kind and kind is not Kind.CALL:
            start = spans.pop().start
        spans.append(Span(kind, start, end))

    def extend(self, end: int) -> None:
        """Everything from the last owned character up to `end` goes with it."""
        spans = self.spans
        spans[-1] = spans[-1]._replace(end=end)

    @property
    def owned(self) -> int:
        """How many characters have an owner."""
        return self.spans[-1].end if self.spans else 0

    def open_quote(self) -> str:
        """The mark that would end the quotation which the last character of content opens; "" when it opens none."""
        closing = _QUOTES.get(self._tail[-1:], "")
        return closing if closing and (len(self._tail) == 1 or self._tail[-2] in _OPENING) else ""

    @property
    def in_quoted_line(self) -> bool:
        """Whether the line of content begins as quoted lines do."""
        return self._line.lstrip(" ").startswith(">")

    def result(self) -> Parsed:
        if self._space and not self._touches_markup:
            space = "".join(self._space)
            self._content.write(space)
            self.deltas.append(Delta(Kind.CONTENT, space))
        self._space.clear()
        return Parsed(
            self._content.text() or None,
            self._reasoning.text() or None,
            self.calls,
            self.notes,
            self.dialect,
            self.spans,
        )

    def _hold(self, text: str) -> str:
        """Keep trailing white space back until it is known to stand between words; return what can go now."""
        ready = text.rstrip()
        if not ready:
            self._space.append(text)
            return ""
        trailing = text[len(ready) :]
        if self._touches_markup:
            words = ready.lstrip()
            gap = self._gap or "".join(self._space) + ready[: len(ready) - len(words)]
            ready = words if self._empty else gap + words
        elif self._space:
            ready = "".join(self._space) + ready
        self._space = [trailing] if trailing else []
        self._empty = self._touches_markup = False
        return ready
