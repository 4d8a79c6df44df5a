"""The text around calls: prose, reasoning, code, wrappers, and the openings that may begin a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import lru_cache

from toolcrib.dialects.families import family
from toolcrib.dialects.formats.spec import Format, Header
from toolcrib.dialects.grammar import Alternative
from toolcrib.dialects.parsed import Kind
from toolcrib.dialects.reader import Block, Code, Reader
from toolcrib.dialects.row import take_following
from toolcrib.dialects.source import Markers, Reading, markers, read_to_any, skip_space, starts_with

_FRAME_LIMIT = 200
_TICKS = 8
_CODE = ("`", "```", "~~~")
_QUOTATION_LIMIT = 1000
_NAME_END = re.compile(r"[\n(]")


def read(reader: Reader, *, in_reasoning: bool) -> Reading:
    """Read a whole text."""
    emit, kind = reader.ledger.content, Kind.CONTENT
    if in_reasoning and (yield from _read_reasoning(reader, reader.grammar.reasoning_closes)):
        emit, kind = _discard, Kind.REASONING
    else:
        yield from _read_start(reader)
    grammar = reader.grammar
    while token := _take_text(reader, emit) or (yield from _read_text(reader, grammar.markers, emit)):
        _own_text(reader, kind)
        close = grammar.reasoning.get(token)
        if token in _CODE and not reader.in_fence:
            yield from _read_code(reader, token[0], emit, kind)
        elif reader.ledger.in_quoted_line:
            _keep(reader, token, emit, kind)
        elif closing := reader.ledger.open_quote():
            yield from _read_quoted(reader, token, closing, emit, kind)
        elif close is not None and kind is Kind.CONTENT:
            _skip(reader, token)
            if (yield from _read_reasoning(reader, markers(close))):
                emit, kind = _discard, Kind.REASONING
            elif reader.ledger.is_empty:
                yield from _read_start(reader)
        elif token in grammar.openings:
            yield from _read_opening(reader, token, grammar.openings[token], emit, kind)
        elif token in grammar.frames:
            yield from _read_frame(reader, token, emit, kind)
        elif token in grammar.drops or token in reader.open_wraps:
            reader.in_fence = reader.in_fence and token != "```"
            _skip(reader, token)
        else:
            _keep(reader, token, emit, kind)
    _own_text(reader, kind)
    reader.ledger.own(Kind.MARKUP, reader.source.position)
    if reader.source.pos < len(reader.source.window):
        _skip(reader, reader.source.window[reader.source.pos :])


def _own_text(reader: Reader, kind: Kind) -> None:
    """The text just read is `kind`; but white space behind markup goes with what follows, if that is markup too."""
    if kind is not Kind.CONTENT or not reader.ledger.in_layout:
        reader.ledger.own(kind, reader.source.position)


def _read_start(reader: Reader) -> Reading:
    """Some formats open an answer with the bare name of a tool. Nothing else is held back for them."""
    source, known = reader.source, reader.tools.known
    names = {
        *(known or ()),
        *(option.format.prose_name for option in reader.grammar.at_start if isinstance(option.format, Header)),
    }
    while reader.grammar.at_start and (known is not None or reader.grammar.detecting):
        head = source.window[source.pos : source.pos + 256]
        line = _NAME_END.split(head, maxsplit=1)[0]
        newline = line != head
        names = {name for name in names if name.startswith(line)}
        if not names or (newline and line not in names):
            return
        if newline or source.closed:
            break
        yield
    if reader.grammar.at_start:
        yield from _read_opening(reader, "", reader.grammar.at_start, reader.ledger.content, Kind.CONTENT)


Emit = Callable[[str], None]


def _discard(text: str) -> None:
    """Reasoning that is read again for calls was handed out already."""


def _take_text(reader: Reader, emit: Emit) -> str:
    """Emit text up to the next marker if that stands in the window; else leave everything unread."""
    source = reader.source
    window, pos = source.window, source.pos
    end, found = reader.grammar.markers.next(window, pos, closed=source.closed)
    if found and end > pos:
        emit(window[pos:end])
        source.pos = end
    return found


def _read_text(reader: Reader, markers: Markers, emit: Emit) -> Generator[None, None, str]:
    """Emit text up to the next marker, which stays unread; "" at the end."""
    source = reader.source
    while True:
        window, pos = source.window, source.pos
        end, found = markers.next(window, pos, closed=source.closed)
        if source.closed and not found:
            end = _without_cut_close(reader, markers, pos)
        if end > pos:
            emit(window[pos:end])
            source.pos = end
        if found or source.closed:
            return found
        yield


def _without_cut_close(reader: Reader, markers: Markers, pos: int) -> int:
    """Where the text ends, without the beginning of a close whose call was read: the text was cut inside it."""
    window = reader.source.window
    end = markers.pending(window, pos)
    cut = window[end:]
    return end if len(cut) > 1 and any(close.startswith(cut) for close in reader.open_wraps) else len(window)


def _skip(reader: Reader, token: str) -> None:
    reader.source.pos += len(token)
    reader.ledger.own(Kind.MARKUP, reader.source.position)
    reader.ledger.markup()


def _keep(reader: Reader, token: str, emit: Emit, kind: Kind) -> None:
    """The token means nothing here: it is text."""
    if token:
        emit(token)
        reader.source.pos += len(token)
        reader.ledger.own(kind, reader.source.position)


def _read_frame(reader: Reader, token: str, emit: Emit, kind: Kind) -> Reading:
    """Read control tokens with markup between them, such as the head of a message."""
    source = reader.source
    source.mark()
    source.pos += len(token)
    if (yield from read_to_any(source, markers(reader.grammar.frames[token]), _FRAME_LIMIT)):
        source.release()
        return _skip(reader, "")
    source.rewind()
    return _keep(reader, token, emit, kind)


def _read_opening(reader: Reader, token: str, options: tuple[Alternative, ...], emit: Emit, kind: Kind) -> Reading:
    """Try the ways to go on after an opening; when none leads to a call, the opening is text."""
    source, ledger = reader.source, reader.ledger
    if reader.is_spent or ledger.open_quote():
        return _keep(reader, token, emit, kind)
    reader.plain = 0
    for option in options:
        if option.ahead is not None and not (yield from _ahead(reader, token, option.ahead)):
            continue
        source.mark()
        source.pos += len(token)
        char = source.peek() or (yield from skip_space(source))
        if char and option.accepts(char):
            if option.close:
                if _stands(reader, option.format) or (yield from _wraps(reader, option.format)):
                    reader.open_wraps.add(option.close)
                    source.release()
                    return _skip(reader, "")
            elif (yield from _read_block(reader, option)):
                if kind is Kind.CONTENT:
                    take_following(reader, option.format)
                return None
        source.rewind()
    _keep(reader, token, emit, kind)
    if reader.plain > len(token):
        _keep(reader, source.window[source.pos : source.pos + reader.plain - len(token)], emit, kind)


def _read_quoted(reader: Reader, token: str, closing: str, emit: Emit, kind: Kind) -> Reading:
    """Keep markup that a quotation begins with as text, up to the end of the quotation if that is near."""
    source = reader.source
    if not (yield from _is_certain(reader, token)):
        return _keep(reader, token, emit, kind)
    _keep(reader, token[:-1], emit, kind)
    while True:
        window, pos = source.window, source.pos
        end = _quotation_end(closing)(window, pos, pos + _QUOTATION_LIMIT)
        again = window.find("\n" + token, pos, pos + _QUOTATION_LIMIT if end is None else end.end())
        if end is None and again < 0 and not source.closed and len(window) - pos < _QUOTATION_LIMIT:
            yield
            continue
        return _keep(reader, window[pos : end.end() if end is not None and again < 0 else pos + 1], emit, kind)


def _is_certain(reader: Reader, token: str) -> Block:
    """Whether a token is markup. One that depends on what follows may have been found before that was there."""
    options = reader.grammar.openings.get(token, ())
    for option in options:
        if option.ahead is None or (yield from _ahead(reader, token, option.ahead)):
            return True
    return not options


@lru_cache(maxsize=8)
def _quotation_end(closing: str) -> Callable[[str, int, int], re.Match[str] | None]:
    """Markup ends with a bracket of some kind, so that a mark behind one ends the quotation of it."""
    return re.compile(rf"[>\]}})`]\s?{closing}").search


def _ahead(reader: Reader, token: str, pattern: re.Pattern[str]) -> Generator[None, None, bool]:
    """Whether what follows looks like a call. A match that reaches the end of the window needs more text."""
    source = reader.source
    while True:
        match = pattern.match(source.window, source.pos + len(token))
        if match is None or match.end() < len(source.window) or source.closed:
            return match is not None
        yield


def _stands(reader: Reader, spec: Format) -> bool:
    """Whether a call of this format certainly comes next."""
    return reader.source.window.startswith(spec.opens, reader.source.pos) and "" not in spec.opens


def _wraps(reader: Reader, spec: Format) -> Generator[None, None, bool]:
    """Whether a call of this format comes next."""
    for opening in spec.opens:
        if (yield from starts_with(reader.source, opening)):
            return True
    return False


def _read_block(reader: Reader, option: Alternative) -> Block:
    """Read a call after its opening. False when there is none, with the source anywhere."""
    source, ledger = reader.source, reader.ledger
    reader.format, reader.own = option.format, option.own
    begin, calls = source.position, len(ledger.calls)
    reader.opened = begin - source.since_mark()
    if option.format.bare:
        source.rewind()
        source.mark()
    if (yield from family(type(option.format)).read(reader, option.format)):
        if len(ledger.calls) == calls:
            ledger.own(Kind.MARKUP, source.position)
        elif ledger.owned > reader.opened:
            ledger.extend(source.position)
        else:
            reader.own_call()
        source.release()
        ledger.markup()
        return True
    reader.spend(source.position - begin)
    return False


def _read_code(reader: Reader, tick: str, emit: Emit, kind: Kind) -> Reading:
    """Read inline code or a fence, in which markup is text, unless a fence is this dialect's way to call."""
    source = reader.source
    ticks = tick
    while len(ticks) < _TICKS and (yield from starts_with(source, ticks + tick)):
        ticks += tick
    fenced = reader.grammar.openings.get(ticks, ())
    calls = len(reader.ledger.calls)
    yield from _read_opening(reader, ticks, fenced, emit, kind)
    if len(reader.ledger.calls) > calls or reader.code is Code.CALLS:
        return
    if len(ticks) < 3:
        yield from _read_inline(reader, ticks, emit, kind)
        return
    token = yield from _read_text(reader, markers(ticks), emit)
    _keep(reader, token, emit, kind)


def _read_inline(reader: Reader, ticks: str, emit: Emit, kind: Kind) -> Reading:
    """Read inline code, which ends on its line; a tick without a partner is just a tick."""
    source = reader.source
    source.mark()
    found = yield from read_to_any(source, markers(ticks, "\n"))
    text = source.text()
    source.rewind()
    if found == ticks:
        _keep(reader, text, emit, kind)


def _read_reasoning(reader: Reader, closes: Markers) -> Generator[None, None, bool]:
    """Read reasoning. True when it was never closed and holds an opening: then it must be read again for calls."""
    source, ledger = reader.source, reader.ledger
    source.mark()
    token = yield from _read_text(reader, closes, ledger.reasoning)
    if token:
        source.release()
        ledger.own(Kind.REASONING, source.position)
        _skip(reader, token)
        return False
    if any(opening and opening in source.text() for opening in reader.grammar.openings):
        reader.note("open_reasoning", "the reasoning was never closed; calls in it count")
        source.rewind()
        return True
    source.release()
    ledger.own(Kind.REASONING, source.position)
    return False
