"""Secrets that their place gives away: key blocks, addresses, headers, cookies and command lines."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

from toolcrib.engine.secrets.find import BEHIND, LEFT, LOOK, Find, stop_at
from toolcrib.engine.secrets.values import Style, is_secret
from toolcrib.engine.secrets.written import value_at

_GAP = rb"(?:[ +_]|%20)"
_BEGIN = rb"BEGIN%b(?:[A-Z0-9]{1,12}%b){0,3}PRIVATE%bKEY" % (_GAP, _GAP, _GAP)
_USER = rb"[^\s/?#@:\"'<>\\%%]{0,64}"
_PLACES: dict[str, bytes] = {
    "block": _BEGIN + rb"|Private-Lines: [0-9]{1,3}",
    "address": rb"://%b:(?:[^\s/?#\"'<>\\0-9]|[0-9]{1,5}[^\s/?#\"'<>\\0-9,;)\].]|[0-9]{6})|://[A-Za-z0-9_.~-]{20,80}@"
    % _USER,
    "escaped": rb"(?i:%%3A%%2F%%2F)%b(?i:%%3A)[^\s\"'<>\\%%]" % _USER,
    "bearer": rb"(?i:bearer)(?: |%20|\+|\\u0020){1,3}[A-Za-z0-9._~+/-]{8}",
    "basic": rb"(?i:basic)(?: |%20){1,3}[A-Za-z0-9+/]{6}",
    "cookie": rb"(?i:cookie)\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?[A-Za-z0-9_.-]{1,64}=[^\s;,\"']{4}",
    "login": rb"[ \t](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'/]{1,64}:[^\s:\"'/]{3}",
    "flag": rb"sshpass\s{1,3}-p\s{0,2}[^\s]|(?:requirepass|masterauth)\s{1,4}[^\s]|[ \t]-p[\"']?[^\s\"'-]{4}",
    "grant": rb"(?i:identified\s{1,4}by\s{1,4}|with\s{1,4}password\s{1,4}|\spassword\s{1,4})[\"'][^\s]",
    "signature": rb"(?i:[?&](?:amp;)?(?:sig|x-amz-signature|x-goog-signature|signature)=)[A-Za-z0-9%+/_-]{16}",
}
HEAD = b"|".join(_PLACES.values())
FIRST = frozenset(b"BP:%bcCsrmiIwW?& \t\n\r\f\v")

_PLACE = re.compile(b"|".join(b"(?P<%b>%b)" % (name.encode(), place) for name, place in _PLACES.items()))
_BREAK = rb"(?:\s|\\[nrt]|[\"'+>|#,*]|%0[AaDd])"
_BODY = re.compile(  # nothing here gives back what it took: a text made of headers would else be tried in every way
    rb"(?:%b(?:%bBLOCK)?[ -]{0,6}+|Private-Lines: [0-9]++)%b{0,64}+"
    rb"(?:[A-Za-z-]{4,24}+: ?[^\r\n\\]{0,120}+(?:\s|\\[nr]){1,8}+){0,4}+"
    rb"(?:[A-Za-z0-9+/=]{16}|[A-Za-z0-9+/=]{4,15}+%b{0,8}+(?:-{2,5} ?END|\Z))" % (_BEGIN, _GAP, _BREAK, _BREAK)
)
_BLOCK_STOP = stop_at(
    rb"(?P<closing>-{2,5} ?END[^\r\n\"'<>]{0,60}?KEY(?:%bBLOCK)?[ -]{0,6}|Private-MAC: [0-9a-f]{40,64})"
    rb"|[^A-Za-z0-9+/=\s\\%%:,.>|#*\"'()_-]|\n[ \t]{0,8}[A-Za-z]{1,15} [a-z]{1,15}[ .,:]" % _GAP,
    128,
)
_PASSWORD = re.compile(
    rb"://%b:([^\s\"'<>\\/]{1,128})@(?=[\w\[$%%{-])|://%b:([^\s\"'<>\\]{1,128}?)@(?=[A-Za-z0-9_\[])" % (_USER, _USER)
)
_LONE_USER = re.compile(rb"://([A-Za-z0-9_.~-]{20,80})@")
_ESCAPED_PASSWORD = re.compile(rb"(?i:%%3A%%2F%%2F)%b(?i:%%3A)([^\s\"'<>\\]{1,96}?)(?i:%%40)" % _USER)
_PORT = re.compile(rb"[0-9]{1,5}(?:/|\Z)")
_BEARER = re.compile(rb"(?i:bearer)(?: |%20|\+|\\u0020){1,3}([A-Za-z0-9._~+/=-]+)")
_BASIC = re.compile(rb"(?i:basic)(?: |%20){1,3}([A-Za-z0-9+/]+={0,2})")
_COOKIE = re.compile(rb"(?i:cookie)\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?[A-Za-z0-9_.-]{1,64}=([^\s;,\"']+)")
_COOKIES = re.compile(rb"[^\r\n\"']*")
_COOKIE_STOP = stop_at(rb"[\r\n\"']")
_SET_COOKIE_STOP = stop_at(rb"[\s;,\"']")
_LOGIN = re.compile(rb"[ \t](?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'/]{1,64}:")
_FLAG = re.compile(rb"sshpass\s{1,3}-p\s{0,2}|(?:requirepass|masterauth)\s{1,4}|[ \t]-p")
_GRANT = re.compile(rb"(?i:identified\s{1,4}by\s{1,4}|with\s{1,4}password\s{1,4}|\spassword\s{1,4})")
_SIGNATURE = re.compile(rb"(?i:[?&](?:amp;)?(?:sig|x-amz-signature|x-goog-signature|signature)=)([A-Za-z0-9%+/=_-]+)")
_TOKEN_STOP = stop_at(rb"[^A-Za-z0-9._~+/=%-]")


def find_place(text: bytes, start: int) -> tuple[Find, ...]:
    """The secret in the place that begins at `start`; nothing when no secret is there."""
    match = _PLACE.match(text, start, start + LOOK)
    if match is None or match.lastgroup is None:
        return ()
    return _FINDERS[match.lastgroup](text, start, start + LOOK)


def _find_block(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    body = _BODY.match(text, start, limit)
    if body is None:
        return ()
    dashes = text[max(0, start - 6) : start]
    begin = start - len(dashes) + len(dashes.rstrip(b"- "))
    return (Find(max(begin, start - LEFT), body.end(), "private_key", _BLOCK_STOP),)


def _find_address(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    if match := _PASSWORD.match(text, start, limit):
        group = 1 if match[1] is not None else 2
        password = match[group]
        if text.startswith(b"://[REDACTED:", start) or _PORT.match(password) or not _is_password(password):
            return ()
        return (Find(match.start(group), match.end(group), "url_password"),)
    lone = _LONE_USER.match(text, start, limit)
    if lone is None or not is_secret("token", lone[1], Style.CODE) or not re.search(rb"[0-9]", lone[1]):
        return ()
    return (Find(lone.start(1), lone.end(1), "url_password"),)


def _find_escaped(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    match = _ESCAPED_PASSWORD.match(text, start, limit)
    if match is None or _PORT.match(match[1]) or not _is_password(match[1]):
        return ()
    return (Find(match.start(1), match.end(1), "url_password"),)


def _is_password(value: bytes) -> bool:
    return len(value) >= 3 and (is_secret("password", value.ljust(4, b"!"), Style.SETTING) or value.isdigit())


def _find_bearer(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    return _found(_BEARER.match(text, start, limit), "bearer_token", limit)


def _find_signature(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    return _found(_SIGNATURE.match(text, start, limit), "signature", limit)


def _found(match: re.Match[bytes] | None, label: str, limit: int) -> tuple[Find, ...]:
    if match is None or not is_secret("token", match[1][:256], Style.CODE):
        return ()
    return (Find(match.start(1), match.end(1), label, _TOKEN_STOP if match.end(1) >= limit else None),)


def _find_basic(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    match = _BASIC.match(text, start, limit)
    if match is None:
        return ()
    try:
        pair = base64.b64decode(match[1][: len(match[1]) // 4 * 4])
    except binascii.Error:
        return ()
    if b":" not in pair or not pair.isascii():
        return ()
    return (Find(match.start(1), match.end(1), "basic_credentials", _TOKEN_STOP if match.end(1) >= limit else None),)


def _find_cookie(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    """`Set-Cookie` keeps its name and attributes, `Cookie` is hidden from the first value to the end of the line."""
    match = _COOKIE.match(text, start, limit)
    if match is None:
        return ()
    if text[max(0, start - 4) : start].lower() == b"set-":
        stop = _SET_COOKIE_STOP if match.end(1) >= limit else None
        secret = len(match[1]) >= 8 and is_secret("token", match[1][:256], Style.QUOTED)
        return (Find(match.start(1), match.end(1), "cookie", stop),) if secret else ()
    rest = _COOKIES.match(text, match.start(1), min(limit, match.start(1) + 256))
    if rest is None or not _has_session(rest[0]):
        return ()
    return (Find(match.start(1), rest.end(), "cookie", _COOKIE_STOP),)


def _has_session(cookies: bytes) -> bool:
    values = (pair.rpartition(b"=")[2] for pair in cookies.split(b";", 8)[:8])
    return any(is_secret("token", value.strip()[:256], Style.QUOTED) for value in values)


def _find_login(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    match = _LOGIN.match(text, start, limit)
    if match is None or not _follows(text, start, (b"curl", b"wget", b"http ", b"https ", b"xh ")):
        return ()
    return value_at(text, match.end(), "password", Style.SETTING, limit)


def _find_flag(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    match = _FLAG.match(text, start, limit)
    if match is None or (
        match[0].endswith(b"-p") and match[0][:1].isspace() and not _follows(text, start, (b"mysql", b"mariadb"))
    ):
        return ()
    return value_at(text, match.end(), "password", Style.SETTING, limit)


def _find_grant(text: bytes, start: int, limit: int) -> tuple[Find, ...]:
    match = _GRANT.match(text, start, limit)
    return value_at(text, match.end(), "password", Style.QUOTED, limit) if match else ()


def _follows(text: bytes, start: int, commands: tuple[bytes, ...]) -> bool:
    line = text[max(0, start - BEHIND) : start]
    line = line[line.rfind(b"\n") + 1 :]
    return any(command in line for command in commands)


_FINDERS: dict[str, Callable[[bytes, int, int], tuple[Find, ...]]] = {
    "block": _find_block,
    "address": _find_address,
    "escaped": _find_escaped,
    "bearer": _find_bearer,
    "basic": _find_basic,
    "cookie": _find_cookie,
    "login": _find_login,
    "flag": _find_flag,
    "grant": _find_grant,
    "signature": _find_signature,
}
