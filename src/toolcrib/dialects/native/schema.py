"""Schemas as a provider can take them, with a report of everything that was changed. Nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from toolcrib.values.json import Json, JsonObject

_DEPTH = 24
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})
_STRUCTURE = frozenset({"type", "properties", "required", "items", "enum", "additionalProperties"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_ALTERNATIVES = frozenset({"allOf", "anyOf", "oneOf"})
_NOT_ON_TOP = frozenset({"not", "enum", "const", "if", "then", "else"})
_REFERENCES = frozenset({"$ref", "$defs", "definitions"})


@dataclass(frozen=True, slots=True)
class Profile:
    """What one interface understands. `closed`: every object lists all its members and requires them."""

    keywords: frozenset[str] | None
    references: bool = True
    closed: bool = False


class Change(NamedTuple):
    """One difference between the tool's schema and the one that is sent."""

    tool: str
    path: str
    what: str


OPEN = Profile(None)
STRICT = Profile(
    _STRUCTURE
    | _NUMBERS
    | _REFERENCES
    | {"description", "title", "anyOf", "const", "pattern", "format", "minItems", "maxItems"},
    closed=True,
)
CLOSED = Profile(
    _STRUCTURE | _REFERENCES | {"description", "title", "anyOf", "const", "format", "default"}, closed=True
)
SUBSET = Profile(
    _STRUCTURE
    | {"description", "title", "format", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf"},
    references=False,
)


_IN_ORDER = sorted(_ALTERNATIVES)
_SAID_OTHERWISE = _NOT_ON_TOP | _ALTERNATIVES


def convert(tool: str, schema: JsonObject, profile: Profile) -> tuple[JsonObject, list[Change]]:
    """The schema for a provider, and what was changed to get it."""
    conversion = _Conversion(tool, schema, profile)
    made = dict(conversion.node(conversion.root(), "$", 0))
    return made, conversion.changes


class _Conversion:
    def __init__(self, tool: str, schema: JsonObject, profile: Profile) -> None:
        self.changes: list[Change] = []
        self._tool = tool
        self._whole = schema
        self._profile = profile
        self._open: list[str] = []

    def root(self) -> JsonObject:
        """Providers want a plain object on top: alternatives there become one object with all their members."""
        schema = self._resolved(self._whole, "$")
        branches = [
            self._resolved(branch, "$") for key in _IN_ORDER if key in schema for branch in _objects(schema[key])
        ]
        if branches:
            self._note("$", "alternatives of the whole object are merged; the call is still checked against them")
        properties: dict[str, Json] = dict(_object(schema.get("properties")))
        for branch in branches:
            properties |= _object(branch.get("properties"))
        for key in sorted(_NOT_ON_TOP & schema.keys()):
            self._note("$", f"{key!r} cannot be said of the whole object; the call is still checked against it")
        plain = {key: value for key, value in schema.items() if key not in _SAID_OTHERWISE}
        return {**plain, "type": "object", "properties": properties}

    def node(self, schema: Json, path: str, depth: int) -> JsonObject:
        if not isinstance(schema, Mapping):
            return {}
        if depth > _DEPTH:
            self._note(path, "nested deeper than can be sent; anything is allowed there")
            return {}
        if not self._profile.references and "$ref" in schema:
            return self._inlined(schema, path, depth)
        made: dict[str, Json] = {}
        for key, value in schema.items():
            if self._keeps(key, path):
                made[key] = self._member(key, value, path, depth)
        return self._close(made, schema, path) if self._profile.closed else made

    def _member(self, key: str, value: Json, path: str, depth: int) -> Json:
        if key in ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas"):
            return {name: self.node(item, f"{path}.{name}", depth + 1) for name, item in _object(value).items()}
        if key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            return [self.node(item, f"{path}.{key}", depth + 1) for item in _objects(value)]
        if key in ("items", "additionalProperties", "not", "contains") and isinstance(value, Mapping):
            return self.node(value, f"{path}[]", depth + 1)
        return value

    def _keeps(self, key: str, path: str) -> bool:
        if self._profile.keywords is None or key in self._profile.keywords:
            return True
        if key not in _ANNOTATIONS and not key.startswith("$") and key != "definitions":
            self._note(path, f"{key!r} cannot be said; the call is still checked against it")
        return False

    def _inlined(self, schema: JsonObject, path: str, depth: int) -> JsonObject:
        reference = str(schema["$ref"])
        if reference in self._open:
            self._note(path, f"{reference} refers to itself; anything is allowed there")
            return {}
        self._open.append(reference)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        made = self.node({**self._resolved(schema, path), **rest}, path, depth + 1)
        self._open.pop()
        return made

    def _resolved(self, schema: Json, path: str) -> JsonObject:
        found = _object(schema)
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        target: Json = self._whole
        for part in reference.lstrip("#/").split("/"):
            target = _object(target).get(part.replace("~1", "/").replace("~0", "~"))
        if not isinstance(target, Mapping):
            self._note(path, f"{reference} is not in the schema; anything is allowed there")
        return _object(target)

    def _close(self, made: dict[str, Json], schema: JsonObject, path: str) -> JsonObject:
        """Require every member; one that could be left out may be null instead."""
        properties = _object(made.get("properties"))
        if "properties" not in made and made.get("type") != "object":
            return made
        if schema.get("additionalProperties") not in (None, False):
            self._note(path, "members that are not listed cannot be sent")
        required = set(cast("Sequence[str]", schema.get("required") or ()))
        optional = [name for name in properties if name not in required]
        if optional:
            self._note(path, f"null stands for a member left out: {', '.join(optional)}")
        members = {name: _nullable(item) if name in optional else item for name, item in properties.items()}
        return {**made, "properties": members, "required": list(properties), "additionalProperties": False}

    def _note(self, path: str, what: str) -> None:
        self.changes.append(Change(self._tool, path, what))


def without_nulls(arguments: JsonObject, schema: JsonObject) -> dict[str, Json]:
    """Arguments from a closed schema as the tool's own wants them: null for an optional member means it is left out."""
    properties = _object(schema.get("properties"))
    required = set(cast("Sequence[str]", schema.get("required") or ()))
    made: dict[str, Json] = {}
    for name, value in arguments.items():
        inner = _object(properties.get(name))
        if value is None and name not in required and not _allows_null(inner):
            continue
        made[name] = without_nulls(value, inner) if isinstance(value, Mapping) and "properties" in inner else value
    return made


def _nullable(schema: Json) -> Json:
    found = _object(schema)
    if _allows_null(found):
        return found
    kind = found.get("type")
    if isinstance(kind, str) and "enum" not in found and "const" not in found:
        return {**found, "type": [kind, "null"]}
    return {"anyOf": [found, {"type": "null"}]}


def _allows_null(schema: JsonObject) -> bool:
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, Sequence) and not isinstance(kind, str) and "null" in kind):
        return True
    return any(_allows_null(branch) for key in ("anyOf", "oneOf") for branch in _objects(schema.get(key)))


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Json) -> list[JsonObject]:
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [item for item in items if isinstance(item, Mapping)]
