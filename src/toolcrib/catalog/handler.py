"""Handlers: the shortest way from validated arguments to the function's own parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolcrib.catalog.convert import Convert, Unconvertible, real, whole
from toolcrib.catalog.problem import Problem, path_text, unknown_field
from toolcrib.catalog.validate import refusal_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.tool import Arguments, Handler

_Bind = Callable[[Arguments, str], Mapping[str, object]]


@frozen
class Binding:
    """How one argument reaches its parameter: renamed, converted, or filled in."""

    name: str
    key: str
    convert: Convert | None = None
    default: Callable[[], object] | None = None


@frozen
class Injected:
    """The parameter that gets the context, and whether it is the first."""

    name: str
    first: bool


def make_handler(call: Callable[..., object], injected: Injected | None, bindings: Sequence[Binding]) -> Handler:
    """A handler without any step that this function does not need."""
    if not bindings:
        return _direct(call, injected)
    bind = _binding(tuple(bindings))
    if injected is None:
        return lambda context, arguments: call(**bind(arguments, context.name))
    if injected.first:
        return lambda context, arguments: call(context, **bind(arguments, context.name))
    name = injected.name
    return lambda context, arguments: call(**bind(arguments, context.name), **{name: context})


def guarded(handler: Handler, injected: Injected | None, taken: tuple[str, ...] | None) -> Handler:
    """A handler whose schema was given by hand: it may let through what the function does not take."""
    refused = injected.name if injected else None

    def handle(context: ToolContext, arguments: Arguments) -> object:
        for name in arguments:
            if name == refused or (taken is not None and name not in taken):
                raise refusal_of(context.name, (unknown_field("", name, taken or ()),))
        return handler(context, arguments)

    return handle


def _direct(call: Callable[..., object], injected: Injected | None) -> Handler:
    if injected is None:
        return lambda context, arguments: call(**arguments)
    if injected.first:
        return lambda context, arguments: call(context, **arguments)
    name = injected.name
    return lambda context, arguments: call(**arguments, **{name: context})


def _binding(bindings: tuple[Binding, ...]) -> _Bind:
    """Numbers nearly always arrive as the right kind, so where nothing else is converted only a suspect one pays."""
    if not all(each.convert in (whole, real) and each.key == each.name and not each.default for each in bindings):
        return lambda arguments, tool: _bound(bindings, arguments, tool)
    suspects = {float if each.convert is whole else int for each in bindings}
    wrong = suspects.pop() if len(suspects) == 1 else None

    def bind_numbers(arguments: Arguments, tool: str) -> Mapping[str, object]:
        for value in arguments.values():
            if value.__class__ is wrong or wrong is None:
                return _bound(bindings, arguments, tool)
        return arguments

    return bind_numbers


def _bound(bindings: Sequence[Binding], arguments: Arguments, tool: str) -> Mapping[str, object]:
    values: dict[str, object] = dict(arguments)
    for binding in bindings:
        key = binding.key
        if key in arguments:
            value = arguments[key]
            if key != binding.name:
                del values[key]
            values[binding.name] = _converted(binding, value, tool)
        elif binding.default:
            values[binding.name] = binding.default()
    return values


def _converted(binding: Binding, value: Json, tool: str) -> object:
    if binding.convert is None:
        return value
    try:
        return binding.convert(value)
    except Unconvertible as error:
        path = path_text((binding.key, *error.path))
        raise refusal_of(tool, (Problem(path, error.rule, error.message),)) from error
