"""Schemas as short as they can be said without changing what they mean, with a list of everything left out."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.schema import LISTS, MAPS, SINGLE

COMMENTS = frozenset({"$comment", "x-order"})
OUTERMOST = frozenset({"$schema", "$id"})
SPOKEN_FOR = frozenset({"title", "examples", "example"})
"""Left out where a description says what the value is."""
EMPTY = frozenset({"required", "properties", "$defs", "definitions", "description"})


@frozen
class Omission:
    """One thing that was left out: where it stood, and the keyword."""

    path: str
    keyword: str

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.keyword}"


@frozen
class Minified:
    """A shorter schema that allows the same values, and what it no longer says."""

    schema: JsonObject
    dropped: tuple[Omission, ...]


def minify(schema: JsonObject) -> Minified:
    """Leave out what constrains nothing: document keywords, empty lists, white space, words that repeat a name."""
    dropped: list[Omission] = []
    return Minified(_shorter(schema, "", "", dropped), tuple(dropped))


def _shorter(schema: JsonObject, path: str, name: str, dropped: list[Omission]) -> JsonObject:
    kept: dict[str, Json] = {}
    for key, value in schema.items():
        if _says_nothing(key, schema, path, name):
            dropped.append(Omission(path, key))
        elif key == "description" and isinstance(value, str):
            kept[key] = " ".join(value.split())
        elif key in MAPS and isinstance(value, Mapping):
            kept[key] = {inner: _within(value[inner], f"{path}/{inner}", inner, dropped) for inner in value}
        elif key in LISTS and isinstance(value, (list, tuple)):
            kept[key] = [_within(member, f"{path}/{key}/{at}", "", dropped) for at, member in enumerate(value)]
        elif key in SINGLE:
            kept[key] = _within(value, f"{path}/{key}", "", dropped)
        else:
            kept[key] = value
    return kept


def _within(schema: Json, path: str, name: str, dropped: list[Omission]) -> Json:
    return _shorter(schema, path, name, dropped) if isinstance(schema, Mapping) else schema


def _says_nothing(key: str, schema: JsonObject, path: str, name: str) -> bool:
    value = schema[key]
    if key in COMMENTS or (key in OUTERMOST and not path):
        return True
    if key in SPOKEN_FOR:
        return bool(schema.get("description")) or (key == "title" and (not path or _repeats(value, name)))
    if key in EMPTY and isinstance(value, (str, list, tuple, Mapping)) and not value:
        # At the top an object without properties still says that it is one: providers want the keyword there.
        return key != "properties" or bool(path)
    return key == "description" and bool(name) and _repeats(value, name)


def _repeats(value: Json, name: str) -> bool:
    return isinstance(value, str) and _words(value) == _words(name)


def _words(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
