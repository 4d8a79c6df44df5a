"""A Python function as a tool: its signature read once, its handler made to fit."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType, UnionType
from typing import Any, Union, cast, get_args, get_origin

from toolcrib.catalog.annotated import is_field, read_metadata, refined
from toolcrib.catalog.derive import Derivation, with_default
from toolcrib.catalog.docstring import Docstring, read_docstring
from toolcrib.catalog.handler import Binding, Injected, make_handler
from toolcrib.catalog.implementation import implementation_of
from toolcrib.catalog.shape import ANY, NULL, PLAIN, Shape
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.result import ToolResult, ToolReturn
from toolcrib.values.spec import NOTHING, Effect, Exposure, Source, ToolSpec, ToolType
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Runs, Tool, no_targets

_MISSING = object()
_STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_YIELDS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_NO_OUTPUT = frozenset({str, bytes, None, type(None), Any, object, ToolReturn, ToolResult, _MISSING})


class DerivedSchema(dict[str, Json]):
    """A schema written by us from plain types: valid by construction, so the registry need not check it again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """What the author said about a function beside its signature."""

    effect: Effect = Effect.WRITE
    name: str | None = None
    title: str = ""
    description: str | None = None
    help: str = ""
    tags: frozenset[str] = frozenset()
    category: str = ""
    aliases: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()
    exposure: Exposure = Exposure.BOTH
    timeout: float | None = None
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    read_form: JsonObject | None = None
    targets: Callable[[Arguments], Sequence[Target]] = no_targets
    isolate: str | None = None
    transactional: bool = False
    needs_approval: Callable[[Arguments], bool] | None = None
    metadata: JsonObject = NOTHING


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    hint: object
    default: object = _MISSING


