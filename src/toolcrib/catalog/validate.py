"""Schemas at work: definitions checked at registration, arguments and results checked at every call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import cast

import jsonschema_rs
import orjson

from toolcrib.catalog.explain import explain
from toolcrib.catalog.problem import Problem
from toolcrib.values.json import (
    MAX_DEPTH,
    MAX_INTEGER_DIGITS,
    Json,
    JsonError,
    JsonObject,
    check_json,
    kind,
    parse_json,
)
from toolcrib.values.refusal import Reason, Refusal, SchemaError
from toolcrib.values.schema import Profile, check_schema

_DIALECTS = re.compile(r"https?://json-schema\.org/(draft-0[467]/schema|draft/20(19-09|20-12)/schema)#?")
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=50_000, size_limit=512 * 1024)
_LONG_RUN = b"0" * 19
_ROOM = len('{"":}') + 19  # an object in less room holds no such run
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]\d\d:\d\d)?")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?")
_DURATION = re.compile(r"P(?=\d|T\d)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?")
_LARGEST = 10**MAX_INTEGER_DIGITS


class Validator:
    """One compiled schema. `is_valid` is the hot path; `problems` is asked only after it said no."""

    __slots__ = ("is_valid", "schema")

    def __init__(self, schema: JsonObject) -> None:
        self.schema = schema
        self.is_valid: Callable[[object], bool] = _compiled(schema).is_valid

    def problems(self, value: Json) -> tuple[Problem, ...]:
        """Everything that is wrong with a value, at most twenty problems; never the value itself."""
        return explain(self.schema, value, _compiled)


def _compiled(schema: JsonObject) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            dict(schema), offline=True, validate_formats=True, formats=_FORMATS, pattern_options=_PATTERNS
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise _schema_error(error) from error


def check_definition(schema: JsonObject, profile: Profile = Profile.FULL) -> None:
    """Refuse a schema that is hostile, invalid or outside the profile; what passes compiles in microseconds."""
    check_schema(schema, profile)
    dialect = schema.get("$schema")
    if dialect is not None and not (isinstance(dialect, str) and _DIALECTS.fullmatch(dialect)):
        raise SchemaError(f"$schema is {dialect!r}; Draft 4 to 2020-12 of json-schema.org are understood")
    Validator(schema)


def check_input_schema(schema: JsonObject, profile: Profile = Profile.FULL) -> None:
    """Like `check_definition`, and the schema must be one of an object: arguments have names."""
    check_definition(schema, profile)
    if schema.get("type", "object") not in ("object", ["object"]):
        raise SchemaError(f"an input schema must have type object, not {schema['type']!r}: arguments have names")


def arguments_of(raw: Mapping[str, Json] | str | bytes) -> Mapping[str, Json]:
    """The arguments as a JSON object: text is parsed strictly, a mapping is checked to be JSON."""
    try:
        value = _parsed(raw) if type(raw) is str or isinstance(raw, (str, bytes)) else _checked(raw)
    except JsonError as error:
        raise Refusal(
            Reason.VALIDATION_ERROR, f"the arguments are not valid JSON: {error}; send one JSON object"
        ) from None
    if type(value) is dict:
        return value  # pyright: ignore[reportUnknownVariableType]
    raise Refusal(
        Reason.VALIDATION_ERROR, f'the arguments must be one JSON object such as {{"name": "value"}}, not {kind(value)}'
    )


def refusal_of(name: str, problems: tuple[Problem, ...]) -> Refusal:
    """What the model hears when its arguments do not fit: every problem at once."""
    lines = "\n".join(f"- {problem}" for problem in problems)
    return Refusal(
        Reason.VALIDATION_ERROR,
        f"the arguments of {name} do not fit its schema:\n{lines}",
        {"problems": [{"path": each.path, "rule": each.rule, "message": each.message} for each in problems]},
    )


def _parsed(text: str | bytes) -> Json:
    """orjson where it agrees with the strict parser: it turns integers beyond 64 bits into floats and allows twice
    the depth, so long digit runs and many brackets take the slow lane, and so does whatever it rejects."""
    try:
        if len(text) < _ROOM:
            return orjson.loads(text)
        data = text.encode() if isinstance(text, str) else text
        deep = len(data) > MAX_DEPTH and data.count(b"[") + data.count(b"{") > MAX_DEPTH
        if not deep and _LONG_RUN not in data.translate(_DIGITS_AS_ZERO):
            return orjson.loads(data)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return parse_json(text)  # it says what is wrong
    return parse_json(text)


def _checked(members: Mapping[str, Json]) -> Json:
    exact = members.__class__ is dict
    if not exact and not isinstance(members, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise JsonError(f"{type(members).__name__} is not an object")
    for name, member in members.items():
        if not (type(name) is str and name.isascii() and _plain(member)):
            return _examined(members)
    return members if exact else {**members}


def _examined(members: Mapping[str, Json]) -> Json:
    """The whole structure looked at, for arguments that are not flat and plain."""
    check_json(members)
    try:
        return cast("Json", _rebuilt(members))
    except RecursionError:
        raise JsonError("nested too deeply") from None


def _plain(value: object) -> bool:
    """Whether a value is surely JSON at first sight; False = look closer."""
    if type(value) is str:
        return value.isascii()
    if type(value) is int:
        return -_LARGEST < value < _LARGEST
    return value is None or type(value) is bool or (type(value) is float and math.isfinite(value))


def _rebuilt(value: object) -> object:
    """The value in the built-in types that the validator reads: subclasses, tuples and other mappings are copied."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {str.__str__(name): _rebuilt(member) for name, member in members.items()}
    if isinstance(value, (list, tuple)):
        return [_rebuilt(member) for member in cast("list[object]", value)]
    if type(value) in (str, int, float, bool) or value is None:
        if type(value) is int and not -_LARGEST < value < _LARGEST:
            raise JsonError(f"an integer of more than {MAX_INTEGER_DIGITS} digits is too large")
        return value
    return (
        str.__str__(value)
        if isinstance(value, str)
        else next(of(value) for of in (int, float) if isinstance(value, of))
    )


def _is_moment(text: str) -> bool:
    return _MOMENT.fullmatch(text) is not None


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


_FORMATS: dict[str, Callable[[str], bool]] = {"date-time": _is_moment, "time": _is_time, "duration": _is_duration}
"""Read as people and models write them: the time zone may be missing, seconds of a duration may have a fraction."""


def _schema_error(error: Exception) -> SchemaError:
    path = getattr(error, "instance_path", None)
    place = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path or ())
    return SchemaError(f"the schema is not valid at {place}: {str(getattr(error, 'message', error))[:300]}")
