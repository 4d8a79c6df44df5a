"""Python values as JSON: the same object wherever it is JSON already, a conversion where there is one obvious form."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import PurePath
from types import MappingProxyType
from typing import cast

from toolcrib.values.json import MAX_INTEGER_DIGITS, Json
from toolcrib.values.refusal import Reason, Refusal

WORDS = "return text, numbers, booleans, None, lists, dicts with text keys, dataclasses or pydantic models"

_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST_INTEGER = 10**MAX_INTEGER_DIGITS
_LONGEST_RANGE = 1_000_000
_DEEPEST = 200  # what is nested deeper, encoders refuse


class _Unusable(Exception):
    """Something in a value that JSON cannot hold; the place is put together on the way out."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place: list[str] = []


def plain(value: object) -> Json:
    """The value as JSON; Refusal names the type and place of what cannot be kept, and what would work."""
    try:
        return _plain(value, 0, [])
    except _Unusable as unusable:
        place = "".join(reversed(unusable.place[-8:])) + ("…" if len(unusable.place) > 8 else "")
        problem = f"{unusable.problem} at ${place}"
    except RecursionError:
        problem = f"a {type(value).__name__} that is nested too deeply or contains itself"
    except Exception as error:  # the objects of a handler run their own code when they are read
        problem = f"a {type(value).__name__} that cannot be read ({type(error).__name__}: {error})"
    raise Refusal(Reason.INTERNAL_ERROR, f"the tool returned {problem}; {WORDS}")


def surrogate_in(text: str) -> int | None:
    """Where a text has half of a character, which can be neither stored nor sent."""
    found = None if text.isascii() else _SURROGATE.search(text)
    return None if found is None else found.start()


def _plain(value: object, depth: int, trail: list[object]) -> Json:
    kind = type(value)
    if kind is str:
        return _checked(cast("str", value))
    if value is None or kind is bool:
        return cast("Json", value)
    if kind is int:
        return _number(cast("int", value))
    if kind is float:
        if math.isfinite(cast("float", value)):
            return cast("float", value)
        raise _Unusable(f"the number {value}")
    if kind is dict:
        return _object(cast("Mapping[object, object]", value), value, depth, trail)
    if kind is list or (kind is tuple and not hasattr(value, "_fields")):
        return _array(cast("Sequence[object]", value), value, depth, trail)
    return _converted(value, depth, trail)


def _object(members: Mapping[object, object], owner: object, depth: int, trail: list[object]) -> Json:
    _enter(owner, depth, trail)
    result: dict[str, Json] = {}
    changed = members is not owner or not isinstance(members, (dict, MappingProxyType))
    for key, item in members.items():
        name = _name(key)
        try:
            member = _plain(item, depth + 1, trail)
        except _Unusable as unusable:
            unusable.place.append(f".{name[:40]}")
            raise
        if name in result:
            raise _Unusable(f"a dict with two keys that both become {name[:40]!r}")
        changed = changed or member is not item or name is not key
        result[name] = member
    trail.pop()
    return result if changed else cast("Json", members)


def _array(items: Sequence[object], owner: object, depth: int, trail: list[object]) -> Json:
    _enter(owner, depth, trail)
    result: list[Json] = []
    changed = items is not owner
    for number, item in enumerate(items):
        try:
            member = _plain(item, depth + 1, trail)
        except _Unusable as unusable:
            unusable.place.append(f"[{number}]")
            raise
        changed = changed or member is not item
        result.append(member)
    trail.pop()
    return result if changed else cast("Json", items)


def _enter(owner: object, depth: int, trail: list[object]) -> None:
    """Keep the way down; look for a circle now and then, since it comes round again however late it is noticed."""
    if depth and depth % 32 == 0 and any(owner is above for above in trail):
        raise _Unusable(f"a {type(owner).__name__} that contains itself")
    if depth > _DEEPEST:
        raise _Unusable(f"a {type(owner).__name__} nested deeper than {_DEEPEST} levels")
    trail.append(owner)


def _converted(value: object, depth: int, trail: list[object]) -> Json:
    """Values of the standard library and of pydantic that have one obvious form in JSON."""
    owner = value
    match value:
        case enum.Enum():
            return _plain(value.value, depth, trail)
        case str():
            return _checked(str.__str__(value))
        case int():
            return _number(int(value))
        case float():
            return _plain(float(value), depth, trail)
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case PurePath():
            return _checked(str(value))
        case bytes() | bytearray():
            return _decoded(value)
        case tuple():
            members = dict(zip(_fields(owner), cast("tuple[object, ...]", owner), strict=True))
            return _object(cast("Mapping[object, object]", members), owner, depth, trail)
        case Mapping():
            return _object(cast("Mapping[object, object]", owner), owner, depth, trail)
        case Set():
            return _array(_in_order(cast("Set[object]", owner)), owner, depth, trail)
        case range() if len(value) <= _LONGEST_RANGE:
            return list(value)
        case _:
            return _unpacked(value, depth, trail)


def _unpacked(value: object, depth: int, trail: list[object]) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members: dict[object, object] = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _object(members, value, depth, trail)
    if (dump := _model_dump(value)) is not None:
        return _plain(dump(), depth, trail)
    if type(value).__module__ in ("uuid", "decimal", "ipaddress", "fractions"):
        return str(value)
    owner = value
    if isinstance(value, Sequence) and not isinstance(value, range):
        return _array(list(cast("Sequence[object]", owner)), owner, depth, trail)
    raise _Unusable(_advice(value))


def _model_dump(value: object) -> Callable[[], object] | None:
    """How a pydantic model becomes plain values. pydantic is not imported for this: who returns a model has done so."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not isinstance(value, pydantic.BaseModel):
        return None
    dump = cast("Callable[..., object]", getattr(value, "model_dump"))  # noqa: B009
    return lambda: dump(mode="json", by_alias=True)


def _fields(value: object) -> Sequence[str]:
    return cast("Sequence[str]", getattr(value, "_fields"))  # noqa: B009


def _in_order(values: Set[object]) -> list[object]:
    """A set has no order of its own: the same set gives the same list each time."""
    return sorted(values, key=lambda item: (type(item).__name__, str(item)))


def _name(key: object) -> str:
    if type(key) is str:
        return _checked(key)
    if isinstance(key, enum.Enum):
        return _name(key.value)
    if isinstance(key, str):
        return _checked(str.__str__(key))
    if isinstance(key, int) and not isinstance(key, bool):
        return str(int(key))
    raise _Unusable(f"a dict with a key of type {type(key).__name__}")


def _checked(text: str) -> str:
    if surrogate_in(text) is not None:
        raise _Unusable("a text with a lone surrogate (decode its bytes with errors='replace')")
    return text


def _number(number: int) -> int:
    if -_LARGEST_INTEGER < number < _LARGEST_INTEGER:
        return number
    raise _Unusable(f"an integer of more than {MAX_INTEGER_DIGITS} digits (make it text)")


def _decoded(value: bytes | bytearray) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _Unusable(f"{type(value).__name__} that are not UTF-8 (decode them, or encode them in base64)") from None


def _advice(value: object) -> str:
    name = type(value).__name__
    match name:
        case "generator" | "async_generator" | "map" | "filter" | "zip" | "list_iterator" | "range":
            return f"a {name} (make a list of it)"
        case "coroutine":
            return "a coroutine (await it)"
        case "function" | "method" | "builtin_function_or_method":
            return f"a {name} (call it)"
        case _:
            return f"a {name}"
