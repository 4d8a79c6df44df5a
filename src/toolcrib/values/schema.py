"""Static limits of a JSON Schema, checked before anything compiles it, so that a hostile schema costs milliseconds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast
from urllib.parse import unquote, urljoin

from toolcrib.values.json import MAX_INTEGER_DIGITS, Json
from toolcrib.values.noun import frozen
from toolcrib.values.pattern import pattern_weight
from toolcrib.values.refusal import SchemaError

MAX_DEPTH = 64
MAX_SUBSCHEMAS = 2_000
MAX_BYTES = 256 * 1024
MAX_ENUM = 10_000
MAX_PATTERN = 4_096
MAX_PATTERN_WEIGHT = 50_000
MAX_PATTERN_PROPERTIES = 200
_LARGEST = 10**MAX_INTEGER_DIGITS
_SMALL = 10**9


class Profile(StrEnum):
    """How much of JSON Schema tools may use."""

    FULL = "full"
    CORE = "core"


CORE_TYPES = frozenset({"object", "string", "number", "integer", "boolean", "array"})
OUTSIDE_CORE = frozenset(
    {"oneOf", "anyOf", "allOf", "not", "$ref", "$dynamicRef", "$recursiveRef", "if", "then", "else"}
    | {"patternProperties", "dependentSchemas"}
)
SCALAR_TYPES = frozenset({"string", "number", "integer", "boolean", "null"})
_DEFINITIONS = ("$defs", "definitions")
# Where subschemas are: in a mapping of names, in a list, or (items: sometimes in a list) alone.
MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SINGLE = frozenset(
    {"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
UNORDERED = frozenset({"enum", "required", "type"})
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def check_schema(schema: Json, profile: Profile = Profile.FULL) -> None:
    """Refuse a schema that is not JSON, too large or too deep, that points outside itself or leaves its profile."""
    if not isinstance(schema, Mapping):
        raise SchemaError(f"a tool's schema must be a JSON object, not {type(schema).__name__}")
    _measure(schema)
    survey = _Survey(profile)
    survey.visit(schema, "$", 0, "")
    survey.follow_references()
    if survey.expanded_size(schema) > MAX_SUBSCHEMAS:
        raise SchemaError(f"the schema has more than {MAX_SUBSCHEMAS:,} subschemas once its references are followed")


def children(schema: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The subschemas directly inside a schema, each with its place."""
    for key, value in schema.items():
        if key in MAPS and isinstance(value, Mapping):
            for name, child in value.items():
                if key != "dependencies" or isinstance(child, (Mapping, bool)):
                    yield f"{key}.{name}", child
        elif key in LISTS and isinstance(value, (list, tuple)):
            yield from ((f"{key}[{index}]", child) for index, child in enumerate(value))
        elif key in SINGLE:
            if isinstance(value, (list, tuple)):
                yield from ((f"{key}[{index}]", child) for index, child in enumerate(value))
            else:
                yield key, value


