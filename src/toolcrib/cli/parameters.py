"""A tool's parameters: how they are shown, and how they are read from a command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

import click

from toolcrib.values.json import Json, JsonError, JsonObject, parse_json


def read_arguments(text: str | None, pairs: Iterable[str], schema: JsonObject) -> dict[str, Json]:
    """Arguments from one JSON object, from KEY=VALUE pairs, or from both; a pair wins."""
    arguments: dict[str, Json] = {}
    if text is not None:
        arguments.update(_object(text))
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{pair!r} is not KEY=VALUE; write title=Monday, or give --args '{{…}}'")
        arguments[key] = _value(value, _property(schema, key))
    return arguments


def parameter_rows(schema: JsonObject) -> list[tuple[str, str, str, str]]:
    """Name, kind, whether it must be given, and meaning, for each parameter."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping):
        return []
    return [
        (name, _kind(member), _need(name, member, required), _description(member))
        for name, member in properties.items()
    ]


def _object(text: str) -> JsonObject:
    try:
        value = parse_json(sys.stdin.read() if text == "-" else text)
    except JsonError as error:
        raise click.BadParameter(f"{error}", param_hint="'--args'") from error
    if not isinstance(value, Mapping):
        raise click.BadParameter('must be a JSON object, such as \'{"title": "Monday"}\'', param_hint="'--args'")
    return value


def _value(text: str, schema: Json) -> Json:
    """Text where the parameter is text, JSON where it is not; what is not JSON is left to the tool's own contract."""
    if _types(schema) == {"string"}:
        return text
    try:
        return parse_json(text)
    except JsonError:
        return text


def _property(schema: JsonObject, key: str) -> Json:
    properties = schema.get("properties")
    return properties.get(key) if isinstance(properties, Mapping) else None


def _types(schema: Json) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    declared = schema.get("type")
    if isinstance(declared, str):
        return {declared}
    if _is_list(declared):
        return {str(each) for each in declared}
    if _is_list(choices := schema.get("enum")):
        return {"string" if isinstance(each, str) else "other" for each in choices}
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    return set[str]().union(*(_types(each) or {"other"} for each in alternatives)) if _is_list(alternatives) else set()


def _kind(schema: Json) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if _is_list(choices := schema.get("enum")):
        return "|".join(str(each) for each in choices)
    if _is_list(alternatives := schema.get("anyOf") or schema.get("oneOf")):
        return " or ".join(_kind(each) for each in alternatives)
    if schema.get("type") == "array" and "items" in schema:
        return f"array of {_kind(schema['items'])}"
    return " or ".join(sorted(_types(schema))) or "any"


def _need(name: str, schema: Json, required: Json) -> str:
    if _is_list(required) and name in required:
        return "required"
    if isinstance(schema, Mapping) and "default" in schema:
        from toolcrib.cli.output import json_text

        return f"default {json_text(schema['default'], indent=None)}"
    return "optional"


def _description(schema: Json) -> str:
    described = schema.get("description") if isinstance(schema, Mapping) else None
    return described if isinstance(described, str) else ""


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
