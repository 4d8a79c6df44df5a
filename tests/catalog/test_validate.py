"""Definitions and arguments: what is checked, and what a model hears when something does not fit."""

from __future__ import annotations

import json
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcrib.catalog.validate import Validator, arguments_of, check_definition, check_input_schema, refusal_of
from toolcrib.values.json import Json, JsonError, JsonObject, parse_json
from toolcrib.values.refusal import Reason, Refusal, SchemaError
from toolcrib.values.schema import Profile


class TestDefinitions:
    @pytest.mark.parametrize(
        ("schema", "place"),
        [
            ({"type": "objct"}, r"\$\.type"),
            ({"properties": []}, r"\$\.properties"),
            ({"properties": {"a": {"minLength": -1}}}, r"\$\.properties\.a\.minLength"),
            ({"properties": {"a": {"pattern": "("}}}, r"\$\.properties\.a\.pattern"),
            ({"patternProperties": {"(": {}}}, r"\$\.patternProperties"),
            ({"required": ["a", "a"]}, r"\$\.required"),
            ({"required": "a"}, r"\$\.required"),
            ({"$schema": "http://evil.test/schema"}, r"\$schema"),
            ({"$schema": 7}, r"\$schema"),
            ({"properties": {"a": {"$ref": "#/required"}}, "required": ["a"]}, r"\$\.required"),
        ],
    )
    def test_an_invalid_schema_is_refused_at_its_place(self, schema: JsonObject, place: str) -> None:
        with pytest.raises(SchemaError, match=place):
            check_definition(schema)

    @pytest.mark.parametrize("kind", ["array", "string", ["object", "null"], "null"])
    def test_an_input_schema_describes_an_object(self, kind: Json) -> None:
        with pytest.raises(SchemaError, match="type object"):
            check_input_schema({"type": kind})

    @pytest.mark.parametrize(
        "schema",
        [
            {},
            {"type": "object"},
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"type": "string"}}},
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True},
            {"properties": {"a": {"format": "no-such-format"}}, "x-own": {"anything": 1}},
        ],
    )
    def test_any_valid_schema_is_accepted(self, schema: JsonObject) -> None:
        check_input_schema(schema)
        Validator(schema)

    def test_the_core_profile_is_enforced(self) -> None:
        with pytest.raises(SchemaError, match="core"):
            check_definition({"anyOf": [{}]}, Profile.CORE)

    def test_the_dialect_is_honoured(self) -> None:
        seven: JsonObject = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
        assert not Validator(seven).is_valid([1])
        beside: JsonObject = {"$ref": "#/$defs/a", "minimum": 5, "$defs": {"a": {"type": "integer"}}}
        assert not Validator(beside).is_valid(1)


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, 10**300, True),
        ({"type": "number"}, "1", False),
        ({"const": 1}, 1.0, True),
        ({"const": 1}, True, False),
        ({"enum": [0]}, False, False),
        ({"const": 10**30}, 10**30 + 1, False),
        ({"required": ["__proto__"]}, {}, False),
        ({"required": ["__proto__"]}, {"__proto__": 1}, True),
        ({"properties": {"constructor": {"type": "string"}}}, {"constructor": 1}, False),
        ({"maxLength": 1}, "😀", True),
        ({"uniqueItems": True}, [1, 1.0], False),
        ({"uniqueItems": True}, [1, True], True),
        ({"pattern": "^(a+)+$"}, "a" * 5_000 + "!", False),
        ({"format": "date-time"}, "2026-01-31T12:00:00", True),
        ({"format": "date-time"}, "yesterday", False),
        ({"format": "date"}, "2026-02-31", False),
        ({"format": "ipv4"}, "1.2.3", False),
        ({"format": "duration"}, "P", False),
        ({"format": "unknown"}, "anything", True),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, False),
        ({"properties": {"a": {"$ref": "#"}}, "additionalProperties": False}, {"a": {"a": {"b": 1}}}, False),
    ],
)
def test_values_are_held_to_the_schema(schema: JsonObject, value: Json, valid: bool) -> None:
    assert Validator(schema).is_valid(value) is valid


def said(schema: JsonObject, value: Json) -> list[str]:
    validator = Validator(schema)
    assert not validator.is_valid(value)
    return [str(problem) for problem in validator.problems(value)]


FORM: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 5},
        "count": {"type": "integer", "minimum": 1},
        "color": {"enum": ["red", "blue"]},
        "items": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        "limit": {"anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}]},
    },
    "required": ["title", "count"],
    "additionalProperties": False,
}


