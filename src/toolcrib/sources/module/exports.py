"""From what a module exports to tools: functions with type hints or a schema beside them, and whole tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import FunctionType, MethodType, ModuleType
from typing import Any, cast

from toolcrib.catalog.decorate import tool_of
from toolcrib.catalog.function import Marking, function_tool
from toolcrib.sources.module.beside import ModuleFile, ModuleProblem
from toolcrib.sources.module.loading import load
from toolcrib.sources.module.objects import is_tool_object, object_tool, own_name
from toolcrib.sources.module.sandbox import Provide, with_sandbox
from toolcrib.sources.module.schema import schema_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.spec import Source, ToolType
from toolcrib.values.tool import Runs, Tool

_MARK = "__toolcrib_tool__"
SUFFIX = "_schema"
_TAKEN_TAGS = frozenset({"internal", "agent", "mcp", "declarative"})


@frozen
class Offer:
    """What a module gives of the tools that were named; `missing` says of the others what is wrong."""

    tools: tuple[Tool, ...]
    missing: Mapping[str, str]


def module_tools(file: ModuleFile, names: Iterable[str], provide: Provide) -> Offer:
    """The named tools of a module, as `custom.<name>`; ModuleProblem when the module itself cannot be loaded."""
    module = load(file)
    made: list[Tool] = []
    missing: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            made.append(_named(module, name, file, provide))
        except (ModuleProblem, RegistrationError) as error:
            missing[name] = str(error)
    return Offer(tuple(made), missing)


def export_tool(value: object, beside: JsonObject | None, name: str, where: str, provide: Provide) -> Tool:
    """A Tool of one exported value under this name; `beside` is the schema that stands beside a function."""
    if is_tool_object(value):
        made = object_tool(value, name, where)
    elif isinstance(value, (FunctionType, MethodType)) or hasattr(value, _MARK):
        made = _function(cast("Callable[..., object]", value), beside, name.rsplit(".", 1)[-1], where, provide)
    elif isinstance(value, Tool) or hasattr(value, "spec"):
        made = tool_of(value)
    else:
        raise ModuleProblem(f"{where} must be a function or a tool object, not {_kind(value)}")
    if made.runs is Runs.PROCESS:
        raise ModuleProblem(f"{where}: isolate='process' is for installed modules; a process could not load this one")
    if taken := sorted(made.spec.tags & _TAKEN_TAGS):
        raise ModuleProblem(f"{where}: the tag {taken[0]!r} is not for tools of modules")
    return replace(made, spec=replace(made.spec, name=name, tool_type=ToolType.CUSTOM))


def exports_of(module: ModuleType) -> dict[str, object]:
    """What a module has that could be a tool."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and _could_be_tool(value, module.__name__)
    }


def _named(module: ModuleType, name: str, file: ModuleFile, provide: Provide) -> Tool:
    found = vars(module)
    value = found.get(name)
    if value is None:
        value = next((each for each in found.values() if is_tool_object(each) and own_name(each) == name), None)
    if value is None:
        raise ModuleProblem(_missing(file.path, name, exports_of(module)))
    beside = found.get(name + SUFFIX)
    schema = None if beside is None else schema_of(beside, f"{file.path}: {name}{SUFFIX}")
    made = export_tool(value, schema, f"custom.{name}", f"{file.path}: {name}", provide)
    spec = replace(made.spec, source=Source("module", file.path))
    digest = file.digest
    return replace(made, spec=spec, implementation=lambda: digest)


def _function(
    function: Callable[..., object], beside: JsonObject | None, name: str, where: str, provide: Provide
) -> Tool:
    """A function by its type hints, or by the schema beside it; a mark of its own says the rest."""
    marking = getattr(function, _MARK, None)
    marking = marking if isinstance(marking, Marking) else Marking()
    filled = with_sandbox(function, provide)
    if marking.description is None and not function.__doc__:
        marking = replace(marking, description=f"Custom tool: {name}")
    if beside is not None:
        filled = _with_whole_input(filled, beside)
        marking = replace(marking, input_schema=beside)
    elif marking.input_schema is None:
        _require_types(filled, name, where)
    return function_tool(filled, replace(marking, name=name))


def _require_types(function: Callable[..., object], name: str, where: str) -> None:
    """A parameter of which nothing is known would take anything; say what would work."""
    for each in inspect.signature(function).parameters.values():
        if each.annotation is each.empty and each.default is each.empty and each.kind is not each.VAR_KEYWORD:
            raise ModuleProblem(
                f"{where} says nothing about its parameter {each.name!r}; give it a type hint, or put a JSON Schema "
                f"named {name}{SUFFIX} beside the function"
            )


def _with_whole_input(function: Callable[..., object], schema: JsonObject) -> Callable[..., object]:
    """A function of one parameter that the schema does not know takes all arguments as one dict."""
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    parameters = list(inspect.signature(function).parameters.values())
    whole = [each for each in parameters if not _is_context(each.annotation)]
    if len(whole) != 1 or whole[0].name in known or whole[0].kind is inspect.Parameter.VAR_KEYWORD:
        return function
    name, context = whole[0].name, next((each.name for each in parameters if _is_context(each.annotation)), None)

    def given(arguments: Mapping[str, object], facts: ToolContext) -> dict[str, object]:
        return {name: dict(arguments), **({} if context is None else {context: facts})}

    if inspect.iscoroutinefunction(function):

        async def wait(toolcrib_context: ToolContext, **arguments: Any) -> object:
            return await cast("Any", function)(**given(arguments, toolcrib_context))

        return _dressed(wait, function)

    def call(toolcrib_context: ToolContext, **arguments: Any) -> object:
        return function(**given(arguments, toolcrib_context))

    return _dressed(call, function)


def _dressed(wrapper: Callable[..., object], function: Callable[..., object]) -> Callable[..., object]:
    """The wrapper under the function's name and words; its own parameters stay its own."""
    functools.update_wrapper(wrapper, function, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    del wrapper.__dict__["__wrapped__"]
    wrapper.__dict__.pop(_MARK, None)
    return wrapper


def _is_context(annotation: object) -> bool:
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return written.strip("'\" ").rsplit(".", 1)[-1] == "ToolContext"


def _could_be_tool(value: object, module: str) -> bool:
    if isinstance(value, (type, ModuleType)):
        return False
    if isinstance(value, FunctionType):
        return value.__module__ == module
    return isinstance(value, Tool) or hasattr(value, _MARK) or is_tool_object(value)


def _missing(path: str, name: str, exports: Mapping[str, object]) -> str:
    from difflib import get_close_matches  # only a mistake has to pay for it

    near = get_close_matches(name, exports, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    there = f"it has {', '.join(sorted(exports))}" if exports else "it has no function and no tool"
    return f"{path} has no {name!r}; {hint}{there}"


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__}"
