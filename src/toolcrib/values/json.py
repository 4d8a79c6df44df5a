"""JSON as a type, read strictly: what is accepted here can be stored, hashed and sent anywhere."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

_KINDS: dict[type[object], str] = {
    dict: "object",
    list: "array",
    tuple: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
JsonObject = Mapping[str, Json]

MAX_INTEGER_DIGITS = 309
MAX_DEPTH = 512
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonError(ValueError):
    """The text or value is not JSON as every later layer can hold it."""


def parse_json(text: str | bytes) -> Json:
    """Read one JSON document: no NaN, no infinity, no lone surrogate, no text after it, bounded depth."""
    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        value: Json = json.loads(source, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded_integer)
    except RecursionError:
        raise JsonError("the JSON is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise JsonError(f"the JSON is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    check_json(value)
    return value


def check_json(value: object) -> None:
    """Refuse what JSON cannot hold (cycles and depth included), naming the place of the first problem."""
    waiting: list[tuple[object, str, int]] = [(value, "$", 0)]
    while waiting:
        item, path, depth = waiting.pop()
        if item is None or isinstance(item, (bool, int)):
            continue
        if depth > MAX_DEPTH:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels at {path[:80]}")
        if isinstance(item, str):
            if not item.isascii() and _SURROGATE.search(item):
                raise JsonError(f"lone surrogate in the string at {path}")
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise JsonError(f"{item} is not a JSON number (at {path})")
        elif isinstance(item, Mapping):
            for key, member in item.items():  # pyright: ignore[reportUnknownVariableType]
                if not isinstance(key, str):
                    raise JsonError(f"the key {key!r} at {path} is not a string")
                if not key.isascii() and _SURROGATE.search(key):
                    raise JsonError(f"lone surrogate in a key at {path}")
                waiting.append((member, f"{path}.{key}", depth + 1))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(item, (list, tuple)):
            waiting.extend((member, f"{path}[{index}]", depth + 1) for index, member in enumerate(item))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        else:
            raise JsonError(f"{type(item).__name__} at {path} is not JSON")


def canonical(value: Json) -> str:
    """One text per value: sorted keys, no white space; the form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def kind(value: object) -> str:
    """The JSON name of a value's type, as error messages use it."""
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)


def _no_constant(name: str) -> NoReturn:
    raise JsonError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonError(f"the number {text[:20]} is too large")
    return number


def _bounded_integer(text: str) -> int:
    if len(text) > MAX_INTEGER_DIGITS:
        raise JsonError(f"an integer of {len(text)} digits is too large (at most {MAX_INTEGER_DIGITS})")
    return int(text)
