"""Between JSON and Python: arguments become what a signature asks for, results become JSON."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import datetime as dt
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import Enum
from pathlib import PurePath
from typing import TypeVar, cast
from uuid import UUID

from toolcrib.values.json import Json, kind

Convert = Callable[[Json], object]
"""Takes a JSON value that satisfies the schema; returns the Python value, or raises `Unconvertible`."""

_T = TypeVar("_T")
_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


class Unconvertible(Exception):
    """A value that satisfies the schema, but not the Python type behind it. `path` is completed on the way out."""

    def __init__(self, rule: str, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.path = path

    def below(self, step: str | int) -> Unconvertible:
        return Unconvertible(self.rule, self.message, (step, *self.path))


def whole(value: Json) -> Json:
    """JSON Schema counts 1.0 as an integer; a Python `int` parameter gets 1."""
    return int(value) if isinstance(value, float) else value


def real(value: Json) -> Json:
    """A Python `float` parameter gets 1.0 for 1."""
    if type(value) is not int:
        return value
    try:
        return float(value)
    except OverflowError:
        raise Unconvertible("number", "the number is too large for a float") from None


def moment(value: Json) -> dt.datetime:
    return _parsed("date-time", dt.datetime.fromisoformat, str(value).upper())


def day(value: Json) -> dt.date:
    return _parsed("date", dt.date.fromisoformat, value)


def time_of_day(value: Json) -> dt.time:
    return _parsed("time", dt.time.fromisoformat, str(value).upper())


def duration(value: Json) -> dt.timedelta:
    found = _DURATION.fullmatch(str(value))
    if not found or not any(found.groups()):
        raise Unconvertible(
            "duration", "expected an ISO 8601 duration of weeks, days, hours, minutes and seconds ('PT1H30M')"
        )
    weeks, days, hours, minutes = (int(part or 0) for part in found.groups()[:4])
    try:
        return dt.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=float(found.group(5) or 0))
    except OverflowError:
        raise Unconvertible("duration", "the duration is too long") from None


def decimal(value: Json) -> Decimal:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise Unconvertible("decimal", "expected a decimal number") from None


def uuid(value: Json) -> UUID:
    return _parsed("uuid", UUID, value)


def raw_bytes(value: Json) -> bytes:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError):
        raise Unconvertible("base64", "expected base64 text") from None


def each(convert: Convert) -> Convert:
    """Convert the members of an array; an array in which nothing changes is passed on as it is."""

    def convert_array(value: Json) -> object:
        members = cast("Sequence[Json]", value)
        converted = [_at(index, convert, member) for index, member in enumerate(members)]
        return value if all(map(_same, members, converted)) else converted

    return convert_array


def each_value(convert: Convert) -> Convert:
    """Convert the values of an object."""

    def convert_object(value: Json) -> object:
        members = cast("Mapping[str, Json]", value)
        return {name: _at(name, convert, member) for name, member in members.items()}

    return convert_object


def each_key(convert_key: Convert, convert: Convert | None) -> Convert:
    """Convert keys and values of an object."""

    def convert_object(value: Json) -> object:
        members = cast("Mapping[str, Json]", value)
        return {
            _at(name, convert_key, name): _at(name, convert, member) if convert else member
            for name, member in members.items()
        }

    return convert_object


def collected(collect: Callable[[Sequence[object]], object], convert: Convert | None) -> Convert:
    """Convert the members of an array, then make a set or tuple of them."""
    members_of = each(convert) if convert else None

    def convert_array(value: Json) -> object:
        members = members_of(value) if members_of else value
        return collect(cast("Sequence[object]", members))

    return convert_array


def positions(converts: Sequence[Convert | None]) -> Convert:
    """Convert a tuple whose every position has its own type."""

    def convert_array(value: Json) -> object:
        members = cast("Sequence[Json]", value)
        return tuple(
            _at(index, convert, member) if convert else member
            for index, (member, convert) in enumerate(zip(members, converts, strict=True))
        )

    return convert_array


def fields(converts: Mapping[str, Convert]) -> Convert:
    """Convert some members of an object and leave it an object."""

    def convert_object(value: Json) -> object:
        members = cast("Mapping[str, Json]", value)
        return {
            name: _at(name, converts[name], member) if name in converts else member for name, member in members.items()
        }

    return convert_object


def record(make: Callable[..., object], converts: Mapping[str, Convert], names: Mapping[str, str]) -> Convert:
    """Convert the members of an object, then call the class with them. `names` maps JSON names to Python names."""
    convert_members = fields(converts) if converts else None

    def convert_object(value: Json) -> object:
        members = cast("Mapping[str, object]", convert_members(value) if convert_members else value)
        if names:
            members = {names.get(name, name): member for name, member in members.items()}
        try:
            return make(**members)
        except (ValueError, TypeError, AssertionError) as error:
            raise Unconvertible("value", str(error) or type(error).__name__) from error

    return convert_object


def member_of(choices: Mapping[tuple[bool, object], object]) -> Convert:
    """Find the Python value (an enum member, a literal) for a JSON scalar; true is not 1 here."""

    def convert_scalar(value: Json) -> object:
        try:
            return choices[isinstance(value, bool), value]
        except KeyError:
            raise Unconvertible("enum", "not one of the allowed values") from None

    return convert_scalar


def by_kind(converts: Mapping[str, Convert | None]) -> Convert:
    """Convert by the kind of the value, for unions whose members are of different JSON kinds."""

    def convert_union(value: Json) -> object:
        convert = converts.get(kind(value))
        return convert(value) if convert else value

    return convert_union


def json_of(value: object) -> Json:
    """The JSON form of a Python value, as results and defaults are shown; TypeError when it has none."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {_key(name): json_of(member) for name, member in cast("Mapping[object, object]", value).items()}
    if isinstance(value, tuple) and (names := getattr(cast("object", value), "_fields", None)):
        return {name: json_of(getattr(cast("object", value), name)) for name in cast("tuple[str, ...]", names)}
    if isinstance(value, (list, tuple)):
        return [json_of(member) for member in cast("Sequence[object]", value)]
    if isinstance(value, (set, frozenset)):
        return [json_of(member) for member in sorted(cast("set[object]", value), key=repr)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _scalar_json(value)


def _scalar_json(value: object) -> Json:
    if isinstance(value, Enum):
        return json_of(value.value)
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return f"P{value.days}DT{value.seconds}.{value.microseconds:06d}S" if value.days >= 0 else value.total_seconds()
    if isinstance(value, (Decimal, UUID, PurePath)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(cast("bytes", value)).decode()
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        dump = cast("Callable[..., Json]", getattr(value, "model_dump"))  # noqa: B009
        return dump(mode="json", by_alias=True)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _key(name: object) -> str:
    if isinstance(name, str):
        return name.value if isinstance(name, Enum) else name
    key = json_of(name)
    return key if isinstance(key, str) else str(key)


def _at(step: str | int, convert: Convert, value: Json) -> object:
    try:
        return convert(value)
    except Unconvertible as error:
        raise error.below(step) from error.__cause__


def _same(one: object, other: object) -> bool:
    return one is other


def _parsed(rule: str, parse: Callable[[str], _T], value: Json) -> _T:
    try:
        return parse(str(value))
    except ValueError as error:
        raise Unconvertible(rule, f"not a {rule}: {error}"[:200]) from None