class TestProblems:
    def test_all_problems_come_at_once_with_place_rule_and_kind(self) -> None:
        value: Json = {
            "titel": "x",
            "count": 0,
            "color": "green",
            "items": [{"name": "a"}, {"name": 3}, {}],
            "limit": 10,
        }
        assert sorted(said(FORM, value)) == [
            "color: expected one of red, blue, got string of 5 characters",
            "count: expected at least 1, got integer 0",
            "items[1].name: expected string, got integer 3",
            "items[2].name: required field is missing",
            "limit: expected at most 9, got integer 10",
            "titel: unknown field; did you mean 'title'?",
            "title: required field is missing",
        ]

    def test_the_refusal_carries_the_problems_as_data(self) -> None:
        refusal = refusal_of("notes.read", Validator(FORM).problems({"title": 1, "count": 1}))
        assert refusal.reason is Reason.VALIDATION_ERROR
        assert "notes.read" in refusal.message
        expected = {"path": "title", "rule": "type", "message": "expected string, got integer 1"}
        assert refusal.details == {"problems": [expected]}

    def test_text_is_never_repeated(self) -> None:
        secret = "hunter2-hunter2"
        wrong: Json = {"title": secret, "count": secret, "color": secret, "items": secret, "limit": secret}
        assert secret not in " ".join(said(FORM, wrong))

    @pytest.mark.parametrize(
        ("schema", "value", "expected"),
        [
            ({"type": "string"}, None, "expected string, got null"),
            ({"type": ["string", "null"]}, True, "expected null or string, got boolean true"),
            ({"type": "object"}, [1], "expected object, got array of 1 items"),
            ({"minLength": 1}, "", "expected at least 1 characters, got empty string"),
            ({"const": "a"}, 1.5, "expected exactly a, got number 1.5"),
            ({"multipleOf": 5}, 7, "expected a multiple of 5, got integer 7"),
            ({"maximum": 1}, 10**40, "expected at most 1, got integer 1e+40"),
            ({"format": "date"}, "x", "expected text in the format date (2026-01-31), got string of 1 characters"),
            ({"uniqueItems": True}, [1, 1], "expected items that all differ, got array of 2 items"),
            ({"prefixItems": [{}], "items": False}, [1, 2], "[1]: expected nothing here, got integer 2"),
            ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 1, "expected exactly one of the allowed forms"),
            ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "a", "expected one of the forms integer, null"),
            ({"not": {"type": "string"}}, "a", "expected a value that satisfies 'not'"),
            ({"if": {"type": "integer"}, "then": {"minimum": 3}}, 1, "expected a value that satisfies 'if'"),
            ({"contains": {"const": 1}}, [2], "expected a value that satisfies 'contains'"),
            ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "expected a value that satisfies 'propertyNames'"),
            ({"patternProperties": {"^n": {"type": "integer"}}}, {"no": "x"}, "no: expected integer"),
            ({"additionalProperties": {"type": "integer"}}, {"a": "x"}, "a: expected integer"),
            ({"allOf": [{"properties": {"k": {}}}], "unevaluatedProperties": False}, {"kk": 1}, "kk: unknown field"),
            ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, "b: required field is missing"),
            ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "x", "expected integer"),
            (
                {
                    "anyOf": [
                        {"properties": {"k": {"const": kind}, "v": {"type": kind}}} for kind in ("integer", "string")
                    ]
                },
                {"k": "string", "v": 1},
                "v: expected string, got integer 1",
            ),
        ],
    )
    def test_each_rule_has_its_words(self, schema: JsonObject, value: Json, expected: str) -> None:
        assert said(schema, value)[0].startswith(expected)

    def test_at_most_twenty_problems_are_told(self) -> None:
        assert len(said({"items": {"type": "string"}}, list(range(1_000)))) == 20

    def test_the_one_wrong_item_of_a_long_array_is_found(self) -> None:
        value: list[Json] = ["a"] * 50_000
        value[40_000] = 1
        assert said({"items": {"type": "string"}}, value) == ["[40000]: expected string, got integer 1"]

    @pytest.mark.parametrize("depth", [5, 30, 500])
    def test_recursion_through_unions_is_explained_or_at_least_refused(self, depth: int) -> None:
        node: JsonObject = {"type": "object", "properties": {"x": {"$ref": "#"}}}
        value: Json = 1
        for _ in range(depth):
            value = {"x": value}
        problems = said({"anyOf": [node, {**node, "title": "other"}]}, value)
        assert len(problems) == 1
        if depth <= 30:
            assert problems[0].startswith(".".join("x" * depth) + ": expected one of the forms")

    def test_a_rule_without_a_walk_is_still_refused(self) -> None:
        schema: JsonObject = {"$defs": {"t": {"$dynamicAnchor": "n", "type": "integer"}}, "$dynamicRef": "#n"}
        assert said(schema, "x") == ["expected a value that satisfies the whole schema, got string of 1 characters"]


