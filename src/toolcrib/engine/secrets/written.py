"""A value as it is written in code, configuration, a command line or a query string: where it begins and ends."""

from __future__ import annotations

import re

from toolcrib.engine.secrets.find import Find, Stop, stop_at
from toolcrib.engine.secrets.values import Style, is_secret
from toolcrib.values.noun import frozen

_ENOUGH = 256  # of a longer value this much decides, and its stop says where it ends
QUOTE = rb"(?:\\{0,3}[\"'`]|&quot;|&#3[49];|%22)"

_OPEN = re.compile(rb"(?:[bBrRuUfF]{1,2}(?=[\"']))?(%b)" % QUOTE)
_SCHEME = re.compile(rb"(?i:bearer|basic|token|apikey|api-key|digest|negotiate|bot|key|oauth)\s+")
_PROSE = re.compile(rb"[ ][a-z]{1,12}[ ][a-z]{1,12}[ .,\n]")
_ATTRIBUTE = re.compile(
    rb"[*&@$!]?[A-Za-z_$]++[0-9]{0,5}+(?:(?:\.|::|->|\?\.)[A-Za-z_$]++[0-9]{0,2}+)*(?:\.|::|->|\?\.)(.+)\Z"
)
_CALL = re.compile(rb"[A-Za-z_$][\w.$]*[(\[]")
_NAME = re.compile(rb"[A-Za-z_$@&*!]+[0-9]{0,2}\Z")
_CLASS = re.compile(rb"(?:[A-Z]++[a-z]*+[0-9]{0,5}+)++\Z")
_CLASS_WORD = re.compile(rb"[A-Z]+[a-z]*[0-9]*")
_LINE_END = re.compile(rb"[ \t]*(?:#.*)?(?:\r|\n|\\n|\Z)")
_NEXT_FIELD = re.compile(rb"(?:[&;]|%26|%3[Bb])(?:amp;)?\s?[A-Za-z0-9_. -]{1,24}(?:=|%3[Dd])|;?\Z|;\s")


@frozen
class _Extent:
    """The characters of a value, and what ends one that is longer than the window."""

    inside: re.Pattern[bytes]
    stop: Stop


def _extent(inside: bytes, stop: bytes) -> _Extent:
    return _Extent(re.compile(inside), stop_at(stop))


_QUOTED = {
    b'"': _extent(rb'(?:[^"\\\r\n]|\\[^\r\n])*', rb"[\"\r\n]"),
    b"'": _extent(rb"(?:[^'\\\r\n]|\\[^\r\n])*", rb"['\r\n]"),
    b"`": _extent(rb"[^`\r\n]*", rb"[`\r\n]"),
}
_ESCAPED = {
    b'"': _extent(rb'[^"\r\n]*', rb"[\"\r\n]"),
    b"'": _extent(rb"[^'\r\n]*", rb"['\r\n]"),
    b"`": _extent(rb"[^`\r\n]*", rb"[`\r\n]"),
}
_ENTITY = _extent(rb"[^&%<>\s]*", rb"[&%<>\s]")
_BARE = _extent(rb"[^\s\"'`<>,;&|(){}\[\]\\]*", rb"[\s\"'`<>,;&|(){}\[\]\\]")
_TO_SPACE = _extent(rb"[^\s\"'`]*", rb"[\s\"'`]")
_FIELD = _extent(rb"(?:[^\s\"'`<>&;%]|%(?!26|3[Bb]|22))*", rb"[\s\"'`<>&;]")


def value_at(text: bytes, start: int, kind: str, style: Style, limit: int) -> tuple[Find, ...]:
    """The secret that is written at `start`, quoted or bare; nothing when what stands there is not one."""
    limit = min(limit, start + _ENOUGH)
    opened = _OPEN.match(text, start, limit)
    begin = opened.end() if opened else start
    if kind == "authorization" and (scheme := _SCHEME.match(text, begin, limit)):
        begin = scheme.end()
    if opened:
        style = style if style is Style.SETTING else Style.QUOTED
        extent, end = _quoted(text, begin, opened[1], limit)
    else:
        extent, end = _bare(text, begin, style, limit)
    value = text[begin:end]
    if opened is None and _is_code(text, end, value, style):
        return ()
    if not is_secret(kind, value, style):
        return ()
    return (Find(begin, end, kind, extent.stop if end >= limit else None),)


def _quoted(text: bytes, begin: int, quote: bytes, limit: int) -> tuple[_Extent, int]:
    escaped = quote[:1] == b"\\"
    extent = _ESCAPED[quote[-1:]] if escaped else _QUOTED.get(quote, _ENTITY)
    end = _end(extent, text, begin, limit)
    while escaped and end > begin and text[end - 1] == 0x5C:
        end -= 1
    return extent, end


def _bare(text: bytes, begin: int, style: Style, limit: int) -> tuple[_Extent, int]:
    """A setting goes to white space, in a query or connection string to the next field; anything else is a word."""
    if style is not Style.SETTING:
        return _BARE, _end(_BARE, text, begin, limit)
    field = _end(_FIELD, text, begin, limit)
    if _NEXT_FIELD.match(text, field, field + 64):
        return _FIELD, field
    return _TO_SPACE, _end(_TO_SPACE, text, begin, limit)


def _end(extent: _Extent, text: bytes, begin: int, limit: int) -> int:
    match = extent.inside.match(text, begin, limit)
    return begin if match is None else match.end()


def _is_code(text: bytes, end: int, value: bytes, style: Style) -> bool:
    """Whether a bare value is an expression: a call, an index, an attribute, or something passed on by its name."""
    after = text[end : end + 1]
    if value.startswith(b":") or _is_attribute(value):
        return True
    if style is Style.SETTING:
        return _CALL.match(value) is not None or (_PROSE.match(text, end, end + 40) is not None and value.isalpha())
    if after in (b"(", b"[", b"{") or _is_class(value):
        return True
    if _NAME.match(value) is None:
        return False
    if style is Style.YAML:
        return _LINE_END.match(text, end, end + 120) is None or not (value.islower() or value[-1:].isdigit())
    return True


def _is_attribute(value: bytes) -> bool:
    match = _ATTRIBUTE.match(value)
    return match is not None and (_NAME.match(match[1]) is not None or _is_class(match[1]))


def _is_class(value: bytes) -> bool:
    """A name such as Ed25519PrivateKey: capitalised words, not single letters and digits in turn."""
    return _CLASS.match(value) is not None and len(_CLASS_WORD.findall(value)) * 5 <= len(value)
