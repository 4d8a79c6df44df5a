"""Arguments on the command line reach the tool as the values its contract asks for."""

from __future__ import annotations

import click
import pytest

from toolcrib.cli.parameters import parameter_rows, read_arguments
from toolcrib.values.json import Json

SCHEMA: dict[str, Json] = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "text": {"type": "string", "description": "Words."},
        "number": {"type": "integer"},
        "flag": {"type": "boolean", "default": False},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "list": {"type": "array", "items": {"type": "string"}},
        "choice": {"enum": ["1", "2"]},
        "any": {},
    },
}


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("text=5", "5"),
        ("text=", ""),
        ("text=a=b", "a=b"),
        ('text={"a": 1}', '{"a": 1}'),
        ("number=5", 5),
        ("number=five", "five"),
        ("flag=true", True),
        ("maybe=null", None),
        ("maybe=Monday", "Monday"),
        ('list=["a", "b"]', ["a", "b"]),
        ("choice=1", "1"),
        ("any=1.5", 1.5),
        ("any=word", "word"),
        ("unknown=[1]", [1]),
        ("any=NaN", "NaN"),
    ],
)
def test_a_value_is_text_where_the_parameter_is_text_and_json_where_it_is_not(pair: str, value: Json) -> None:
    assert read_arguments(None, [pair], SCHEMA) == {pair.partition("=")[0]: value}


def test_pairs_win_over_the_json_object() -> None:
    assert read_arguments('{"text": "a", "number": 1}', ["text=b"], SCHEMA) == {"text": "b", "number": 1}


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"a": NaN}', "{} {}"])
def test_arguments_that_are_no_json_object_are_wrong_usage(text: str) -> None:
    with pytest.raises(click.UsageError):
        read_arguments(text, [], SCHEMA)


@pytest.mark.parametrize("pair", ["Monday", "=x", ""])
def test_a_pair_without_key_or_value_is_wrong_usage(pair: str) -> None:
    with pytest.raises(click.UsageError, match="KEY=VALUE"):
        read_arguments(None, [pair], SCHEMA)


def test_every_parameter_is_listed_with_its_kind_and_need() -> None:
    assert parameter_rows(SCHEMA) == [
        ("text", "string", "required", "Words."),
        ("number", "integer", "optional", ""),
        ("flag", "boolean", "default false", ""),
        ("maybe", "string or null", "optional", ""),
        ("list", "array of string", "optional", ""),
        ("choice", "1|2", "optional", ""),
        ("any", "any", "optional", ""),
    ]