LONE = chr(0xD800)


def repr_short(value: object) -> str:
    return ascii(value)[:30]


class Name(StrEnum):
    A = "a"


class TestArguments:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("{}", {}),
            (b'{"a": 1}', {"a": 1}),
            ('\ufeff{"a": "b"}', {"a": "b"}),
            (b'\xef\xbb\xbf{"a": "b"}', {"a": "b"}),
            (' \n{"a": [1, 2.5, null, true]} ', {"a": [1, 2.5, None, True]}),
            ('{"n": 18446744073709551616}', {"n": 18446744073709551616}),
            ('{"n": -9223372036854775809}', {"n": -9223372036854775809}),
            ('{"s": "\\u0000"}', {"s": "\x00"}),
            ('{"s": "\\ud83d\\ude00"}', {"s": "😀"}),
            ('{"a": 1, "a": 2}', {"a": 2}),
            ({"a": (1, 2)}, {"a": [1, 2]}),
            ({"a": MappingProxyType({"b": Name.A})}, {"a": {"b": "a"}}),
            (MappingProxyType({"a": "é"}), {"a": "é"}),
            ({Name.A: 1}, {"a": 1}),
        ],
    )
    def test_json_objects_are_read(self, raw: Any, expected: Json) -> None:
        arguments = arguments_of(raw)
        assert arguments == expected
        assert json.loads(json.dumps(arguments)) == expected

    @pytest.mark.parametrize(
        "raw",
        [
            "",
            " ",
            "[]",
            "1",
            "null",
            '"x"',
            "{",
            '{"a": 1} trailing',
            '{"a": NaN}',
            '{"a": Infinity}',
            '{"a": 1e999}',
            "{'a': 1}",
            '{"a": 01}',
            '{"a": 1,}',
            '{"s": "\\ud800"}',
            f'{{"s": "{LONE}"}}',
            "[" * 100_000,
            '{"a":' * 100_000,
            '{"n": ' + "1" * 5_000 + "}",
            b"\xff{}",
            b'{"a": "\xff"}',
            '{"a": "\x01"}',
            "undefined",
            '{"\\udfff": 1}',
            {"a": float("nan")},
            {"a": float("inf")},
            {1: 2},
            {"a": b"x"},
            {"a": {1: 2}},
            {"a": object()},
            {"a": LONE},
            {LONE: 1},
            {"a": [float("nan")]},
            {"a": 10**400},
            {"a": [10**400]},
            {"a": {1}},
            [("a", 1)],
            None,
        ],
        ids=repr_short,
    )
    def test_everything_else_is_refused_with_what_would_work(self, raw: Any) -> None:
        with pytest.raises(Refusal, match="JSON object") as caught:
            arguments_of(raw)
        assert caught.value.reason is Reason.VALIDATION_ERROR

    def test_a_structure_that_contains_itself_is_refused(self) -> None:
        loop: dict[str, Any] = {}
        loop["self"] = loop
        with pytest.raises(Refusal, match="nested"):
            arguments_of(loop)

    def test_flat_arguments_are_not_copied(self) -> None:
        given: dict[str, Json] = {"a": 1, "b": "text", "c": None, "d": 1.5, "e": True}
        assert arguments_of(given) is given


numbers = st.integers() | st.integers(min_value=2**62, max_value=2**70) | st.floats(allow_nan=True, allow_infinity=True)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), values, max_size=5).map(json.dumps) | st.text(max_size=40))
@example('{"a": 1234567890123456789012345678901234567890.5}')
@example('{"a": 0.00000000000000000000000000000000001}')
def test_the_fast_lane_reads_exactly_what_the_strict_parser_reads(text: str) -> None:
    try:
        expected = parse_json(text)
    except JsonError:
        expected = None
    try:
        read: Any = arguments_of(text)
    except Refusal:
        read = None
    assert repr(read) == repr(expected if isinstance(expected, dict) else None)
