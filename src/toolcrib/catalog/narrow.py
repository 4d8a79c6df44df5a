"""A tool as it is offered where only reading is allowed: the same tool with a narrower schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.spec import Effect, ToolSpec


def reading_form(spec: ToolSpec) -> ToolSpec:
    """The specification of a write as its read form has it: for people and models to see.

    What is enforced is the whole read form beside the whole input schema, whatever this merge can show of it.
    """
    if spec.effect is Effect.READ or spec.read_form is None:
        return spec
    tags = (spec.tags - {"write"}) | {"readonly"}
    return replace(spec, input_schema=_merged(spec.input_schema, spec.read_form), effect=Effect.READ, tags=tags)


def _merged(schema: JsonObject, form: JsonObject) -> JsonObject:
    """The input schema with what the read form says laid over it, property by property."""
    merged: dict[str, Json] = {**schema, **{key: value for key, value in form.items() if key not in _JOINED}}
    properties = dict(_mapping(schema.get("properties")))
    for name, narrower in _mapping(form.get("properties")).items():
        wider = properties.get(name)
        if isinstance(wider, Mapping) and isinstance(narrower, Mapping):
            narrower = _without_lost_default({**wider, **narrower})
        properties[name] = narrower
    if form.get("additionalProperties") is False:
        properties = {name: properties[name] for name in properties if name in _mapping(form.get("properties"))}
    merged["properties"] = properties
    required = [*_names(schema.get("required")), *_names(form.get("required"))]
    merged["required"] = [name for name in dict.fromkeys(required) if name in properties]
    return merged


def _without_lost_default(member: dict[str, Json]) -> dict[str, Json]:
    """A default that the narrower schema no longer accepts would only mislead."""
    choices = member.get("enum")
    if isinstance(choices, list) and "default" in member and member["default"] not in choices:
        del member["default"]
    return member


_JOINED = ("properties", "required", "type")


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _names(value: Json) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
