"""Types as JSON Schema: what each Python type becomes, and what is refused with advice."""

from __future__ import annotations

import datetime as dt
import functools
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    Union,
)
from uuid import UUID

import annotated_types as at
import pydantic
import pydantic.dataclasses
import pytest
from typing_extensions import TypeAliasType

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.registry import Registry
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.result import ToolResult, ToolReturn

T = TypeVar("T")
UserId = NewType("UserId", int)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Word(StrEnum):
    A = "a"


@dataclass
class Point:
    """A place.

    Attributes:
        x: how far right
    """

    x: float
    y: float = 0.0
    label: str | None = field(default=None, metadata={"description": "what it is called"})
    hidden: int = field(default=1, init=False)


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


class Entry(TypedDict):
    """An entry.

    Args:
        key: its name
    """

    key: str
    size: NotRequired[int]


class Loose(TypedDict, total=False):
    a: int


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Model(pydantic.BaseModel):
    name: str
    tags: list[str] = []


@pydantic.dataclasses.dataclass
class Inherited:
    a: int


class Opaque:
    pass


Nested = TypeAliasType("Nested", "list[Nested] | int")

INTEGER = {"type": "integer"}
STRING = {"type": "string"}
TREE = {
    "type": "object",
    "properties": {"name": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "default": []}},
    "additionalProperties": False,
    "required": ["name"],
}
POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "number", "description": "how far right"},
        "y": {"type": "number", "default": 0.0},
        "label": {"anyOf": [STRING, {"type": "null"}], "description": "what it is called", "default": None},
    },
    "additionalProperties": False,
    "required": ["x"],
}

