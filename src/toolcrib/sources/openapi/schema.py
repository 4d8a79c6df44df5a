"""Schemas of OpenAPI 3.0 and 3.1 as JSON Schema, with whatever they refer to inside the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import unquote

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import ConfigError

_MOST_LEVELS = 64
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
    | {"unevaluatedItems", "unevaluatedProperties", "additionalItems"}
)
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_LEFT_OUT = frozenset(
    {"nullable", "discriminator", "xml", "externalDocs", "example", "exclusiveMinimum", "exclusiveMaximum", "$ref"}
)
_DEFINITIONS = "#/$defs/"


@dataclass(slots=True)
class Definitions:
    """The document's own schemas, by the places that references name."""

    raw: JsonObject
    names: dict[str, str] = field(default_factory=dict[str, str])
    """The name of each place that was referred to, in the `$defs` of a tool's schema."""
    made: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])

    def plain(self, schema: Json, level: int = 0) -> JsonObject:
        """A schema as JSON Schema; its references point into `$defs`, which `used` gives."""
        if schema is False:
            return {"not": {}}
        if not isinstance(schema, Mapping):
            return {}
        if level > _MOST_LEVELS:
            raise ConfigError(f"a schema is nested deeper than {_MOST_LEVELS} levels")
        made: dict[str, Json] = {}
        for key, value in schema.items():
            if key in _NAMED:
                made[key] = {name: self.plain(inner, level + 1) for name, inner in as_object(value).items()}
            elif key in _SINGLE and isinstance(value, Mapping):
                made[key] = self.plain(value, level + 1)
            elif key in _LISTS:
                made[key] = [self.plain(inner, level + 1) for inner in as_list(value)]
            elif key not in _LEFT_OUT and not key.startswith("x-"):
                made[key] = value
        if isinstance(reference := schema.get("$ref"), str):
            made["$ref"] = _DEFINITIONS + self._named(reference)
        _set_bounds(schema, made)
        return _with_null(made) if schema.get("nullable") is True else made

    def used(self, value: Json) -> dict[str, Json]:
        """The definitions that a schema needs, and those that these need."""
        found: dict[str, Json] = {}
        waiting: list[Json] = [value]
        while waiting:
            here = waiting.pop()
            if isinstance(here, dict):
                reference = here.get("$ref")
                name = reference.removeprefix(_DEFINITIONS) if isinstance(reference, str) else ""
                if name in self.made and name not in found:
                    found[name] = self.made[name]
                    waiting.append(self.made[name])
                waiting.extend(here.values())
            elif isinstance(here, list):
                waiting.extend(here)
        return found

    def _named(self, reference: str) -> str:
        """The name for a place; what stands there is read when it is first referred to, circles included."""
        known = self.names.get(reference)
        if known is not None:
            return known
        last = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in reference.split("/")[-1])
        name = last if last and last not in self.names.values() else f"{last}_{len(self.names)}"
        self.names[reference] = name
        try:
            self.made[name] = self.plain(pointed(reference, self.raw))
        except ConfigError:
            del self.names[reference]
            raise
        return name


def resolved(value: Json, raw: JsonObject) -> Json:
    """What a reference inside the document stands for; one to anywhere else, or in a circle, is an error."""
    seen: list[str] = []
    while isinstance(value, dict) and isinstance(reference := value.get("$ref"), str):
        if reference in seen:
            raise ConfigError(f"the reference {reference[:120]!r} leads back to itself")
        seen.append(reference)
        value = pointed(reference, raw)
    return value


def pointed(reference: str, raw: JsonObject) -> Json:
    """What stands at a place of the document."""
    if not reference.startswith("#/"):
        raise ConfigError(
            f"the reference {reference[:120]!r} leaves the document; only references inside it are followed"
        )
    found: Json = raw
    for step in reference[2:].split("/"):
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = cast("list[Json]", found)[int(key)]
        else:
            raise ConfigError(f"the reference {reference[:120]!r} points at nothing in the document")
    return found


def as_object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _set_bounds(schema: Mapping[str, Json], made: dict[str, Json]) -> None:
    """3.0 says with a flag beside the bound what JSON Schema says with a bound of its own."""
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        value = schema.get(flag)
        if value is True and bound in made:
            made[flag] = made.pop(bound)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            made[flag] = value


def _with_null(made: dict[str, Json]) -> JsonObject:
    """3.0's `nullable`, which JSON Schema says with a type, and of anything without one with a choice."""
    kind, values = made.get("type"), made.get("enum")
    if isinstance(kind, str):
        more: list[Json] = [] if not isinstance(values, list) or None in values else [None]
        return {**made, "type": [kind, "null"], **({"enum": [*values, *more]} if isinstance(values, list) else {})}
    return {"anyOf": [made, {"type": "null"}]} if made else made