def holds_scalars(schema: Mapping[str, Json]) -> bool:
    """Whether an object that fits has no arrays and objects in it, as far as its own keywords say so."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or schema.get("additionalProperties") is not False:
        return False
    if "patternProperties" in schema:
        return False
    types = (each.get("type") if isinstance(each, Mapping) else None for each in properties.values())
    return all(isinstance(kind, str) and kind in SCALAR_TYPES for kind in types)


def resolve(root: Mapping[str, Json], reference: str) -> Json:
    """What a reference into the same document points to; None when there is nothing there."""
    fragment = unquote(reference.partition("#")[2])
    if not fragment:
        return root
    return _pointed(root, fragment) if fragment.startswith("/") else _anchored(root, fragment)


def _measure(schema: object) -> None:
    """Count bytes and depth without recursion, stopping at the first limit: a bomb is never walked whole."""
    size = 0
    waiting: list[tuple[object, int]] = [(schema, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > 4 * MAX_DEPTH:
            raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels")
        members = _members(item)
        size += 2 + len(members)
        if size > MAX_BYTES:
            raise SchemaError(f"the schema is larger than {MAX_BYTES // 1024} KiB")
        for member in members:
            kind = type(member)
            if kind is int and -_SMALL < member < _SMALL:  # type: ignore[operator]
                size += 4
            elif kind is dict or kind is list or isinstance(member, (Mapping, list, tuple)):
                waiting.append((member, depth + 1))  # pyright: ignore[reportUnknownArgumentType]
            else:
                size += _scalar_size(member)
    if size > MAX_BYTES:
        raise SchemaError(f"the schema is larger than {MAX_BYTES // 1024} KiB")


def _members(item: object) -> Sequence[object]:
    """Everything directly inside a container; the keys of an object, too."""
    if isinstance(item, Mapping):
        keys: list[object] = list(item)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        if wrong := [key for key in keys if not isinstance(key, str)]:
            raise SchemaError(f"the schema has a key that is not a string: {wrong[0]!r}")
        return [*keys, *item.values()]  # pyright: ignore[reportUnknownVariableType]
    return cast("Sequence[object]", item)


def _scalar_size(item: object) -> int:
    if isinstance(item, str):
        try:
            return 2 + (len(item) if item.isascii() else len(item.encode()))
        except UnicodeEncodeError:
            raise SchemaError("the schema holds text with a lone surrogate, which is not JSON") from None
    if isinstance(item, float) and not math.isfinite(item):
        raise SchemaError(f"the schema holds {item}, which is not a JSON number")
    if isinstance(item, int) and not -_LARGEST < item < _LARGEST:
        raise SchemaError(f"the schema holds an integer of more than {MAX_INTEGER_DIGITS} digits")
    if item is None or isinstance(item, (bool, int, float)):
        return 4
    raise SchemaError(f"the schema holds a {type(item).__name__}, which is not JSON")


@frozen
class _Reference:
    schema: Mapping[str, Json]
    keyword: str
    text: str
    base: str
    path: str


@dataclass(slots=True)
class _Survey:
    """One walk over a schema: the rules of each place, then what its references point to, then the expanded size."""

    profile: Profile
    count: int = 0
    weight: int = 0
    patterns: int = 0
    seen: set[int] = field(default_factory=set[int])
    resources: dict[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    anchors: dict[tuple[str, str], Mapping[str, Json]] = field(
        default_factory=dict[tuple[str, str], Mapping[str, Json]]
    )
    references: list[_Reference] = field(default_factory=list[_Reference])
    targets: dict[int, list[Json]] = field(default_factory=dict[int, list[Json]])

    def visit(self, schema: Json, path: str, depth: int, base: str) -> None:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, Mapping):
            raise SchemaError(f"{path} must be a schema (an object or a boolean), not {type(schema).__name__}")
        if depth > MAX_DEPTH:
            raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels at {path[:80]}…")
        self.count += 1
        if self.count > MAX_SUBSCHEMAS:
            raise SchemaError(f"the schema has more than {MAX_SUBSCHEMAS:,} subschemas")
        self.seen.add(id(schema))
        base = self._named(schema, base, depth)
        self._check_keywords(schema, path)
        if self.profile is Profile.CORE:
            _check_core(schema, path)
        for keyword in _REFERENCES:
            if (text := schema.get(keyword)) is not None:
                if not isinstance(text, str):
                    raise SchemaError(f"{path}.{keyword} must be text, not {type(text).__name__}")
                self.references.append(_Reference(schema, keyword, text, base, path))
        for key, child in children(schema):
            self.visit(child, f"{path}.{key}", depth + 1, base)

    def _named(self, schema: Mapping[str, Json], base: str, depth: int) -> str:
        """Note the names by which references can find this place; return the base of those inside it."""
        if depth == 0:
            self.resources.setdefault(base, schema)
        name = schema.get("$id")
        if isinstance(name, str) and name:
            address, _, anchor = name.partition("#")
            if address:
                base = urljoin(base, address)
                self.resources.setdefault(base, schema)
            if anchor:
                self.anchors.setdefault((base, anchor), schema)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(key), str):
                self.anchors.setdefault((base, anchor), schema)
        return base

    def _check_keywords(self, schema: Mapping[str, Json], path: str) -> None:
        enum = schema.get("enum")
        if isinstance(enum, (list, tuple)) and len(enum) > MAX_ENUM:
            raise SchemaError(f"{path}.enum has {len(enum):,} values; at most {MAX_ENUM:,} are allowed")
        if isinstance(pattern := schema.get("pattern"), str):
            self._weigh(pattern, f"{path}.pattern")
        if isinstance(patterned := schema.get("patternProperties"), Mapping):
            self.patterns += len(patterned)
            if self.patterns > MAX_PATTERN_PROPERTIES:
                raise SchemaError(f"the schema has more than {MAX_PATTERN_PROPERTIES} patternProperties (at {path})")
            for pattern in patterned:
                self._weigh(pattern, f"{path}.patternProperties")

    def _weigh(self, pattern: str, path: str) -> None:
        if len(pattern) > MAX_PATTERN:
            raise SchemaError(f"{path} has {len(pattern):,} characters; at most {MAX_PATTERN:,} are allowed")
        self.weight += 20 + pattern_weight(pattern)
        if self.weight > MAX_PATTERN_WEIGHT:
            raise SchemaError(f"the patterns of the schema are too expensive (at {path}); repeat less often")

    def follow_references(self) -> None:
        """Find the target of each reference; a target outside the usual places is a schema, too, and is visited."""
        for reference in self.references:  # grows while targets are visited
            found = self._found(reference)
            if found is None:
                raise SchemaError(
                    f"{reference.path}.{reference.keyword} points to {reference.text[:100]!r}, which is not in the "
                    "document; only references inside the document ('#/…') are followed"
                )
            self.targets.setdefault(id(reference.schema), []).extend(found)
            for target in found:
                if isinstance(target, Mapping) and id(target) not in self.seen:
                    self.visit(target, reference.text[:100], 1, reference.base)

    def _found(self, reference: _Reference) -> list[Json] | None:
        address, _, fragment = reference.text.partition("#")
        uri = urljoin(reference.base, address) if address else reference.base
        resource = self.resources.get(uri)
        if resource is None:
            return None
        fragment = unquote(fragment)
        if reference.keyword == "$dynamicRef" and not fragment.startswith("/"):
            return [schema for (_, name), schema in self.anchors.items() if name == fragment] or None
        if not fragment:
            return [resource]
        target = _pointed(resource, fragment) if fragment.startswith("/") else self.anchors.get((uri, fragment))
        return None if target is None else [target]

    def expanded_size(self, root: Mapping[str, Json]) -> int:
        """Subschemas when every reference is written out; a recursive reference counts once. Linear, by memory."""
        sizes: dict[int, int] = {}
        waiting: list[tuple[Json, list[Json] | None]] = [(root, None)]
        while waiting:
            schema, parts = waiting.pop()
            if not isinstance(schema, Mapping):
                continue
            if parts is not None:
                sizes[id(schema)] = 1 + sum(sizes.get(id(part), 1) for part in parts)
            elif id(schema) not in sizes:
                sizes[id(schema)] = 1
                parts = [part for key, part in children(schema) if not key.startswith(_DEFINITIONS)]
                parts += self.targets.get(id(schema), [])
                waiting.append((schema, parts))
                waiting.extend((part, None) for part in parts)
        return sizes[id(root)]


def _pointed(node: Json, pointer: str) -> Json:
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, (list, tuple)) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _anchored(root: Mapping[str, Json], anchor: str) -> Json:
    waiting: list[Json] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            if anchor in (node.get("$anchor"), node.get("$dynamicAnchor"), str(node.get("$id", "")).removeprefix("#")):
                return node
            waiting.extend(child for _, child in children(node))
    return None


def _check_core(schema: Mapping[str, Json], path: str) -> None:
    if outside := sorted(OUTSIDE_CORE & schema.keys()):
        raise SchemaError(f"{path} uses {', '.join(outside)}, which the core schema profile does not allow")
    kinds = schema.get("type")
    if kinds is not None and (not isinstance(kinds, str) or kinds not in CORE_TYPES):
        raise SchemaError(
            f"{path}.type is {kinds!r}; the core schema profile allows one of {', '.join(sorted(CORE_TYPES))}"
        )
