"""Whether a value that stands beside a secret's name is the secret, or code, prose, a reference or a placeholder."""

from __future__ import annotations

import re
from enum import Enum, auto


class Style(Enum):
    """How a value was written, which says how far it can be trusted to be a value."""

    QUOTED = auto()
    SETTING = auto()  # KEY=value, a query string, a command-line flag: whatever stands there is the value
    YAML = auto()  # key: value to the end of the line
    CODE = auto()  # name = value, name: value inside something: an identifier is only a name


_PLACEHOLDER = re.compile(
    rb"""(?ix)
      \[REDACTED: | \[[a-z_ ]+\] \Z
    | \$[{(]?[a-z_] | %[({]?[a-z_]{1,40}[)}%]? (?![a-z0-9]) | <[^>]*>? \Z | \{\{ | \{[a-z_.]*\} \Z | `
    | (?: [x*.?#_=/\\-] | \xe2\x80\xa2 | \xe2\x97\x8f )+ \Z | \.\.\.
    | (?: your | insert | enter | replace | change | add | put | some ) (?:[_ -]?[a-z]++)*+ \Z
    | (?: my | the | an? ) [_ -] [a-z_ -]+ \Z
    | (?: none | null | nil | true | false | undefined | nan | required | optional | empty | redacted | hidden
        | masked | removed | omitted | example | sample | dummy | placeholder | test | todo | tbd | n/?a | secret
        | token | password | passwd | pass | pwd | key | string | str | text | bytes | bytearray | char
        | varchar | int | integer | number | float | bool | boolean | any | object | array | list | dict | value
        | self | this | void | auto | default | unset | input | prompt | stdin | env | file | vault | unknown
        | invalid | missing | expired | valid | changeme | secretstr | credentials? | username | user | cancel
        | save | submit | show | hide ) [?!;:,.]? \Z
    """
)
_REFERENCE = re.compile(
    rb"""(?x)
      [a-z][a-z0-9+.-]{1,20}:// | arn: | vault: | ENC\[ | sops: | file: | ref\+ | secretKeyRef | sha(?:1|256|512)[:-]
    | (?: ~ | \.{1,2} | [A-Za-z]: )? [/\\] (?:[a-z0-9_.@~-]{1,24} [/\\])* [a-zA-Z0-9_.@~-]{0,32} \Z
    | / (?:[A-Za-z]+ /)+ [A-Za-z.]+ \Z
    """
)
_TEMPLATE = re.compile(rb"\$?\{\{?[^{}]{1,80}\}\}?|\$[A-Za-z_]\w*|%[sdrv]|<[^<>]{1,40}>")
_WORDLIKE = re.compile(rb"[A-Za-z]++(?:[ _.:/-]{1,2}[A-Za-z]++)*+[_.:/-]?")
_LETTERS = re.compile(rb"[A-Za-z]+")
_DIGITS = re.compile(rb"[0-9]{0,2}\Z")
_EDGES = re.compile(rb"[a-z][A-Z]|[A-Z][a-z]")


def is_secret(kind: str, value: bytes, style: Style) -> bool:
    """Whether `value`, written in that style beside the name of that kind of secret, is one."""
    if kind == "password":
        if len(value) < 4:
            return False
    elif len(value) < 8 or (len(value) < 12 and value.isalpha()):
        return False
    if _PLACEHOLDER.match(value) or _REFERENCE.match(value):
        return False
    if b"{" in value or b"$" in value or b"%" in value or b"<" in value:
        rest = _TEMPLATE.sub(b"", value)
        if rest != value:
            return len(rest) >= 8 and not _is_wordlike(rest.strip(b" :=-_"))
    if value[:1] == value[-1:] and value[:1] in b"+.,":
        return False  # between two quoted texts of an expression
    if value.isdigit():
        return len(value) >= 16 or (kind == "password" and style in (Style.QUOTED, Style.SETTING))
    if len(set(value)) <= 2:
        return False
    if _is_wordlike(value):
        return _are_secret_words(kind, value, style)
    if b" " in value:
        return any(len(word) >= 8 and not _is_wordlike(word.strip(b".,:;!?()'")) for word in value.split())
    return kind == "password" or not _is_numbered_word(value)


def _is_wordlike(value: bytes) -> bool:
    """Letters in words, as people name things; long runs of mixed case are not."""
    match = _WORDLIKE.match(value)
    if match is None or match.end() != len(value):
        return False
    if len(value) < 16:
        return True
    longest = max(_LETTERS.findall(value), key=len)
    return len(longest) < 32 and (len(longest) < 16 or len(_EDGES.findall(longest)) * 3 < len(longest))


def _is_numbered_word(value: bytes) -> bool:
    match = _WORDLIKE.match(value)
    return match is not None and len(value) < 16 and _DIGITS.match(value, match.end()) is not None


def _are_secret_words(kind: str, value: bytes, style: Style) -> bool:
    """`value` is made of plain words: a weak password, or a name in code or prose."""
    if b" " in value:
        return kind == "password" and style is Style.SETTING
    if kind == "password":
        if style is Style.SETTING:
            return True
        return style is not Style.CODE and len(value) >= 6 and b"password" not in value.lower()
    if style is Style.SETTING:
        return len(value) >= 12 and value.islower()
    return style is Style.QUOTED and len(value) >= 20 and value.isalpha()
