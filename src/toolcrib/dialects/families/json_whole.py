"""Calls as plain JSON objects that stand whole in the window: taken at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from sys import intern
from typing import TypeAlias

from toolcrib.dialects.formats.spec import JsonBlock, Shape
from toolcrib.dialects.parsed import ParsedCall
from toolcrib.dialects.reader import Reader, Take
from toolcrib.dialects.row import Row, with_close
from toolcrib.values.json import Json

Plain: TypeAlias = "Callable[[Json, Reader], ParsedCall | None]"
_NEXT = re.compile(r"(?P<call>)\s*[,;]\s*(?=\{)").match


def head(spec: JsonBlock) -> str:
    """Only the brace; `spec` does not matter."""
    return r"(?=\{)"


@lru_cache(maxsize=64)
def taking(spec: JsonBlock) -> Take:
    """What takes a plain call, close and all; without a close, up to what is no further JSON."""
    return with_close(in_list(spec).take, spec.closes, r"(?=[^\s{\[,;\]`])")


@lru_cache(maxsize=64)
def in_list(spec: JsonBlock) -> Row:
    """A plain call behind another in a list."""
    call_in = plain(spec)

    def take(reader: Reader, head: re.Match[str]) -> ParsedCall | None:
        json = reader.json
        reader.source.pos = head.end()
        value = json.take()
        call = call_in(value, reader) if value is not None else None
        return call if not json.duplicates else None

    return Row(_NEXT, take)


@lru_cache(maxsize=64)
def plain(spec: JsonBlock) -> Plain:
    """What finds the call of a known tool in an object that holds nothing but what the layout writes."""
    if spec.shape is Shape.KEYED:
        return _keyed_call
    keys: dict[str, str] = {hole: key for key, hole in re.findall(r'"(\w+)": "?\$(\w+)', spec.layout.each)}
    if "quoted" in keys:
        return _dumped_call
    if "name" not in keys or "arguments" not in keys:
        return _named("name", "arguments", "")
    return _named(keys["name"], keys["arguments"], keys.get("index", ""))


def _named(name_key: str, arguments_key: str, id_key: str) -> Plain:
    """`{"name": …, "arguments": {…}}` under these keys."""
    count = 3 if id_key else 2

    def call_in(value: Json, reader: Reader) -> ParsedCall | None:
        if not isinstance(value, dict) or len(value) != count:
            return None
        name, arguments, id = value.get(name_key), value.get(arguments_key), value.get(id_key)
        if not isinstance(name, str) or not isinstance(arguments, dict) or name not in (reader.tools.known or ()):
            return None
        if isinstance(id, str):
            return ParsedCall(intern(name), arguments, id)
        return ParsedCall(intern(name), arguments) if not id_key else None

    return call_in


def _keyed_call(value: Json, reader: Reader) -> ParsedCall | None:
    """`{"the name": {…}}`, unless that name is a word of other shapes."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((name, arguments),) = value.items()
    if not isinstance(arguments, dict) or name == "function" or name not in (reader.tools.known or ()):
        return None
    return ParsedCall(intern(name), arguments)


def _dumped_call(value: Json, reader: Reader) -> ParsedCall | None:
    """`{"id": …, "type": …, "function": {"name": …, "arguments": "{…}"}}`."""
    if not isinstance(value, dict) or len(value) != 3 or "type" not in value:
        return None
    id, function = value.get("id"), value.get("function")
    if not isinstance(id, str) or not isinstance(function, dict) or len(function) != 2:
        return None
    name, written = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not isinstance(written, str) or name not in (reader.tools.known or ()):
        return None
    arguments = reader.json.object_in(written)
    return ParsedCall(intern(name), arguments, id) if arguments is not None else None
