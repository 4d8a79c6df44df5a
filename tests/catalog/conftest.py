"""What the catalog's tests share: a way to call a tool as the executor does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.registry import Registry
from toolcrib.catalog.validate import arguments_of, refusal_of
from toolcrib.values.context import ToolContext
from toolcrib.values.identity import Origin
from toolcrib.values.json import Json
from toolcrib.values.tool import Tool


@pytest.fixture
def context_for() -> Callable[[Tool], ToolContext]:
    """The context that the engine would give the handler of a tool."""
    return lambda tool: ToolContext("call_1", tool.name, {}, (), Origin("s", "r"), None, None)  # type: ignore[arg-type]


@pytest.fixture
def call(context_for: Callable[[Tool], ToolContext]) -> Callable[..., Any]:
    """Validate the arguments and run the handler; a rejection comes out as the refusal a model would hear."""

    def run(source: object, **arguments: Json) -> Any:
        registry = Registry()
        tool = next(iter(registry.add([tool_of(source)]).values()))
        given = arguments_of(arguments)
        validator = registry.checks(tool).arguments
        if not validator.is_valid(given):
            raise refusal_of(tool.name, validator.problems(given))
        value = tool.handler(context_for(tool), given)
        assert not inspect.isawaitable(value), "the tests here call plain functions"
        return value

    return run