SHAPES: list[tuple[Any, Json]] = [
    (str, STRING),
    (int, INTEGER),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (object, {}),
    (list, {"type": "array"}),
    (list[int], {"type": "array", "items": INTEGER}),
    (Sequence[str], {"type": "array", "items": STRING}),
    (Iterable[str], {"type": "array", "items": STRING}),
    (list["int"], {"type": "array", "items": INTEGER}),
    (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}),
    (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": INTEGER}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "items": False, "minItems": 2, "maxItems": 2},
    ),
    (dict, {"type": "object"}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
    (
        dict[Color, int],
        {
            "type": "object",
            "additionalProperties": INTEGER,
            "propertyNames": {"enum": ["red", "blue"], "type": "string"},
        },
    ),
    (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),  # noqa: UP045
    (int | None, {"anyOf": [INTEGER, {"type": "null"}]}),
    (Union[int, str, None], {"anyOf": [INTEGER, STRING, {"type": "null"}]}),  # noqa: UP007
    (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
    (Literal["a", 1, None, True], {"enum": ["a", 1, None, True]}),
    (Literal[Color.RED], {"enum": ["red"], "type": "string"}),
    (Color, {"enum": ["red", "blue"], "type": "string"}),
    (Level, {"enum": [1, 2], "type": "integer"}),
    (Word, {"enum": ["a"], "type": "string"}),
    (UserId, INTEGER),
    (dt.datetime, {"type": "string", "format": "date-time"}),
    (dt.date, {"type": "string", "format": "date"}),
    (dt.time, {"type": "string", "format": "time"}),
    (dt.timedelta, {"type": "string", "format": "duration"}),
    (UUID, {"type": "string", "format": "uuid"}),
    (Path, {"type": "string", "format": "path"}),
    (bytes, {"type": "string", "contentEncoding": "base64"}),
    (Point, POINT),
    (
        Box[int],
        {"type": "object", "properties": {"content": INTEGER}, "additionalProperties": False, "required": ["content"]},
    ),
    (
        Entry,
        {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "its name"}, "size": INTEGER},
            "additionalProperties": False,
            "required": ["key"],
        },
    ),
    (Loose, {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": False}),
    (
        Pair,
        {
            "type": "object",
            "properties": {"left": INTEGER, "right": {"type": "string", "default": "r"}},
            "additionalProperties": False,
            "required": ["left"],
        },
    ),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
    (Annotated[int, at.Ge(1), at.Lt(9)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
    (Annotated[int, at.Interval(gt=0, le=5)], {"type": "integer", "exclusiveMinimum": 0, "maximum": 5}),
    (Annotated[str, at.Len(1, 3)], {"type": "string", "minLength": 1, "maxLength": 3}),
    (Annotated[list[int], at.MinLen(2)], {"type": "array", "items": INTEGER, "minItems": 2}),
    (Annotated[dict[str, int], at.MaxLen(2)], {"type": "object", "additionalProperties": INTEGER, "maxProperties": 2}),
    (Annotated[float, at.MultipleOf(0.5)], {"type": "number", "multipleOf": 0.5}),
    (Annotated[int | None, at.Ge(0)], {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}),
    (
        Annotated[str, pydantic.Field(pattern="^a", title="A", examples=["ab"])],
        {"type": "string", "pattern": "^a", "title": "A", "examples": ["ab"]},
    ),
    (
        Annotated[int, pydantic.Field(ge=1, description="n", json_schema_extra={"x": 1})],
        {"type": "integer", "minimum": 1, "description": "n", "x": 1},
    ),
    (Annotated[int, object()], INTEGER),
    (Annotated[int, []], INTEGER),
    (list[Annotated[int, {"a": 1}, "n"]], {"type": "array", "items": {"type": "integer", "description": "n"}}),
    (
        Inherited,
        {"type": "object", "properties": {"a": {**INTEGER, "title": "A"}}, "required": ["a"], "title": "Inherited"},
    ),
    (pydantic.PositiveInt, {"type": "integer", "exclusiveMinimum": 0}),
]


def schema_of(hint: object) -> dict[str, Any]:
    def example(value: Any) -> None: ...

    example.__annotations__["value"] = hint
    tool = tool_of(example)
    Registry().add([tool])
    return dict(tool.spec.input_schema)


@pytest.mark.parametrize(("hint", "expected"), SHAPES, ids=[str(hint) for hint, _ in SHAPES])
def test_a_type_becomes_its_schema(hint: object, expected: Json) -> None:
    assert schema_of(hint) == {
        "type": "object",
        "properties": {"value": expected},
        "required": ["value"],
        "additionalProperties": False,
    }


def test_a_type_that_contains_itself_becomes_a_definition() -> None:
    schema = schema_of(Tree)
    assert schema["properties"] == {"value": {"$ref": "#/$defs/Tree"}}
    assert schema["$defs"] == {"Tree": TREE}


def test_an_alias_that_contains_itself_becomes_a_definition() -> None:
    def example(value: Nested) -> None: ...

    schema = tool_of(example).spec.input_schema
    assert schema["$defs"] == {"Nested": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Nested"}}, INTEGER]}}


def test_a_pydantic_model_brings_its_own_schema() -> None:
    schema = schema_of(list[Model])
    assert schema["properties"]["value"]["items"]["properties"]["name"]["type"] == "string"


def test_two_models_of_one_name_stay_two_definitions() -> None:
    class Inner(pydantic.BaseModel):
        a: int

    first = pydantic.create_model("First", inner=(Inner, ...), again=(Inner, ...))

    class Other(pydantic.BaseModel):
        b: str

    Other.__name__ = Other.__qualname__ = "Inner"
    second = pydantic.create_model("Second", inner=(pydantic.create_model("Inner", b=(str, ...)), ...))

    def example(one: Any, two: Any) -> None: ...

    example.__annotations__ = {"one": first, "two": second}
    schema: Any = tool_of(example).spec.input_schema
    assert len(schema["$defs"]) == 2
    Registry().add([example])


@pytest.mark.parametrize(
    "hint",
    [
        Opaque,
        Callable[[], int],
        re.Pattern,
        dict[int, str],
        complex,
        type,
        list[Opaque],
        Opaque | None,
        dict[str, Opaque],
    ],
)
def test_a_type_without_json_form_is_refused_with_function_parameter_type_and_advice(hint: object) -> None:
    with pytest.raises(RegistrationError, match=r"example: parameter 'value': .*(use str|cannot be a key)"):
        schema_of(hint)


def test_an_enum_of_objects_is_refused() -> None:
    class Odd(Enum):
        A = ("x", 1)

    with pytest.raises(RegistrationError, match=r"Odd\.A has a tuple"):
        schema_of(Odd)


def test_a_constraint_that_cannot_apply_is_refused() -> None:
    with pytest.raises(RegistrationError, match="ge=1 does not apply to string"):
        schema_of(Annotated[str, at.Ge(1)])


def test_a_hint_that_cannot_be_resolved_is_refused() -> None:
    def example(value: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(RegistrationError, match=r"example: parameter 'value': the type 'Missing' cannot be resolved"):
        tool_of(example)


def test_a_type_of_the_enclosing_function_is_found_when_the_function_uses_it() -> None:
    class Local(Enum):
        A = 1

    def example(value: Local) -> str:
        return Local(value).name

    assert tool_of(example).spec.input_schema["properties"] == {"value": {"enum": [1], "type": "integer"}}


class TestParameters:
    def test_defaults_are_written_down_and_make_a_parameter_optional(self) -> None:
        def example(
            a: int,
            b: int = 2,
            *,
            c: Color = Color.RED,
            d: str | None = None,
            e: tuple[int, ...] = (1,),
            f: object = Opaque(),
        ) -> None: ...

        schema: Any = tool_of(example).spec.input_schema
        assert schema["required"] == ["a"]
        assert {name: part.get("default", "none") for name, part in schema["properties"].items()} == {
            "a": "none", "b": 2, "c": "red", "d": None, "e": [1], "f": "none",
        }  # fmt: skip

    def test_none_as_a_default_makes_the_type_nullable(self) -> None:
        def example(a: str = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

        assert tool_of(example).spec.input_schema["properties"] == {
            "a": {"anyOf": [STRING, {"type": "null"}], "default": None}
        }

    def test_a_parameter_without_annotation_takes_any_json(self) -> None:
        def example(a, b=1): ...  # type: ignore[no-untyped-def]

        assert tool_of(example).spec.input_schema["properties"] == {"a": {}, "b": {"default": 1}}

    def test_a_field_as_default_is_read_like_metadata(self) -> None:
        def example(
            a: int = pydantic.Field(3, ge=1, description="n"), b: str = pydantic.Field(..., alias="from")
        ) -> None: ...

        schema: Any = tool_of(example).spec.input_schema
        assert schema["properties"]["a"] == {"type": "integer", "minimum": 1, "description": "n", "default": 3}
        assert schema["required"] == ["from"]

    @pytest.mark.parametrize(
        "hint",
        [
            ToolContext,
            "ToolContext",
            "ToolContext | None",
            "Optional[ToolContext]",
            "t.ToolContext",
            ToolContext | None,
        ],
    )
    def test_the_context_is_injected_and_not_in_the_schema(self, hint: object) -> None:
        def example(a: int, context: Any) -> None: ...

        example.__annotations__["context"] = hint
        assert tool_of(example).spec.input_schema["properties"] == {"a": INTEGER}

    def test_descriptions_come_from_the_docstring_unless_the_annotation_has_one(self) -> None:
        def example(a: int, b: Annotated[int, "from the annotation"]) -> None:
            """Do it.

            Args:
                a: from the docstring
                b: not this one
            """

        properties: Any = tool_of(example).spec.input_schema["properties"]
        assert properties["a"]["description"] == "from the docstring"
        assert properties["b"]["description"] == "from the annotation"

    @pytest.mark.parametrize(
        "function",
        [lambda *args: None, lambda a, /: None, lambda **kwargs: None, functools.partial(lambda *args: None)],
    )
    def test_parameters_that_cannot_be_named_are_refused(self, function: Callable[..., object]) -> None:
        with pytest.raises(RegistrationError, match="write"):
            tool_of(function)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (int, INTEGER),
        ("int", INTEGER),
        (bool, {"type": "boolean"}),
        (list[str], {"type": "array", "items": STRING}),
        (int | None, {"anyOf": [INTEGER, {"type": "null"}]}),
        (Point, POINT),
        (Tree, {"$ref": "#/$defs/Tree", "$defs": {"Tree": TREE}}),
        (str, None),
        ("str", None),
        (None, None),
        (Any, None),
        (str | None, None),
        (str | int, None),
        (ToolReturn, None),
        (ToolResult, None),
        (Opaque, None),
        (Annotated[str, "text"], None),
    ],
)
def test_a_precise_return_type_is_a_promise(hint: object, expected: Json) -> None:
    def example() -> Any: ...

    example.__annotations__["return"] = hint
    assert tool_of(example).spec.output_schema == expected


def test_a_returned_model_is_described_as_it_is_written_out() -> None:
    class Out(pydantic.BaseModel):
        size: int = pydantic.Field(default=1, serialization_alias="bytes")

    def example() -> Any: ...

    example.__annotations__["return"] = Out
    output: Any = tool_of(example).spec.output_schema
    assert list(output["properties"]) == ["bytes"]


def test_deriving_never_imports_pydantic_by_itself() -> None:
    program = (
        "import sys, dataclasses, typing, enum, datetime\n"
        "from toolcrib.catalog.decorate import tool_of\n"
        "from toolcrib.catalog.registry import Registry\n"
        "@dataclasses.dataclass\nclass P:\n    x: int\n    when: datetime.datetime | None = None\n"
        "def f(a: int, p: P, l: typing.Literal['a'] = 'a') -> P: ...\n"
        "Registry().add([f])\n"
        "print('pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_decimals_are_numbers_or_exact_text() -> None:
    kinds: Any = schema_of(Decimal)["properties"]["value"]["anyOf"]
    assert [kind["type"] for kind in kinds] == ["number", "string"]


Branches = int | list["Branches"]


def test_a_type_that_names_itself_is_written_once() -> None:
    def grow(tree: Branches) -> Branches:
        return tree

    spec = tool_of(grow).spec
    assert spec.input_schema["properties"] == {"tree": {"$ref": "#/$defs/Type"}}
    leaves = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Type"}}]}
    assert spec.input_schema["$defs"] == {"Type": leaves}
