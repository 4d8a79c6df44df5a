"""Types for values that arrive as bare text: the tool's schema decides, never the look of the text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import cast

from toolcrib.dialects import literals
from toolcrib.dialects.parsed import Schema
from toolcrib.values.json import Json

_EMPTY: Schema = {}
_SURELY_WHOLE = 18
TEXT = frozenset({"string"})
_LITERALS: Mapping[str, Json] = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_BY_TYPE: Mapping[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def coerce(text: str, schema: Schema, root: Schema) -> Json:
    """`text` as a value of one of the schema's types; the text itself when it is a value of none of them."""
    return fit(text, types_of(schema, root) or TEXT)


def fit(text: str, types: frozenset[str]) -> Json:
    """`text` as a value of one of the types; the text itself when it is a value of none of them."""
    if types == TEXT:
        return text
    value = _literal(text.strip())
    if isinstance(value, float) and "number" not in types and value.is_integer():
        value = int(value)
    return value if value is not text and _fits(value, types) else text


def types_of(schema: Schema, root: Schema, depth: int = 0) -> frozenset[str]:
    """Every JSON type the schema allows; empty when it says nothing about types."""
    schema = resolve(schema, root)
    if depth > 8:
        return frozenset()
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset({named})
    if isinstance(named, Sequence):
        return frozenset(cast("Sequence[str]", named))
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if isinstance(values, Sequence) and values:
            return frozenset(map(_type_of, cast("Sequence[Json]", values)))
    if "properties" in schema:
        return frozenset({"object"})
    if "items" in schema or "prefixItems" in schema:
        return frozenset({"array"})
    branches = [
        branch for key in ("anyOf", "oneOf", "allOf") for branch in cast("Sequence[Schema]", schema.get(key, ()))
    ]
    found: frozenset[str] = frozenset()
    for branch in branches:
        found |= types_of(branch, root, depth + 1)
    return found


def resolve(schema: object, root: Schema, depth: int = 0) -> Schema:
    """The schema itself, or the one it refers to in the same document."""
    if not isinstance(schema, Mapping):
        return {}
    found = cast("Schema", schema)
    reference = found.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#") or depth > 8:
        return found
    target: object = root
    for part in reference.lstrip("#/").split("/") if len(reference) > 1 else ():
        target = _inside(target).get(part.replace("~1", "/").replace("~0", "~"))
    return resolve(target, root, depth + 1)


def _inside(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else _EMPTY


def member(schema: Schema, key: str, root: Schema) -> Schema:
    """The schema of one property, looked for in the branches too."""
    schema = resolve(schema, root)
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return resolve(cast("Schema", properties)[key], root)
    for name in ("anyOf", "oneOf", "allOf"):
        for branch in cast("Sequence[Schema]", schema.get(name, ())):
            if found := member(branch, key, root):
                return found
    return resolve(schema.get("additionalProperties"), root)


def items(schema: Schema, root: Schema) -> Schema:
    """The schema of an array's items, looked for in the branches too."""
    schema = resolve(schema, root)
    if isinstance(schema.get("items"), Mapping):
        return resolve(schema["items"], root)
    for name in ("anyOf", "oneOf", "allOf"):
        for branch in cast("Sequence[Schema]", schema.get(name, ())):
            if found := items(branch, root):
                return found
    return {}


def _literal(text: str) -> Json:
    """The value a text spells in JSON or Python; an unequal string when it spells none."""
    if text in _LITERALS:
        return _LITERALS[text]
    if len(text) < _SURELY_WHOLE and text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
        return int(text)
    try:
        return cast("Json", _DECODER.decode(text))
    except (ValueError, RecursionError):
        pass
    try:
        return literals.read_value(text)
    except literals.NotLiteral:
        return text


def _refuse(text: str) -> Json:
    raise ValueError(text)


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def _fits(value: Json, types: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, float) and not isfinite(value):
        return False
    return any(isinstance(value, _BY_TYPE.get(name, ())) for name in types)


def _type_of(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, kinds in _BY_TYPE.items() if isinstance(value, kinds)), "string")
