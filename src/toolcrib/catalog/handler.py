"""Handlers: the shortest way from validated arguments to the function's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from toolcrib.catalog.convert import Convert, Unconvertible, real, whole
from toolcrib.catalog.problem import Problem, path_text
from toolcrib.catalog.validate import refusal_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.tool import Arguments, Handler, Runs


@dataclass(frozen=True, slots=True)
class Binding:
    """How one argument reaches its parameter: renamed, converted, or filled in."""

    name: str
    key: str
    convert: Convert | None = None
    default: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Injected:
    """The parameter that gets the context, and whether it is the first."""

    name: str
    first: bool


def make_handler(
    call: Callable[..., object], injected: Injected | None, bindings: Sequence[Binding], runs: Runs
) -> Handler:
    """A handler without any step that this function does not need."""
    direct = _direct(call, injected)
    if not bindings:
        return direct
    bound = _bound(call, injected, tuple(bindings))
    if any(
        binding.convert not in (whole, real) or binding.key != binding.name or binding.default for binding in bindings
    ):
        return bound
    return _numeric(direct, bound, frozenset(float if binding.convert is whole else int for binding in bindings))


def _direct(call: Callable[..., object], injected: Injected | None) -> Handler:
    if injected is None:
        return lambda context, arguments: call(**arguments)
    if injected.first:
        return lambda context, arguments: call(context, **arguments)
    name = injected.name
    return lambda context, arguments: call(**arguments, **{name: context})


def _numeric(direct: Handler, bound: Handler, suspects: frozenset[type]) -> Handler:
    """Numbers nearly always arrive as the right kind; only a suspect one pays for the conversion."""

    def handle(context: ToolContext, arguments: Arguments) -> object:
        for value in arguments.values():
            if value.__class__ in suspects:
                return bound(context, arguments)
        return direct(context, arguments)

    return handle


def _bound(call: Callable[..., object], injected: Injected | None, bindings: tuple[Binding, ...]) -> Handler:
    direct = _direct(call, injected)

    def handle(context: ToolContext, arguments: Arguments) -> object:
        return direct(context, cast("Arguments", bind(bindings, arguments, context.name)))

    return handle


def bind(bindings: Sequence[Binding], arguments: Arguments, tool: str) -> dict[str, object]:
    """The arguments as the function takes them."""
    values: dict[str, object] = dict(arguments)
    for binding in bindings:
        if binding.key in arguments:
            value: object = arguments[binding.key]
            if binding.convert:
                value = _converted(binding, cast("Json", value), tool)
            if binding.key != binding.name:
                del values[binding.key]
            values[binding.name] = value
        elif binding.default:
            values[binding.name] = binding.default()
    return values


def _converted(binding: Binding, value: Json, tool: str) -> object:
    try:
        return cast("Convert", binding.convert)(value)
    except Unconvertible as error:
        path = path_text((binding.key, *error.path))
        raise refusal_of(tool, (Problem(path, error.rule, error.message),)) from error
