"""Shorter schemas: the same values are allowed, and everything left out is on the list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.catalog.discovery.minify import minify
from toolcrib.catalog.validate import Validator
from toolcrib.values.json import Json, JsonObject


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


SCHEMA = st.recursive(
    LEAF, lambda inner: _object(inner) | st.builds(lambda each: {"type": "array", "items": each}, inner)
)
VALUE = st.recursive(
    st.sampled_from(["a", "title", 1, 5, True, None]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["title", "examples", "a", "required"]), inner, max_size=3)
    ),
)


@settings(max_examples=200, deadline=None)
@given(SCHEMA, VALUE)
def test_the_same_values_are_allowed(schema: dict[str, Json], value: Json) -> None:
    assert Validator(minify(schema).schema).is_valid(value) == Validator(schema).is_valid(value)
