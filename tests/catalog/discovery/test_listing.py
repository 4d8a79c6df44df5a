"""What opens a session: as much as fits, the same for the same tools."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.catalog.discovery.choosing import Sizes, is_lazy
from toolcrib.catalog.discovery.cost import catalog_cost
from toolcrib.catalog.discovery.listing import Level, listing
from toolcrib.catalog.discovery.showing import Mode, Showing
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.toolsets.tools import SPEC
from toolcrib.values.json import JsonObject
from toolcrib.values.spec import ToolSpec

ESTIMATOR = TokenEstimator()
HELP = (
    "What this field is good for, said in as many words as authors of tools tend to use, with an example such as "
    "'abc-123', the form that it must have, and what happens when it is left out or cannot be found."
)


def specs(count: int, words: int = 8) -> list[ToolSpec]:
    groups = ("billing", "mail", "repo", "wiki", "deploy")
    return [
        ToolSpec(
            name=f"{groups[number % 5]}.action_{number}",
            description=f"Do thing {number} " + "with care " * (words // 2) + ".",
            input_schema={
                "type": "object",
                "properties": {f"field_{at}": {"type": "string", "description": HELP} for at in range(4)},
                "required": ["field_0"],
            },
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "level"), [(3, Level.LINES), (30, Level.NAMES), (100, Level.GROUPS), (2_000, Level.GROUPS)]
)
def test_as_much_is_told_as_the_budget_has_room_for(count: int, level: Level) -> None:
    told = listing(specs(count), 300)
    assert told.level is level
    assert ESTIMATOR.tokens(told.text) <= 300


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(10, 400), st.randoms())
def test_it_fits_and_does_not_depend_on_the_order_of_registration(
    count: int, budget: int, chance: random.Random
) -> None:
    tools = specs(count)
    shuffled = tools.copy()
    chance.shuffle(shuffled)
    told = listing(tools, budget)
    assert listing(shuffled, budget) == told
    assert ESTIMATOR.tokens(told.text) <= budget


def test_a_group_of_a_hostile_name_stays_in_its_place() -> None:
    hostile = ToolSpec(name="x.y", description="", input_schema={}, category="a\u202e<b>")
    assert "\u202e" not in listing([hostile] * 1, 3).text
    assert "<" not in listing([hostile], 3).text


def test_many_groups_are_cut_to_the_largest() -> None:
    many = [ToolSpec(name=f"group{at}.t", description="", input_schema={}) for at in range(500)]
    told = listing(many, 100)
    assert told.text.endswith("more groups")
    assert ESTIMATOR.tokens(told.text) <= 100


@pytest.mark.parametrize(
    ("mode", "count", "lazy"),
    [
        (Mode.EAGER, 500, False),
        (Mode.APPEND, 1, True),
        (Mode.REPLACE, 1, True),
        (Mode.AUTO, 10, False),
        (Mode.AUTO, 500, True),
        (Mode.AUTO, 0, False),
    ],
)
def test_short_definitions_are_all_sent_unless_asked_otherwise(mode: Mode, count: int, lazy: bool) -> None:
    assert is_lazy(specs(count), Showing(mode=mode), Sizes(ESTIMATOR)) is lazy


@settings(deadline=None)
@given(st.integers(1, 120), st.integers(1, 12))
def test_by_default_tools_never_cost_more_than_all_of_them_at_once(count: int, calls: int) -> None:
    told = catalog_cost(specs(count), SPEC, Showing(), ESTIMATOR, calls)
    assert told.saving >= 0


def shaped(count: int, parameters: int, words: int) -> list[ToolSpec]:
    """Tools with many parameters say much in a signature, those with many words little."""
    names = [f"parameter{at}" for at in range(parameters)]
    schema: JsonObject = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
    }
    return [ToolSpec(name=f"g.t{at}", description="word " * words, input_schema=schema) for at in range(count)]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 150), st.integers(0, 40), st.integers(0, 200), st.integers(1, 10), st.integers(0, 150))
def test_whatever_tools_look_like_and_however_many_are_pinned_they_never_cost_more(
    count: int, parameters: int, words: int, calls: int, pinned: int
) -> None:
    tools = shaped(count, parameters, words)
    told = catalog_cost(tools, SPEC, Showing(), ESTIMATOR, calls, [spec.name for spec in tools[:pinned]])
    assert told.saving >= 0


@pytest.mark.parametrize(
    ("tools", "pinned", "lazy"),
    [
        (shaped(25, 20, 1), 0, False),  # an answer would cost nearly as much as all there is
        (shaped(40, 20, 1), 0, True),
        (shaped(40, 20, 1), 40, False),  # nothing is left to be found
        (shaped(40, 20, 1), 10, False),  # each search reads the pinned ones once more
        (shaped(400, 20, 1), 10, True),
    ],
)
def test_tools_are_shown_by_need_only_where_that_saves(tools: list[ToolSpec], pinned: int, lazy: bool) -> None:
    assert is_lazy(tools, Showing(), Sizes(ESTIMATOR), [spec.name for spec in tools[:pinned]]) is lazy


@pytest.mark.parametrize(("count", "least"), [(50, 0.55), (100, 0.73), (500, 0.94), (2_000, 0.98)])
def test_a_session_of_ten_calls_each_with_its_search_saves_most_of_the_cost(count: int, least: float) -> None:
    told = catalog_cost(specs(count), SPEC, Showing(), ESTIMATOR)
    assert told.chosen is Mode.APPEND
    assert told.saving >= least
    assert told.append.start <= 500


def test_the_meta_tools_are_short() -> None:
    assert catalog_cost(specs(1), SPEC, Showing(), ESTIMATOR).meta <= 150
