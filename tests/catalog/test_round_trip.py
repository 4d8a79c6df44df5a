"""Generated signatures: whatever the schema accepts, the function receives as the type it asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib.catalog.convert import json_of
from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.registry import Registry
from toolcrib.catalog.validate import arguments_of, check_input_schema
from toolcrib.values.json import Json
from toolcrib.values.refusal import Refusal

Call = Callable[..., Any]


class Color(Enum):
    RED = "red"
    ONE = 1


class Pair(NamedTuple):
    left: int
    right: bool = True


class Case(NamedTuple):
    """A type, JSON that fits it, and a test of what must arrive."""

    hint: Any
    fitting: st.SearchStrategy[Any]
    arrived: Callable[[object], bool]


def whole(value: object) -> bool:
    return type(value) is int


TEXT = Case(str, st.text(max_size=5), lambda value: type(value) is str)
LEAVES = [
    TEXT,
    Case(int, st.integers(-(2**70), 2**70) | st.integers(-9, 9).map(float), whole),
    Case(
        float, st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9), lambda value: type(value) is float
    ),
    Case(bool, st.booleans(), lambda value: type(value) is bool),
    Case(None, st.none(), lambda value: value is None),
    Case(Color, st.sampled_from(["red", 1]), lambda value: isinstance(value, Color)),
    Case(Literal["a", 2], st.sampled_from(["a", 2, 2.0]), lambda value: value == "a" or whole(value)),
    Case(dt.date, st.dates().map(dt.date.isoformat), lambda value: type(value) is dt.date),
    Case(
        Pair,
        st.fixed_dictionaries({"left": st.integers(-9, 9)}, optional={"right": st.booleans()}),
        lambda value: isinstance(value, Pair) and whole(value.left),
    ),
]


def lists(inner: Case) -> Case:
    def arrived(value: object) -> bool:
        return isinstance(value, list) and all(map(inner.arrived, value))

    return Case(list[inner.hint], st.lists(inner.fitting, max_size=3), arrived)


def objects(inner: Case) -> Case:
    def arrived(value: object) -> bool:
        return isinstance(value, dict) and all(map(inner.arrived, value.values()))

    return Case(dict[str, inner.hint], st.dictionaries(st.text(max_size=3), inner.fitting, max_size=3), arrived)


def optional(inner: Case) -> Case:
    return Case(
        inner.hint | None if inner.hint is not None else None,
        st.none() | inner.fitting,
        lambda value: value is None or inner.arrived(value),
    )


def tuples(one: Case, other: Case) -> Case:
    def arrived(value: object) -> bool:
        return isinstance(value, tuple) and one.arrived(value[0]) and other.arrived(value[1])

    return Case(tuple[one.hint, other.hint], st.tuples(one.fitting, other.fitting).map(list), arrived)


cases = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: inner.map(lists) | inner.map(objects) | inner.map(optional) | st.builds(tuples, inner, inner),
    max_leaves=4,
)


def taking(hint: object) -> Any:
    def example(value: Any) -> object:
        return value

    example.__annotations__ = {"value": hint}
    return example


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cases, st.data())
def test_what_fits_the_type_is_accepted_and_arrives_as_that_type(call: Call, case: Case, data: st.DataObject) -> None:
    sent = data.draw(case.fitting)
    value = call(taking(case.hint), value=sent)
    assert case.arrived(value)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 1.5, "a", "red", "2026-01-31", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["left", "right", "a"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cases, anything)
def test_whatever_is_sent_either_arrives_as_the_type_or_is_refused(call: Call, case: Case, sent: Json) -> None:
    problems: Json = ()
    try:
        arrived = case.arrived(call(taking(case.hint), value=sent))
    except Refusal as refusal:
        arrived, problems = False, refusal.details["problems"]
    assert arrived or problems


@settings(deadline=None)
@given(cases)
def test_a_derived_schema_is_always_a_valid_one(case: Case) -> None:
    check_input_schema(tool_of(taking(case.hint)).spec.input_schema)


@settings(deadline=None)
@given(cases, st.data())
def test_what_comes_back_satisfies_the_promise_of_the_return_type(case: Case, data: st.DataObject) -> None:
    def example(value: Any) -> Any:
        return value

    example.__annotations__ = {"value": case.hint, "return": case.hint}
    registry = Registry()
    tool = registry.add([example])["example"]
    output = registry.checks(tool).output
    sent = data.draw(case.fitting)
    context: Any = tool  # the handler only asks for the name
    returned = tool.handler(context, arguments_of({"value": sent}))
    assert output is None or output.is_valid(json_of(returned))
