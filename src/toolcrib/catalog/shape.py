"""A shape: the JSON Schema of a Python type, and how a JSON value becomes that type."""

from __future__ import annotations

import datetime as dt
from collections import abc
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Any
from uuid import UUID

from toolcrib.catalog import convert
from toolcrib.catalog.convert import Convert
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen


@frozen
class Shape:
    """`convert` is None where JSON is already the Python value. `sound` schemas need no check: we wrote them."""

    schema: dict[str, Json]
    convert: Convert | None = None
    sound: bool = True


def free_name(name: str, taken: Mapping[str, object]) -> str:
    """The name, or the name with a number where it is taken."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}{number}", number + 1
    return candidate


ANY = Shape({})
INTEGER = Shape({"type": "integer"}, convert.whole)
NUMBER = Shape({"type": "number"}, convert.real)
NULL = Shape({"type": "null"})
_ARRAY = Shape({"type": "array"})
_SET = Shape({"type": "array", "uniqueItems": True}, convert.collected(set, None))
_OBJECT = Shape({"type": "object"})
_DECIMAL: dict[str, Json] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"}]
}

PLAIN: Mapping[object, Shape] = {
    str: Shape({"type": "string"}),
    int: INTEGER,
    float: NUMBER,
    bool: Shape({"type": "boolean"}),
    None: NULL,
    type(None): NULL,
    Any: ANY,
    object: ANY,
    list: _ARRAY,
    abc.Sequence: _ARRAY,
    abc.MutableSequence: _ARRAY,
    abc.Iterable: _ARRAY,
    abc.Collection: _ARRAY,
    tuple: Shape({"type": "array"}, convert.collected(tuple, None)),
    set: _SET,
    abc.Set: _SET,
    abc.MutableSet: _SET,
    frozenset: Shape({"type": "array", "uniqueItems": True}, convert.collected(frozenset, None)),
    dict: _OBJECT,
    abc.Mapping: _OBJECT,
    abc.MutableMapping: _OBJECT,
    dt.datetime: Shape({"type": "string", "format": "date-time"}, convert.moment),
    dt.date: Shape({"type": "string", "format": "date"}, convert.day),
    dt.time: Shape({"type": "string", "format": "time"}, convert.time_of_day),
    dt.timedelta: Shape({"type": "string", "format": "duration"}, convert.duration),
    Decimal: Shape(_DECIMAL, convert.decimal),
    UUID: Shape({"type": "string", "format": "uuid"}, convert.uuid),
    Path: Shape({"type": "string", "format": "path"}, lambda value: Path(str(value))),
    PurePath: Shape({"type": "string", "format": "path"}, lambda value: PurePath(str(value))),
    bytes: Shape({"type": "string", "contentEncoding": "base64"}, convert.raw_bytes),
}


def plain_shape(hint: object) -> Shape | None:
    """The shape of a type that has one of its own. Metadata in an `Annotated` may make a type unhashable."""
    try:
        return PLAIN.get(hint)
    except TypeError:
        return None