@dataclass(slots=True)
class Callee:
    """What is called, and the function underneath that carries signature, docstring and source."""

    call: Callable[..., object]
    function: FunctionType
    parameters: list[Parameter]
    open: bool = False  # takes **arguments

    @property
    def label(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"


def function_tool(target: Callable[..., object], marking: Marking) -> Tool:
    """Make the tool; everything wrong with the function is a RegistrationError that says what would work."""
    callee = read_callee(target)
    name = marking.name or callee.function.__name__
    doc = read_docstring(callee.function.__doc__)
    signature = _read_signature(callee, doc, marking.input_schema)
    runs = _runs(callee, marking, signature)
    spec = ToolSpec(
        name=name,
        description=marking.description or doc.text or _in_words(name),
        input_schema=signature.schema,
        title=marking.title,
        help=marking.help,
        output_schema=marking.output_schema or _output_schema(callee),
        effect=marking.effect,
        tags=marking.tags | _EFFECT_TAGS[marking.effect],
        category=marking.category,
        tool_type=ToolType.CUSTOM,
        capabilities=marking.capabilities,
        aliases=marking.aliases,
        exposure=marking.exposure,
        timeout=marking.timeout,
        read_form=marking.read_form,
        source=Source("python", callee.function.__module__),
        metadata=marking.metadata,
    )
    handler = make_handler(callee.call, signature.injected, signature.bindings, runs)
    implementation = functools.partial(implementation_of, callee.function)
    return Tool(spec, handler, runs, marking.targets, implementation, marking.transactional, marking.needs_approval)


_EFFECT_TAGS = {Effect.READ: frozenset({"code", "readonly"}), Effect.WRITE: frozenset({"code", "write"})}


@dataclass(slots=True)
class _Signature:
    schema: JsonObject
    bindings: list[Binding] = field(default_factory=list[Binding])
    injected: Injected | None = None


def read_callee(target: Callable[..., object]) -> Callee:
    """Find the function underneath: plain functions and methods are read directly, the rest by `inspect`."""
    if type(target) is FunctionType and not hasattr(target, "__wrapped__"):
        return _plain_callee(target, target, 0)
    if type(target) is MethodType and type(target.__func__) is FunctionType and not hasattr(target, "__wrapped__"):
        return _plain_callee(target, target.__func__, 1)
    function = _underlying(target)
    try:
        signature = inspect.signature(target)
    except (ValueError, TypeError) as error:
        raise RegistrationError(f"{target!r} has no signature that can be read; wrap it in a function") from error
    parameters: list[Parameter] = []
    is_open = False
    for each in signature.parameters.values():
        if each.kind is each.VAR_KEYWORD:
            is_open = True
        elif each.kind in (each.VAR_POSITIONAL, each.POSITIONAL_ONLY):
            raise _positional(function, each.name)
        else:
            default = _MISSING if each.default is each.empty else each.default
            hint = Any if each.annotation is each.empty else each.annotation
            parameters.append(Parameter(each.name, hint, default))
    return Callee(target, function, parameters, is_open)


def _plain_callee(target: Callable[..., object], function: FunctionType, bound: int) -> Callee:
    code = function.__code__
    positional = code.co_argcount
    names = code.co_varnames[bound : positional + code.co_kwonlyargcount]
    if code.co_flags & inspect.CO_VARARGS:
        raise _positional(function, "*" + code.co_varnames[positional + code.co_kwonlyargcount])
    if code.co_posonlyargcount > bound:
        raise _positional(function, code.co_varnames[bound])
    if names and not bound and names[0] in ("self", "cls") and "." in function.__qualname__.split("<locals>.")[-1]:
        raise RegistrationError(
            f"{function.__qualname__} is a method of a class; register it bound to an object (obj.{function.__name__})"
        )
    hints = function.__annotations__
    defaults: dict[str, object] = dict(function.__kwdefaults__ or {})
    if function.__defaults__:
        defaults.update(
            zip(code.co_varnames[:positional][-len(function.__defaults__) :], function.__defaults__, strict=True)
        )
    parameters = [Parameter(name, hints.get(name, Any), defaults.get(name, _MISSING)) for name in names]
    return Callee(target, function, parameters, bool(code.co_flags & inspect.CO_VARKEYWORDS))


def _underlying(target: object) -> FunctionType:
    while isinstance(target, functools.partial):
        target = cast("functools.partial[object]", target).func
    if isinstance(target, MethodType):
        target = target.__func__
    if not isinstance(target, FunctionType) and not isinstance(target, type):
        target = getattr(type(target), "__call__", target)  # noqa: B004
    target = inspect.unwrap(cast("Callable[..., object]", target))
    if isinstance(target, FunctionType):
        return target
    raise RegistrationError(
        f"{target!r} cannot be a tool; use a Python function, a bound method, a callable object, "
        "a functools.partial or a Tool"
    )


def _read_signature(callee: Callee, doc: Docstring, given: JsonObject | None) -> _Signature:
    if given is not None:
        return _given_signature(callee, given)
    if callee.open:
        raise RegistrationError(
            f"{callee.label}: **keywords have no names to describe; write the parameters out, or give input_schema"
        )
    derivation = Derivation(_Names(callee.function))
    properties: dict[str, Json] = {}
    required: list[str] = []
    result = _Signature(NOTHING)
    sound = True
    for parameter in callee.parameters:
        shape = PLAIN.get(parameter.hint) if isinstance(parameter.hint, type) else None
        if shape is not None and parameter.default is _MISSING:
            binding = Binding(parameter.name, parameter.name, shape.convert)
        elif _is_context(parameter.hint, derivation):
            result.injected = Injected(parameter.name, parameter is callee.parameters[0])
            continue
        else:
            shape, binding = _read_parameter(callee, parameter, derivation)
        schema = shape.schema
        if (words := doc.parameters.get(parameter.name)) and "description" not in schema:
            schema = {**schema, "description": words}
        properties[binding.key] = schema
        if binding.default is None and parameter.default is _MISSING:
            required.append(binding.key)
        sound = sound and shape.sound
        if binding.convert or binding.key != binding.name or binding.default:
            result.bindings.append(binding)
    result.schema = _object_schema(properties, required, derivation.definitions, sound)
    return result


def _object_schema(
    properties: dict[str, Json], required: list[str], definitions: dict[str, Json], sound: bool
) -> JsonObject:
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if definitions:
        schema["$defs"] = definitions
    return DerivedSchema(schema) if sound else schema


def _read_parameter(callee: Callee, parameter: Parameter, derivation: Derivation) -> tuple[Shape, Binding]:
    """The shape of one parameter with its default, and how its argument reaches the function."""
    try:
        shape, facts = derivation.member(parameter.hint)
        default = parameter.default
        make_default = facts.default if default is _MISSING else None
        if is_field(default):
            facts = read_metadata([default])
            shape, make_default = refined(shape, facts), facts.default
            default = _MISSING
    except RegistrationError as error:
        raise RegistrationError(f"{callee.label}: parameter {parameter.name!r}: {error}") from error
    key = facts.alias or parameter.name
    if default is None and not _takes_none(shape):
        shape = Shape({"anyOf": [shape.schema, NULL.schema]}, _unless_none(shape), shape.sound)
    if make_default is not None or default is not _MISSING:
        written = with_default(shape.schema, make_default() if make_default else default)
        shape = Shape(written, shape.convert, shape.sound)
    elif parameter.default is not _MISSING:
        make_default = None
    return shape, Binding(parameter.name, key, shape.convert, make_default)


def _takes_none(shape: Shape) -> bool:
    branches = shape.schema.get("anyOf")
    kinds = (
        [branch.get("type") for branch in branches if isinstance(branch, Mapping)] if isinstance(branches, list) else []
    )
    enum = shape.schema.get("enum")
    return shape.schema.keys() <= ANY.schema.keys() or "null" in kinds or (isinstance(enum, list) and None in enum)


def _unless_none(shape: Shape) -> Callable[[Json], object] | None:
    convert = shape.convert
    return None if convert is None else lambda value: None if value is None else convert(value)


def _given_signature(callee: Callee, given: JsonObject) -> _Signature:
    """The author's own schema: arguments arrive as plain JSON; its fields must be parameters."""
    derivation = Derivation(_Names(callee.function))
    result = _Signature(given)
    names: set[str] = set()
    for parameter in callee.parameters:
        if _is_context(parameter.hint, derivation):
            result.injected = Injected(parameter.name, parameter is callee.parameters[0])
        else:
            names.add(parameter.name)
    properties = given.get("properties", {})
    unknown = sorted(set(properties) - names) if isinstance(properties, Mapping) and not callee.open else []
    if unknown:
        raise RegistrationError(f"{callee.label}: input_schema has {', '.join(unknown)}, which are not parameters")
    return result


def _is_context(hint: object, derivation: Derivation) -> bool:
    if hint is ToolContext:
        return True
    if isinstance(hint, str):
        if "ToolContext" not in hint:
            return False
        # Often imported under TYPE_CHECKING only, so the name may not resolve; it still can mean only this.
        words = hint.replace("typing.", "").replace("t.", "").removeprefix("Optional[").removesuffix("]")
        return any(part.strip().rsplit(".", 1)[-1] == "ToolContext" for part in words.split("|"))
    if get_origin(hint) in (Union, UnionType):
        return any(_is_context(member, derivation) for member in get_args(hint))
    return False


def _output_schema(callee: Callee) -> JsonObject | None:
    """The schema of what comes back, where the annotation is precise; text, None and Any promise nothing."""
    hint = callee.function.__annotations__.get("return", _MISSING)
    derivation = Derivation(_Names(callee.function))
    try:
        hint = derivation.resolve(hint)
        if not _precise(hint):
            return None
        shape = derivation.shape(hint)
    except RegistrationError:
        return None  # a return type we cannot describe is no fault: the tool just promises nothing
    if derivation.definitions:
        return {**shape.schema, "$defs": derivation.definitions}
    return DerivedSchema(shape.schema) if shape.sound else shape.schema


def _precise(hint: object) -> bool:
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        return all(_precise(member) for member in members)
    try:
        return hint not in _NO_OUTPUT and PLAIN.get(hint) is not ANY
    except TypeError:
        return False


def _runs(callee: Callee, marking: Marking, signature: _Signature) -> Runs:
    flags = callee.function.__code__.co_flags
    if flags & _YIELDS:
        raise RegistrationError(f"{callee.label} is a generator; return a list, or report with context.progress")
    if marking.isolate is None:
        return Runs.ASYNC if flags & inspect.CO_COROUTINE or inspect.iscoroutinefunction(callee.call) else Runs.THREAD
    if marking.isolate != "process":
        raise RegistrationError(f"{callee.label}: isolate must be 'process', not {marking.isolate!r}")
    if "<" in callee.function.__qualname__ or callee.call is not callee.function or signature.injected:
        raise RegistrationError(
            f"{callee.label}: isolate='process' needs a function at the top level of a module, without a ToolContext"
        )
    if flags & inspect.CO_COROUTINE:
        raise RegistrationError(f"{callee.label}: isolate='process' needs a plain function, not an async one")
    return Runs.PROCESS


def _in_words(name: str) -> str:
    words = name.replace(".", " ").replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _positional(function: FunctionType, name: str) -> RegistrationError:
    return RegistrationError(
        f"{function.__module__}.{function.__qualname__}: parameter {name!r} can only be given by position; "
        "tools are called by name, so make it an ordinary parameter"
    )


class _Names(dict[str, object]):
    """Names as the function sees them: its globals, what it closes over, then the built-ins."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, name: str) -> object:
        function = self._function
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if variable == name:
                return cell.cell_contents
        if name in function.__globals__:
            return function.__globals__[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")
