"""The `tool` decorator, and the one function that turns whatever may be a tool into a `Tool`."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Literal, Protocol, TypedDict, TypeVar, Unpack, cast, overload, runtime_checkable

from toolcrib.catalog.function import Marking, function_tool
from toolcrib.catalog.implementation import implementation_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.spec import Effect, Exposure, ToolSpec
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Runs, Tool, no_targets

F = TypeVar("F", bound=Callable[..., object])
_MARK = "__toolcrib_tool__"
_UNMARKED = Marking()


class Options(TypedDict, total=False):
    """What can be said about a function beside its signature."""

    name: str
    title: str
    description: str
    help: str
    tags: Iterable[str]
    category: str
    aliases: Iterable[str]
    capabilities: Iterable[str]
    exposure: Exposure | Literal["model", "manual", "both"]
    timeout: float
    input_schema: JsonObject
    output_schema: JsonObject
    read_form: JsonObject
    targets: Callable[[Arguments], Sequence[Target]]
    isolate: Literal["process"]
    transactional: bool
    needs_approval: bool | Callable[[Arguments], bool]
    metadata: Mapping[str, Json]


@frozen
class Mark:
    """A decorator that marks a function as a tool with this effect; the function itself stays as it is."""

    effect: Effect

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /, **options: Unpack[Options]) -> Callable[[F], F]: ...
    def __call__(self, function: F | None = None, /, **options: Unpack[Options]) -> F | Callable[[F], F]:
        marking = marking_of(self.effect, options)
        if function is not None:
            return marked(function, marking)
        return lambda function: marked(function, marking)


@frozen
class ToolMark(Mark):
    """`@tool` (a write, as everything unmarked is), `@tool.read`, `@tool.write`; bare or with options."""

    read: Mark = Mark(Effect.READ)
    write: Mark = Mark(Effect.WRITE)


tool = ToolMark(Effect.WRITE)


@runtime_checkable
class ToolAdapter(Protocol):
    """A tool written as an object: its specification and how it is called. It may also have `targets(arguments)`."""

    @property
    def spec(self) -> ToolSpec: ...
    def call(self, context: ToolContext, arguments: Arguments) -> Awaitable[object]: ...


def tool_of(source: object) -> Tool:
    """Make a Tool of a function (decorated or plain), a bound method, a callable object, a partial or an adapter."""
    if isinstance(source, (FunctionType, MethodType)):
        return function_tool(source, _marking(source))
    if isinstance(source, Tool):
        return source
    if isinstance(getattr(source, "spec", None), ToolSpec) and isinstance(source, ToolAdapter):
        return _adapted(source)
    if isinstance(source, (staticmethod, classmethod, type)) or not callable(source):
        raise RegistrationError(
            f"{source!r} is not a tool: give a function, a bound method, a callable object, a functools.partial, "
            "a Tool, or an object with `spec` and `async call(context, arguments)`"
        )
    return function_tool(source, _marking(source))


def marked(function: F, marking: Marking) -> F:
    """Attach the marking and return the function unchanged."""
    inner: object = getattr(function, "__func__", function)
    try:
        setattr(inner, _MARK, marking)
    except AttributeError as error:
        raise RegistrationError(f"{function!r} cannot carry options; wrap it in a function") from error
    return function


def marking_of(effect: Effect, options: Options) -> Marking:
    """The options as a value, each checked and in its final type."""
    if unknown := options.keys() - Options.__annotations__.keys():
        name = min(unknown)
        close = difflib.get_close_matches(name, Options.__annotations__, n=1)
        raise RegistrationError(f"unknown option {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
    if options.get("name") == "":
        raise RegistrationError("the name of a tool cannot be empty; leave it out to use the function's own")
    approval = options.get("needs_approval")
    values: dict[str, object] = dict(options)
    if "tags" in options:
        values["tags"] = frozenset(_words("tags", options["tags"]))
    if "capabilities" in options:
        values["capabilities"] = frozenset(_words("capabilities", options["capabilities"]))
    if "aliases" in options:
        values["aliases"] = tuple(_words("aliases", options["aliases"]))
    if "exposure" in options:
        values["exposure"] = _exposure(options["exposure"])
    if approval is not None:
        values["needs_approval"] = approval if callable(approval) else _always if approval else None
    return replace(Marking(effect=effect), **values)  # pyright: ignore[reportArgumentType]


def _words(option: str, words: Iterable[str]) -> Iterable[str]:
    if isinstance(words, str):
        raise RegistrationError(f"{option} must be a collection of words, not the text {words!r}: write {{{words!r}}}")
    return words


def _exposure(value: str) -> Exposure:
    try:
        return Exposure(value)
    except ValueError:
        raise RegistrationError(f"exposure must be model, manual or both, not {value!r}") from None


def _marking(source: Callable[..., object]) -> Marking:
    if isinstance(marking := getattr(source, _MARK, None), Marking):
        return marking
    if isinstance(source, (FunctionType, MethodType)):
        return _UNMARKED
    if isinstance(source, functools.partial):
        return _marking(cast("functools.partial[object]", source).func)
    marking = getattr(type(source).__call__, _MARK, _UNMARKED)
    return marking if marking.name else replace(marking, name=_object_name(source))


def _object_name(source: object) -> str:
    """A callable object is named by its own `name`, or by its class in lower case."""
    name = getattr(source, "name", None) or getattr(source, "__name__", None)
    return name if isinstance(name, str) else type(source).__name__.lower()


def _adapted(adapter: ToolAdapter) -> Tool:
    targets = getattr(adapter, "targets", no_targets)
    implementation = functools.partial(implementation_of, type(adapter))
    return Tool(adapter.spec, adapter.call, Runs.ASYNC, targets, implementation)


def _always(arguments: Arguments) -> bool:
    return True
