"""Schemas: what is refused before anything compiles them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolcrib.values.json import Json
from toolcrib.values.pattern import pattern_weight
from toolcrib.values.refusal import SchemaError
from toolcrib.values.schema import Profile, check_schema


def nested(levels: int, wrap: Callable[[Json], Json]) -> Json:
    inner: Json = {}
    for _ in range(levels):
        inner = wrap(inner)
    return inner


def doubling(levels: int) -> dict[str, Json]:
    """Each definition uses the next one twice: tiny as text, enormous when written out."""
    definitions: dict[str, Json] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}, {"$ref": f"#/$defs/d{level + 1}"}]}
        for level in range(levels)
    }
    return {"$defs": {**definitions, f"d{levels}": {}}}


cyclic: dict[str, Json] = {"type": "object"}
cyclic["properties"] = {"self": cyclic}
shared: Json = {"type": "string"}
for _ in range(40):
    shared = {"properties": {"a": shared, "b": shared}}

HOSTILE: dict[str, tuple[Json, str]] = {
    "not an object": ([], "must be a JSON object"),
    "references that double": ({**doubling(29), "$ref": "#/$defs/d0"}, "subschemas"),
    "references that double for long": ({**doubling(600), "$ref": "#/$defs/d0"}, "subschemas"),
    "doubling under an unknown keyword": (
        {"x": doubling(29)["$defs"], "$ref": "#/x/d0"} | {"$defs": doubling(29)["$defs"]},
        "subschemas",
    ),
    "doubling inside a resource of its own": (
        {"$defs": {"a": {}, "x": {"$id": "urn:x", "$ref": "#/$defs/d0", **doubling(29)}}, "$ref": "urn:x"},
        "subschemas",
    ),
    "an object that contains itself": (cyclic, "deeper than 64"),
    "one object shared at many places": (shared, "KiB"),
    "deep properties": (nested(5_000, lambda inner: {"properties": {"a": inner}}), "deeper than 64"),
    "deep lists": ({"default": nested(100_000, lambda inner: [inner])}, "deeper than 64"),
    "65 levels": (nested(65, lambda inner: {"items": inner}), "deeper than 64"),
    "too many subschemas": ({"properties": {f"p{index}": {} for index in range(2_001)}}, "2,000 subschemas"),
    "a long enum": ({"enum": list(range(10_001))}, "at most 10,000"),
    "an endless enum": ({"enum": list(range(1_000_000))}, "KiB"),
    "a long description": ({"description": "x" * 300_000}, "KiB"),
    "a long pattern": ({"pattern": "a" * 5_000}, "characters"),
    "a pattern that multiplies": ({"pattern": "(((a{1,100}){1,100}){1,100}){1,100}"}, "too expensive"),
    "a pattern of large classes": ({"pattern": r"\p{L}{1000}"}, "too expensive"),
    "many costly patterns": (
        {"properties": {f"p{index}": {"pattern": "[a-z]{900}"} for index in range(100)}},
        "too expensive",
    ),
    "many pattern properties": ({"patternProperties": {f"^a{index}": {} for index in range(201)}}, "patternProperties"),
    "a network reference": ({"$ref": "http://evil.test/schema"}, "not in the document"),
    "a file reference": ({"$ref": "file:///etc/passwd"}, "not in the document"),
    "a relative reference": ({"$ref": "other.json"}, "not in the document"),
    "a reference against a base": ({"$id": "http://evil.test/a", "$ref": "b"}, "not in the document"),
    "a dangling reference": ({"$ref": "#/$defs/nowhere"}, "not in the document"),
    "a dangling anchor": ({"$ref": "#nowhere"}, "not in the document"),
    "a reference that is no text": ({"$ref": 1}, "must be text"),
    "a key that is no text": ({"properties": {0: {}}}, "not a string"),  # type: ignore[dict-item]
    "a property that is no schema": ({"properties": {"a": "string"}}, "must be a schema"),
    "not a number": ({"minimum": float("nan")}, "not a JSON number"),
    "an infinite bound": ({"maximum": float("inf")}, "not a JSON number"),
    "an integer without end": ({"const": 10**5_000}, "digits"),
    "a lone surrogate": ({"description": "\ud800"}, "surrogate"),
    "a set": ({"enum": {1, 2}}, "not JSON"),  # type: ignore[dict-item]
    "bytes": ({"description": b"x"}, "not JSON"),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_schema_is_refused_with_its_reason(case: str) -> None:
    schema, reason = HOSTILE[case]
    with pytest.raises(SchemaError, match=reason):
        check_schema(schema)


HARMLESS: dict[str, Json] = {
    "nothing": {},
    "64 levels": nested(64, lambda inner: {"items": inner}),
    "2,000 subschemas": {"properties": {f"p{index}": {} for index in range(1_999)}},
    "a schema that refers to itself": {"properties": {"children": {"items": {"$ref": "#"}}}},
    "two that refer to each other": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/b"}}}, "b": {"properties": {"a": {"$ref": "#/$defs/a"}}}},
    },
    "a chain of references": {
        "$ref": "#/$defs/d0",
        "$defs": {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(1_500)} | {"d1500": {}},
    },
    "an anchor": {"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}},
    "an old-style anchor": {"$ref": "#here", "definitions": {"a": {"$id": "#here"}}},
    "a dynamic anchor": {"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}},
    "a resource inside the document": {
        "$id": "https://example.test/root.json",
        "$ref": "item.json",
        "$defs": {"a": {"$id": "item.json", "$ref": "#/$defs/b", "$defs": {"b": {"type": "object"}}}},
    },
    "an escaped pointer": {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}},
    "a quoted pointer": {"$ref": "#/%24defs/a%25", "$defs": {"a%": {}}},
    "reference with siblings": {"$ref": "#/$defs/a", "description": "more", "$defs": {"a": {}}},
    "a property named $ref": {"properties": {"$ref": {"type": "string"}}},
    "Draft 7 dependencies": {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
    "usual patterns": {
        "properties": {
            "uuid": {"pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
            "mail": {"pattern": r"^[\w.+-]{1,64}@[\w-]{1,63}(\.[\w-]{1,63}){1,8}$"},
            "date": {"pattern": r"^\d{4}-\d{2}-\d{2}$"},
        }
    },
}


@pytest.mark.parametrize("case", HARMLESS)
def test_a_harmless_schema_passes(case: str) -> None:
    check_schema(HARMLESS[case])


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{}]},
        {"properties": {"a": {"$ref": "#"}}},
        {"type": ["string", "null"]},
        {"properties": {"a": {"type": "null"}}},
        {"patternProperties": {}},
        {"if": {}},
        {"items": {"oneOf": []}},
        {"not": {}},
    ],
)
def test_the_core_profile_refuses_what_simple_providers_do_not_know(schema: Json) -> None:
    check_schema(schema, Profile.FULL)
    with pytest.raises(SchemaError, match="core schema profile"):
        check_schema(schema, Profile.CORE)


def test_the_core_profile_takes_nested_objects_arrays_and_enums() -> None:
    inner: Json = {
        "type": "array",
        "items": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}}},
    }
    check_schema({"type": "object", "properties": {"a": inner}, "required": ["a"], "description": "x"}, Profile.CORE)


@pytest.mark.parametrize(
    ("light", "heavy"),
    [
        ("a{2}", "a{200}"),
        ("(ab){3}", "((ab){3}){3}"),
        (r"\d{9}", r"\p{L}{9}"),
        ("[ab]{5}", r"[\p{L}]{5}"),
        (r"\{9\}", "x{99}"),
    ],
)
def test_a_pattern_that_needs_more_states_weighs_more(light: str, heavy: str) -> None:
    assert pattern_weight(light) < pattern_weight(heavy)
