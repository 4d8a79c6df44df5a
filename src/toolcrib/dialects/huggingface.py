"""Formats from Hugging Face `response_template` dictionaries, as tokenizers carry them.

A template is declarative but built on regular expressions; what is taken from them are the literal strings, so that
the text can be read by the same linear readers as every other format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from toolcrib.dialects.formats.spec import THINK, Format, Header, Invoked, JsonBlock, Layout, Tagged, Text
from toolcrib.values.json import Json, JsonObject

_REASONING = ("thinking", "reasoning", "reasoning_content")
_NO_LAYOUT = Layout("")


class UnsupportedTemplate(ValueError):
    """The template says something no family of formats can do."""


def load_response_template(name: str, template: JsonObject) -> Format:
    """The format that a `response_template` describes, under a name of your own."""
    fields = _object(template.get("fields"))
    calls = _object(fields.get("tool_calls"))
    if not calls:
        raise UnsupportedTemplate(f"{name}: the template has no field tool_calls")
    reasoning = next((pair for key in _REASONING if (pair := _pair(_object(fields.get(key)))) is not None), THINK)
    closes = _literals(calls.get("close")) or _pattern_literals(calls.get("close_pattern"))
    drops = _literals(_object(fields.get("content")).get("close"))
    content = calls.get("content", "text")
    arguments = _object(calls.get("content_args"))
    if content == "json" and "open" in calls:
        return _json(name, calls, closes, reasoning, drops)
    if content == "json" and "open_pattern" in calls:
        return _headed(name, str(calls["open_pattern"]), arguments, closes, reasoning, drops)
    if content == "xml-inline" and "open_pattern" in calls:
        tag = str(arguments.get("tag_pattern", ""))
        return _tagged(name, str(calls["open_pattern"]), tag, closes, reasoning, drops)
    raise UnsupportedTemplate(f"{name}: tool_calls with content {content!r} cannot be read")


def _json(
    name: str, calls: JsonObject, closes: tuple[str, ...], reasoning: tuple[str, str], drops: tuple[str, ...]
) -> JsonBlock:
    transform = _object(calls.get("transform"))
    function = _object(transform.get("function", transform))
    keys = tuple((_placeholder(function.get(key)),) for key in ("name", "arguments"))
    return JsonBlock(
        name=name,
        layout=_NO_LAYOUT,
        opens=_literals(calls["open"]),
        closes=closes,
        reasoning=reasoning,
        drops=drops,
        keys=cast("tuple[tuple[str, ...], tuple[str, ...]]", keys),
    )


def _headed(
    name: str,
    pattern: str,
    arguments: JsonObject,
    closes: tuple[str, ...],
    reasoning: tuple[str, str],
    drops: tuple[str, ...],
) -> Format:
    opening, rest = _split_literal(pattern)
    if not opening or "(?P<name>" not in rest:
        raise UnsupportedTemplate(f"{name}: {pattern!r} must begin with plain text and capture the name")
    delimiters = arguments.get("string_delims")
    if delimiters:
        prefix, _ = _split_literal(rest)
        quotes = tuple(str(cast("list[Json]", pair)[0]) for pair in cast("list[Json]", delimiters))
        return Invoked(
            name=name,
            layout=_NO_LAYOUT,
            opens=(opening,),
            closes=closes,
            starts="a",
            reasoning=reasoning,
            drops=drops,
            prefix=prefix,
            bracket="{",
            quotes=quotes,
        )
    head = rf"(?s:{rest.rstrip('{').removesuffix(chr(92))})\s*"
    return Header(
        name=name, layout=_NO_LAYOUT, opens=(opening,), closes=closes, reasoning=reasoning, drops=drops, head=head
    )


def _tagged(
    name: str, pattern: str, tag: str, closes: tuple[str, ...], reasoning: tuple[str, str], drops: tuple[str, ...]
) -> Tagged:
    opening, head = _split_literal(pattern)
    before, _, after = tag.partition("(?P<value>")
    parameter, key = _split_literal(before)
    close = _split_literal(after.partition(")")[2].removeprefix(r"\s*"))[0]
    if not (opening and parameter and close and "(?P<name>" in head and "(?P<key>" in key):
        raise UnsupportedTemplate(f"{name}: {pattern!r} with {tag!r} is no sequence of plain tags")
    element = re.search(r"<(\w+)", head)
    inner = (f"</{element[1]}>",) if element else ()
    return Tagged(
        name=name,
        layout=_NO_LAYOUT,
        opens=(opening,),
        closes=(*inner, *closes),
        reasoning=reasoning,
        drops=drops,
        head=head.removesuffix(r"\s*").removesuffix(">"),
        parameter_opens=(parameter,),
        parameter_ends=(">",),
        key=key.removesuffix(r"\s*").removesuffix(">"),
        value_close=close,
        text=Text.LINES if r"\s*(?P<value>" in tag else Text.VERBATIM,
    )


def _split_literal(pattern: str) -> tuple[str, str]:
    """The plain text a regular expression begins with, and the rest of it."""
    literal, position = "", 0
    while position < len(pattern):
        char, size = pattern[position], 1
        if char == "\\":
            char, size = pattern[position + 1 : position + 2], 2
            if char.isalnum() and char != "n":
                break
            char = "\n" if char == "n" else char
        elif char in ".^$*+?{}[]()|":
            break
        if pattern[position + size : position + size + 1] in ("*", "+", "?", "{"):
            break
        literal, position = literal + char, position + size
    return literal, pattern[position:]


def _pattern_literals(pattern: Json) -> tuple[str, ...]:
    literal = _split_literal(str(pattern or "").removeprefix(r"\s*"))[0]
    return (literal,) if literal else ()


def _pair(field: JsonObject) -> tuple[str, str] | None:
    opens = _literals(field.get("open")) or _pattern_literals(field.get("open_pattern"))
    closes = _literals(field.get("close")) or _pattern_literals(field.get("close_pattern"))
    return (opens[0], closes[0]) if opens and closes else None


def _literals(value: Json) -> tuple[str, ...]:
    found = (value,) if isinstance(value, str) else value if isinstance(value, list) else ()
    return tuple(str(item) for item in found if item and item != "eos")


def _placeholder(value: Json) -> str:
    match = re.fullmatch(r"\{(\w+)\}", value) if isinstance(value, str) else None
    return match[1] if match else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
