"""Static limits of a JSON Schema, checked before anything compiles it, so that a hostile schema costs microseconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolcrib.values.json import Json
from toolcrib.values.refusal import SchemaError

MAX_DEPTH = 64
MAX_SUBSCHEMAS = 2_000
MAX_BYTES = 256 * 1024
MAX_ENUM = 10_000
MAX_PATTERN = 4_096


class Profile(StrEnum):
    """How much of JSON Schema tools may use."""

    FULL = "full"
    CORE = "core"


CORE_TYPES = frozenset({"object", "string", "number", "integer", "boolean", "array"})
OUTSIDE_CORE = frozenset(
    {
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "$ref",
        "$dynamicRef",
        "if",
        "then",
        "else",
        "patternProperties",
        "dependentSchemas",
    }
)
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)


def check_schema(schema: Json, profile: Profile = Profile.FULL) -> None:
    """Refuse a schema that is not JSON, too large or too deep, that points outside itself or leaves its profile."""
    if not isinstance(schema, Mapping):
        raise SchemaError(f"a tool's schema must be a JSON object, not {type(schema).__name__}")
    _measure(schema)
    survey = _Survey(schema, profile)
    survey.visit(schema, "$", 0)
    if (count := survey.expanded(schema)) > MAX_SUBSCHEMAS:
        raise SchemaError(
            f"the schema has more than {MAX_SUBSCHEMAS} subschemas once its references are followed ({count:,})"
        )


def _measure(schema: object) -> None:
    """Count bytes and depth without recursion, stopping at the first limit: a bomb is never walked whole."""
    size = 0
    waiting: list[tuple[object, int]] = [(schema, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > 4 * MAX_DEPTH:
            raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels")
        if isinstance(item, str):
            size += len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
        elif isinstance(item, Mapping):
            size += 2
            for key, member in item.items():  # pyright: ignore[reportUnknownVariableType]
                if not isinstance(key, str):
                    raise SchemaError(f"the schema has a key that is not a string: {key!r}")
                size += len(key) + 4
                waiting.append((member, depth + 1))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(item, (list, tuple)):
            size += 2 + len(item)  # pyright: ignore[reportUnknownArgumentType]
            if size <= MAX_BYTES:
                waiting.extend((member, depth + 1) for member in item)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        elif item is None or isinstance(item, (bool, int, float)):
            size += 4
        else:
            raise SchemaError(f"the schema holds a {type(item).__name__}, which is not JSON")
        if size > MAX_BYTES:
            raise SchemaError(f"the schema is larger than {MAX_BYTES // 1024} KiB")


@dataclass(slots=True)
class _Survey:
    """One walk over a schema: local rules by `visit`, the size after following references by `expanded`."""

    root: Mapping[str, Json]
    profile: Profile
    sizes: dict[int, int] = field(default_factory=dict[int, int])

    def visit(self, schema: Json, path: str, depth: int) -> None:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, Mapping):
            raise SchemaError(f"{path} must be a schema (an object or a boolean), not {type(schema).__name__}")
        if depth > MAX_DEPTH:
            raise SchemaError(f"the schema is nested deeper than {MAX_DEPTH} levels at {path[:80]}…")
        self._check_keywords(schema, path)
        if self.profile is Profile.CORE:
            _check_core(schema, path)
        for key, child in children(schema):
            self.visit(child, f"{path}.{key}", depth + 1)

    def _check_keywords(self, schema: Mapping[str, Json], path: str) -> None:
        enum = schema.get("enum")
        if isinstance(enum, (list, tuple)) and len(enum) > MAX_ENUM:
            raise SchemaError(f"{path}.enum has {len(enum):,} values; at most {MAX_ENUM:,} are allowed")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and len(pattern) > MAX_PATTERN:
            raise SchemaError(f"{path}.pattern has {len(pattern):,} characters; at most {MAX_PATTERN:,} are allowed")
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(key)
            if reference is None:
                continue
            if not isinstance(reference, str) or not reference.startswith("#"):
                raise SchemaError(
                    f"{path}.{key} points to {reference!r}; only references inside the document ('#/…') are followed"
                )
            if resolve(self.root, reference) is None:
                raise SchemaError(f"{path}.{key} points to {reference!r}, which is not in the document")

    def expanded(self, schema: Json) -> int:
        """Subschemas when every reference is written out; a recursive reference counts once. Linear, by memory."""
        if not isinstance(schema, Mapping):
            return 1
        known = self.sizes.get(id(schema))
        if known is not None:
            return known
        self.sizes[id(schema)] = 1
        total = 1 + sum(
            self.expanded(child) for key, child in children(schema) if key.split(".")[0] not in ("$defs", "definitions")
        )
        reference = schema.get("$ref") or schema.get("$dynamicRef")
        if isinstance(reference, str):
            total += self.expanded(resolve(self.root, reference))
        self.sizes[id(schema)] = total
        return total


def children(schema: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The subschemas directly inside a schema, each with its place."""
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, Mapping):
            yield from ((f"{key}.{name}", child) for name, child in value.items())
        elif key in _LISTS and isinstance(value, (list, tuple)):
            yield from ((f"{key}[{index}]", child) for index, child in enumerate(value))
        elif key in _SINGLE:
            if isinstance(value, (list, tuple)):
                yield from ((f"{key}[{index}]", child) for index, child in enumerate(value))
            else:
                yield key, value


def resolve(root: Mapping[str, Json], reference: str) -> Json:
    """What a local reference points to; None when there is nothing there."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return _anchored(root, reference[1:])
    node: Json = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%22", '"')
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, (list, tuple)) and key.isdigit() and int(key) < len(node):
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
