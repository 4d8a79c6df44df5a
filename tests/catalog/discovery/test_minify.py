"""Shorter schemas: the same values are allowed, and everything left out is on the list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.catalog.discovery.minify import minify
from toolcrib.catalog.validate import Validator
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import SchemaError

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
TITLED: JsonObject = {"title": "T", "description": "D", "type": "string"}


@pytest.mark.parametrize(
    ("schema", "shorter", "dropped"),
    [
        ({"type": "object", "$schema": "https://json-schema.org/draft-07/schema"}, {"type": "object"}, ["/: $schema"]),
        (
            {"properties": {"title": {"type": "string", "title": "Title"}}},
            {"properties": {"title": {"type": "string"}}},
            ["/title: title"],
        ),
        (
            {"properties": {"at": {"type": "string", "title": "The time in UTC"}}},
            {"properties": {"at": {"type": "string", "title": "The time in UTC"}}},
            [],
        ),
        (
            {"properties": {"at": {"description": "A\n   time", "examples": ["now"]}}},
            {"properties": {"at": {"description": "A time"}}},
            ["/at: examples"],
        ),
        ({"properties": {}, "required": []}, {"properties": {}}, ["/: required"]),
        (
            {"properties": {"repo_name": {"description": "Repo name"}}},
            {"properties": {"repo_name": {}}},
            ["/repo_name: description"],
        ),
        ({"default": {"title": "x", "examples": []}}, {"default": {"title": "x", "examples": []}}, []),
        ({"enum": [{"title": "x"}]}, {"enum": [{"title": "x"}]}, []),
    ],
)  # fmt: skip
def test_what_says_nothing_is_left_out_and_reported(
    schema: JsonObject, shorter: JsonObject, dropped: list[str]
) -> None:
    small = minify(schema)
    assert small.schema == shorter
    assert [str(omission) for omission in small.dropped] == dropped


LEAF = st.sampled_from(
    [{"type": "string"}, {"type": "integer", "minimum": 3}, {"enum": ["a", 1]}, {"type": "boolean"}, {"const": "title"}]
)
EXTRA = st.dictionaries(st.sampled_from(["title", "$comment", "description"]), st.just("title"), max_size=3)


def _object(members: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[dict[str, Json]]:
    named = st.dictionaries(st.sampled_from(["title", "examples", "a", "required"]), members, max_size=3)
    return st.builds(
        lambda properties, required, extra: {
            "type": "object", "properties": properties, "required": sorted(required & properties.keys()), **extra
        },
        named, st.sets(st.sampled_from(["title", "a"])), EXTRA,
    )  # fmt: skip


def _array(each: st.SearchStrategy[dict[str, Json]]) -> st.SearchStrategy[dict[str, Json]]:
    keyword = st.sampled_from(["items", "contains", "not", "additionalProperties"])
    return st.builds(lambda key, inner: {key: inner}, keyword, each) | st.builds(
        lambda key, inner: {key: inner},
        st.sampled_from(["items", "prefixItems", "anyOf", "oneOf"]),
        st.lists(each, min_size=1, max_size=2),
    )


SCHEMA = st.recursive(LEAF, lambda inner: _object(inner) | _array(inner))
DIALECT = st.sampled_from([{}, {"$schema": DRAFT_7}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}])
VALUE = st.recursive(
    st.sampled_from(["a", "title", 1, 5, True, None]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["title", "examples", "a", "required"]), inner, max_size=3)
    ),
)


@pytest.mark.parametrize(
    ("schema", "value", "kept"),
    [
        ({"$schema": DRAFT_7, "type": "array", "items": [{"type": "string"}]}, [1], "$schema"),
        ({"$schema": DRAFT_7, "prefixItems": [False]}, ["a"], "$schema"),
        ({"$schema": DRAFT_7, "$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": TITLED}}, "abc", "$schema"),
        ({"$schema": DRAFT_7, "dependencies": {"a": ["b"]}}, {"a": 1}, "$schema"),
        ({"$schema": DRAFT_4, "minimum": 3, "exclusiveMinimum": True}, 3, "$schema"),
        ({"$id": "https://a.example/s", "$ref": "https://a.example/s#/$defs/a", "$defs": {"a": TITLED}}, 1, "$id"),
        ({"description": "D", "examples": [{"type": "string"}], "$ref": "#/examples/0"}, 1, "examples"),
        ({"properties": {"a": {"required": [], "$ref": "#/$defs"}}, "$defs": {}}, {"a": 1}, "$defs"),
    ],
)  # fmt: skip
def test_what_others_lean_on_is_kept(schema: dict[str, Json], value: Json, kept: str) -> None:
    small = minify(schema)
    assert kept in small.schema
    assert kept not in {omission.keyword for omission in small.dropped if not omission.path}
    assert Validator(small.schema).is_valid(value) == Validator(schema).is_valid(value)


@pytest.mark.parametrize("dialect", [DRAFT_7, "https://json-schema.org/draft/2020-12/schema"])
def test_a_dialect_is_left_out_where_all_of_them_agree(dialect: str) -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": TITLED}}
    small = minify({"$schema": dialect, **schema})
    assert small.schema == {**schema, "$defs": {"a": {"description": "D", "type": "string"}}}
    assert [str(omission) for omission in small.dropped] == ["/: $schema", "/a: title"]


@settings(max_examples=300, deadline=None)
@given(DIALECT, SCHEMA, VALUE)
def test_the_same_values_are_allowed(dialect: dict[str, Json], inner: dict[str, Json], value: Json) -> None:
    schema = {**dialect, **inner}
    try:
        Validator(schema)
    except SchemaError:
        return  # lists in items are of older drafts alone
    assert Validator(minify(schema).schema).is_valid(value) == Validator(schema).is_valid(value)
