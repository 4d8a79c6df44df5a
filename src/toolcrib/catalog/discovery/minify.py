"""Schemas as short as they can be said without changing what they mean, with a list of everything left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.schema import LISTS, MAPS, SINGLE, children, resolve

COMMENTS = frozenset({"$comment", "x-order"})
OUTERMOST = frozenset({"$schema", "$id"})
PLAIN_DIALECTS = ("2020-12", "2019-09", "draft-07")
OF_A_DIALECT = frozenset(
    {"prefixItems", "additionalItems", "dependencies", "dependentRequired", "dependentSchemas", "minContains"}
    | {"maxContains", "unevaluatedItems", "unevaluatedProperties", "$anchor", "$dynamicAnchor", "$dynamicRef"}
    | {"$recursiveAnchor", "$recursiveRef"}
)
"""What drafts of JSON Schema disagree about, besides lists in `items` and what stands beside `$ref`."""
SAID_BESIDE = frozenset({"$ref", "title", "description", "examples", "default", "deprecated", "$comment"})
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
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


_DIALECT = Omission("", "$schema")


@frozen
class Minified:
    """A shorter schema that allows the same values, and what it no longer says."""

    schema: JsonObject
    dropped: tuple[Omission, ...]


def minify(schema: JsonObject) -> Minified:
    """Leave out what constrains nothing: document keywords, empty lists, white space, words that repeat a name."""
    dropped: list[Omission] = []
    shorter = _shorter(schema, "", "", dropped)
    # A reference may lead anywhere, also to what was left out.
    if not all(_leads_somewhere(reference, shorter) for reference in _references(schema)):
        return Minified(schema, ())
    if (dialect := schema.get("$schema")) is not None and _speaks(schema, str(dialect)):
        return Minified({"$schema": dialect, **shorter}, tuple(one for one in dropped if one != _DIALECT))
    return Minified(shorter, tuple(dropped))


def _references(schema: Json) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (str(schema[keyword]) for keyword in REFERENCES if keyword in schema)
        for _, child in children(schema):
            yield from _references(child)


def _leads_somewhere(reference: str, schema: JsonObject) -> bool:
    return reference.startswith("#") and resolve(schema, reference) is not None


def _speaks(schema: JsonObject, dialect: str) -> bool:
    """Whether it takes the dialect's name to know what the schema means."""
    if "2020-12" in dialect:
        return False
    return not any(plain in dialect for plain in PLAIN_DIALECTS) or _is_of_a_dialect(schema)


def _is_of_a_dialect(schema: Json) -> bool:
    if not isinstance(schema, Mapping):
        return False
    beside = "$ref" in schema and not schema.keys() <= SAID_BESIDE
    if beside or isinstance(schema.get("items"), (list, tuple)) or not OF_A_DIALECT.isdisjoint(schema):
        return True
    return any(_is_of_a_dialect(child) for _, child in children(schema))


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
