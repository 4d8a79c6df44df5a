"""Tools written as whole objects: `name`, `description`, `inputSchema`, `needsApproval`, `execute(input, options)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, cast

from toolcrib.sources.module.beside import ModuleProblem
from toolcrib.sources.module.schema import schema_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.spec import NOTHING, Effect, ToolSpec
from toolcrib.values.tool import Arguments, Handler, Runs, Tool

Needs = Callable[[Arguments], bool]
_SPELLINGS = {
    "input_schema": ("input_schema", "inputSchema", "parameters"),
    "output_schema": ("output_schema", "outputSchema"),
    "needs_approval": ("needs_approval", "needsApproval"),
}


def is_tool_object(value: object) -> bool:
    """Whether something is a tool as an object or a mapping: it says what it takes, and can be executed."""
    return callable(_member(value, "execute")) and not isinstance(value, (type, FunctionType))


def object_tool(value: object, name: str, where: str) -> Tool:
    """A Tool of such an object; what is missing is a ModuleProblem that names it."""
    execute = _member(value, "execute")
    given = _member(value, "input_schema")
    if given is None:
        raise ModuleProblem(f"{where} has no inputSchema; give it a JSON Schema of its arguments")
    described, output = _member(value, "description"), _member(value, "output_schema")
    spec = ToolSpec(
        name=name,
        description=described if isinstance(described, str) and described else f"Custom tool: {name.split('.')[-1]}",
        input_schema=schema_of(given, f"{where}.inputSchema"),
        output_schema=None if output is None else schema_of(output, f"{where}.outputSchema"),
        effect=Effect.READ if _member(value, "effect") in ("read", Effect.READ) else Effect.WRITE,
        tags=_tags(_member(value, "tags"), where),
        metadata=_metadata(_member(value, "metadata")),
    )
    handler, runs = _handler(cast("Callable[..., object]", execute), where)
    return Tool(spec, handler, runs, needs_approval=approval_of(_member(value, "needs_approval"), where))


def own_name(value: object) -> str | None:
    """The name that a tool object gives itself."""
    name = _member(value, "name")
    return name if isinstance(name, str) else None


def approval_of(needs: object, where: str) -> Needs | None:
    """Whether a call asks, as the tool itself says. It can only ever ask more than rules do, never less."""
    if needs is None or needs is False:
        return None
    if needs is True:
        return _always
    if not callable(needs) or inspect.iscoroutinefunction(needs):
        raise ModuleProblem(f"{where}.needsApproval must be true, false or an ordinary function of the input")
    function: Callable[..., object] = needs
    takes_options = _takes(function) > 1

    def asks(arguments: Arguments) -> bool:
        try:
            said = function(dict(arguments), NOTHING) if takes_options else function(dict(arguments))
        except Exception:  # whatever is wrong with the function, a person then looks at the call
            return True
        return said is not False

    return asks


def _handler(execute: Callable[..., object], where: str) -> tuple[Handler, Runs]:
    taken = _takes(execute)
    if taken not in (1, 2):
        raise ModuleProblem(f"{where}.execute must take (input) or (input, options), not {taken} values")

    def call(context: ToolContext, arguments: Arguments) -> object:
        return execute(dict(arguments), context) if taken == 2 else execute(dict(arguments))

    return call, Runs.ASYNC if inspect.iscoroutinefunction(execute) else Runs.THREAD


def _takes(function: Callable[..., object]) -> int:
    """How many values a function takes by position."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional for each in inspect.signature(function).parameters.values())


def _member(value: object, name: str) -> Any:
    for spelling in _SPELLINGS.get(name, (name,)):
        if isinstance(value, Mapping):
            found = cast("Mapping[str, object]", value).get(spelling)
        else:
            found = getattr(value, spelling, None)
        if found is not None:
            return found
    return None


def _tags(given: object, where: str) -> frozenset[str]:
    if given is None:
        return frozenset()
    if isinstance(given, str) or not isinstance(given, (list, tuple, set, frozenset)):
        raise ModuleProblem(f"{where}.tags must be a collection of words")
    return frozenset(str(tag) for tag in cast("list[object]", given))


def _metadata(given: object) -> JsonObject:
    return cast("JsonObject", given) if isinstance(given, Mapping) else NOTHING


def _always(arguments: Arguments) -> bool:
    return True
