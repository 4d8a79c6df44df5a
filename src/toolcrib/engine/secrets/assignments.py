"""Secrets that only their name gives away: `KEY=value`, `"key": "value"`, `--key value`, `<key>value</key>`."""

from __future__ import annotations

import re

from toolcrib.engine.secrets.find import BEHIND, LOOK, Find
from toolcrib.engine.secrets.names import OTHERS, PASSWORDS, kind_of
from toolcrib.engine.secrets.values import Style
from toolcrib.engine.secrets.written import QUOTE, value_at

_PAIR = rb"%b?,?\s{0,40}%b?[Vv]alue%b?\s{0,4}[:=]" % (QUOTE, QUOTE, QUOTE)
_SIGN = rb"%b?[\])]?[ \t]{0,8}(?::=|=>|={1,3}|!={1,2}|:|%%3[DdAa])" % QUOTE
_BETWEEN = rb"(?:(?:%b|%b)(?:[ \t]{0,8}[|>][+-]?[ \t]?\r?\n)?[ \t]{0,40}%b|>| )"
_FOUND = _BETWEEN % (_PAIR, _SIGN, rb"(?:\[\s{0,8})?")
_MEANT = _BETWEEN % (_PAIR, _SIGN, rb"(?:\[\s{0,8}(?=[\"'`\\]))?")  # what re2 cannot say: a list of quoted values
_AUTH = rb"%b?[ \t]{0,4}[:=][ \t]{0,4}" % QUOTE
_VALUE = rb"(?:%b[^\r\n]{%d}|[^\s\"'`]{%d})"
HEAD = rb"(?i:%b)[A-Za-z0-9_.-]{0,32}%b%b|(?i:%b)[A-Za-z0-9_.-]{0,32}%b%b|(?i:_?auth(?:orization)?)%b[^\s]" % (
    *(PASSWORDS, _FOUND, _VALUE % (QUOTE, 4, 4)),
    *(OTHERS, _FOUND, _VALUE % (QUOTE, 6, 6)),
    _AUTH,
)
FIRST = frozenset(b"_pstcaemdljhwPSTCAEMDLJHW")

_HEAD = re.compile(
    rb"(?:(?i:%b|%b)[A-Za-z0-9_.-]{0,32}+|(?i:_?auth(?:orization)?))(?P<sign>%b)(?=[^\s])" % (PASSWORDS, OTHERS, _MEANT)
)
_NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_DIGITS = b"0123456789"
_LONGEST_NAME = 64
_SETTERS = (b"export", b"set", b"env", b"arg", b"-e", b"--env", b"declare -x", b"setx", b"#", b"//", b"+", b"-", b">")


def find_assignment(text: bytes, start: int) -> tuple[Find, ...] | int:
    """The value beside the secret's name at `start`; when there is none, where to go on looking."""
    match = _HEAD.match(text, start, start + LOOK)
    if match is None:
        return start + 1
    name_start = _name_start(text, start)
    name, sign = text[name_start : match.start("sign")], match["sign"]
    kind = kind_of(name.rstrip(_DIGITS))
    style = _style(text, name_start, name, sign) if kind else None
    if kind is None or style is None:
        return match.end()
    finds = value_at(text, match.end(), kind, style, start + LOOK)
    if sign == b">" and finds and text[finds[0].end : finds[0].end + 2] != b"</":
        return match.end()
    return finds or match.end()


def _name_start(text: bytes, start: int) -> int:
    window = text[max(0, start - _LONGEST_NAME) : start]
    before = start - len(window) + len(window.rstrip(_NAME_CHARACTERS))
    escaped = text[max(0, before - 1) : before] == b"\\" and text[before : before + 1] in (b"n", b"r", b"t")
    return before + 1 if escaped and before < start else before


def _style(text: bytes, name_start: int, name: bytes, sign: bytes) -> Style | None:
    """How the value is written, from the name, the sign and what stands before; None when nothing is assigned."""
    before = text[max(0, name_start - 1) : name_start]
    if before == b":" and text.endswith(b"[REDACTED:", 0, name_start):
        return None
    if sign == b" ":
        if name.startswith(b"-") or _is_netrc(text, name_start):
            return Style.SETTING
        quoted = text[name_start + len(name) + 1 : name_start + len(name) + 2] in (b'"', b"'")
        return Style.QUOTED if quoted and name.isupper() else None
    if sign == b">":
        return Style.QUOTED if before in (b"<", b":") else None
    if sign[:1] == b"%":
        return Style.SETTING
    if sign == b"=":
        return Style.SETTING if before in (b"?", b"&", b";") or _is_setting(text, name_start, name) else Style.CODE
    return Style.YAML if sign.rstrip(b" ").endswith(b":") else Style.CODE


def _is_setting(text: bytes, name_start: int, name: bytes) -> bool:
    """Whether the name stands where settings stand: at the start of a line, or after `export` and its like."""
    if name.isupper() or name.startswith(b"-"):
        return True
    before = text[max(0, name_start - 16) : name_start].rstrip(b"\"'")
    return not before or before.endswith((b"\n", b"\\n")) or before.rstrip(b" \t").lower().endswith(_SETTERS)


def _is_netrc(text: bytes, name_start: int) -> bool:
    words = text[max(0, name_start - BEHIND) : name_start].split()
    return len(words) > 1 and words[-2] in (b"login", b"user", b"account")
