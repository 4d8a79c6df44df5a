"""Arguments on their way in: each reaches the function as the type it asked for, or is refused with its place."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict
from uuid import UUID

import annotated_types as at
import pydantic
import pytest

from toolcrib.catalog.convert import json_of
from toolcrib.catalog.decorate import tool_of
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal

Call = Callable[..., Any]

UserId = NewType("UserId", int)


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass
class Stop:
    at: dt.date
    color: Color = Color.RED


@dataclass
class Trip:
    stops: list[Stop]
    next: Trip | None = None


@dataclass
class Odd:
    n: int

    def __post_init__(self) -> None:
        if self.n % 2 == 0:
            raise ValueError("n must be odd")


class Pair(NamedTuple):
    left: int
    right: dt.date


class Row(TypedDict, total=False):
    when: dt.date
    size: int


class Model(pydantic.BaseModel):
    n: int
    when: dt.date | None = None

    @pydantic.field_validator("n")
    @classmethod
    def small(cls, value: int) -> int:
        if value > 9:
            raise ValueError("n must be small")
        return value


DAY = dt.date(2026, 1, 31)

ARRIVALS: list[tuple[Any, Json, object]] = [
    (int, 1, 1),
    (int, 1.0, 1),
    (float, 1, 1.0),
    (float, 1.5, 1.5),
    (list[int], [1, 2.0], [1, 2]),
    (list[float], [1, 2.5], [1.0, 2.5]),
    (dict[str, int], {"a": 1.0}, {"a": 1}),
    (int | None, None, None),
    (int | None, 2.0, 2),
    (int | str, "2", "2"),
    (int | float, 2, 2),
    (int | float, 2.5, 2.5),
    (UserId, 3, 3),
    (bool, True, True),
    (Any, {"a": [1, None]}, {"a": [1, None]}),
    (set[int], [1, 2], {1, 2}),
    (frozenset[Color], ["red"], frozenset({Color.RED})),
    (tuple[int, ...], [1, 2], (1, 2)),
    (tuple[int, dt.date], [1, "2026-01-31"], (1, DAY)),
    (dict[Color, dt.date], {"red": "2026-01-31"}, {Color.RED: DAY}),
    (Color, "red", Color.RED),
    (Level, 1.0, Level.LOW),
    (Literal["a", 1], 1.0, 1),
    (Literal[Color.RED], "red", Color.RED),
    (dt.date, "2026-01-31", DAY),
    (dt.datetime, "2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
    (dt.datetime, "2026-01-31T12:00:00", dt.datetime(2026, 1, 31, 12)),  # noqa: DTZ001
    (dt.datetime, "2026-01-31t12:00:00z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
    (dt.time, "12:30", dt.time(12, 30)),
    (dt.timedelta, "P1DT2H", dt.timedelta(days=1, hours=2)),
    (dt.timedelta, "PT1.5S", dt.timedelta(seconds=1.5)),
    (Decimal, "1.10", Decimal("1.10")),
    (Decimal, 2, Decimal(2)),
    (UUID, "123e4567-e89b-12d3-a456-426614174000", UUID("123e4567-e89b-12d3-a456-426614174000")),
    (Path, "a/b", Path("a/b")),
    (bytes, "aGk=", b"hi"),
    (Stop, {"at": "2026-01-31"}, Stop(DAY)),
    (Trip, {"stops": [{"at": "2026-01-31"}], "next": {"stops": []}}, Trip([Stop(DAY)], Trip([]))),
    (Pair, {"left": 1, "right": "2026-01-31"}, Pair(1, DAY)),
    (Row, {"when": "2026-01-31"}, {"when": DAY}),
    (Row, {"size": 1.0}, {"size": 1}),
    (Model, {"n": 1, "when": "2026-01-31"}, Model(n=1, when=DAY)),
    (list[Model], [{"n": 1}], [Model(n=1)]),
    (Model | None, None, None),
    (dt.date | int, 5, 5),
    (dt.date | int, "2026-01-31", DAY),
    (Stop | Odd, {"n": 3}, Odd(3)),
    (Stop | Odd, {"at": "2026-01-31"}, Stop(DAY)),
    (Color | str, "red", Color.RED),
    (Color | str, "other", "other"),
    (Annotated[int, pydantic.AfterValidator(lambda value: value + 1)], 1, 2),
]


def taking(hint: object) -> Any:
    def example(value: Any) -> object:
        return value

    example.__annotations__ = {"value": hint}
    return example


@pytest.mark.parametrize(("hint", "sent", "received"), ARRIVALS, ids=[f"{hint} {sent}" for hint, sent, _ in ARRIVALS])
def test_a_value_arrives_as_the_type_that_was_asked_for(hint: object, sent: Json, received: object, call: Call) -> None:
    value = call(taking(hint), value=sent)
    assert value == received
    assert type(value) is type(received)


REFUSED: list[tuple[Any, Json, str, str]] = [
    (dt.date, "2026-02-31", "value", "format"),
    (dt.datetime, "2026-02-31T12:00:00Z", "value", "date-time"),
    (dt.timedelta, "P1Y", "value", "duration"),
    (bytes, "a", "value", "base64"),
    (Odd, {"n": 2}, "value", "value"),
    (list[Odd], [{"n": 1}, {"n": 2}], "value[1]", "value"),
    (Trip, {"stops": [], "next": {"stops": [{"at": "x"}]}}, "value.next.stops[0].at", "format"),
    (Model, {"n": 10}, "value.n", "value_error"),
    (dict[str, Model], {"a": {"n": 10}}, "value.a.n", "value_error"),
    (Annotated[str, at.Predicate(str.islower)], "ABC", "value", "predicate"),
    (set[Odd], [{"n": 2}], "value[0]", "value"),
    (tuple[int, Odd], [1, {"n": 2}], "value[1]", "value"),
    (Stop | Odd, {"n": 2}, "value", "value"),
]


@pytest.mark.parametrize(("hint", "sent", "path", "rule"), REFUSED)
def test_a_value_that_cannot_arrive_is_refused_with_place_and_rule(
    hint: object, sent: Json, path: str, rule: str, call: Call
) -> None:
    with pytest.raises(Refusal) as caught:
        call(taking(hint), value=sent)
    assert caught.value.reason is Reason.VALIDATION_ERROR
    problems: Any = caught.value.details["problems"]
    assert [(problem["path"], problem["rule"]) for problem in problems] == [(path, rule)]


def test_plain_json_is_passed_on_without_a_copy(context_for: Call) -> None:
    sent: list[Any] = [1, 2, 3]
    tool = tool_of(taking(list[int]))
    assert tool.handler(context_for(tool), {"value": sent}) is sent


def test_a_default_of_the_annotation_is_filled_in(call: Call) -> None:
    def example(
        a: Annotated[int, pydantic.Field(default=3)],
        b: Annotated[list[int], pydantic.Field(default_factory=list)],
        c: int = pydantic.Field(5),
    ) -> object:
        return a, b, c

    assert call(example) == (3, [], 5)
    assert call(example, a=1, b=[2], c=4) == (1, [2], 4)


def test_an_argument_goes_by_its_alias(call: Call) -> None:
    def example(source: Annotated[str, pydantic.Field(alias="from")], to: str) -> str:
        return f"{source}-{to}"

    assert call(example, **{"from": "a", "to": "b"}) == "a-b"
    with pytest.raises(Refusal, match="did you mean"):
        call(example, form="a", to="b")


@dataclass
class Whole:
    when: dt.datetime
    path: Path
    colors: set[Color]
    pair: Pair
    raw: bytes = b"hi"
    amount: Decimal = field(default=Decimal("1.10"))


def test_values_have_one_json_form() -> None:
    when = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    assert json_of(Whole(when, Path("a"), {Color.RED}, Pair(1, DAY))) == {
        "when": "2026-01-31T12:00:00+00:00",
        "path": "a",
        "colors": ["red"],
        "pair": {"left": 1, "right": "2026-01-31"},
        "raw": "aGk=",
        "amount": "1.10",
    }
    assert json_of({Color.RED: Model(n=1), 1: Level.LOW}) == {"red": {"n": 1, "when": None}, "1": 1}
    with pytest.raises(TypeError, match="object has no JSON form"):
        json_of([object()])


@pytest.mark.parametrize(
    "span", [dt.timedelta(0), dt.timedelta(days=3, seconds=5, microseconds=7), dt.timedelta(hours=30)]
)
def test_a_duration_survives_the_way_out_and_back(span: dt.timedelta, call: Call) -> None:
    assert call(taking(dt.timedelta), value=json_of(span)) == span
