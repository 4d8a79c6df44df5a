"""What is called: the function under a method, partial, wrapper or callable object, and its parameters."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, cast

from toolcrib.values.refusal import RegistrationError

MISSING = object()


Parameters = list[tuple[str, object, object]]
"""Name, hint and default (`MISSING` when it has none) of each parameter."""


class Callee:
    """`call` is what runs; `function` carries the annotations, the docstring and the source."""

    __slots__ = ("call", "function", "open", "parameters")

    def __init__(
        self, call: Callable[..., object], function: FunctionType, parameters: Parameters, *, takes_any: bool
    ) -> None:
        self.call = call
        self.function = function
        self.parameters = parameters
        self.open = takes_any

    @property
    def label(self) -> str:
        return label_of(self.function)


def read_callee(target: Callable[..., object]) -> Callee:
    """Plain functions and bound methods are read directly, which is ten times faster than `inspect`."""
    if hasattr(target, "__wrapped__"):
        return _inspected(target)
    if isinstance(target, FunctionType):
        return _read(target, target, 0)
    function: object = getattr(target, "__func__", None)
    if isinstance(target, MethodType) and isinstance(function, FunctionType):
        return _read(target, function, 1)
    return _inspected(target)


def names_of(function: FunctionType) -> dict[str, object]:
    """The names that the function's annotations can mean."""
    return _Names(function)


def label_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _read(target: Callable[..., object], function: FunctionType, bound: int) -> Callee:
    code = function.__code__
    positional, flags = code.co_argcount, code.co_flags
    end = positional + code.co_kwonlyargcount
    names = code.co_varnames[bound:end]
    if flags & inspect.CO_VARARGS:
        raise _by_position(function, "*" + code.co_varnames[end])
    if code.co_posonlyargcount > bound:
        raise _by_position(function, code.co_varnames[bound])
    if not bound and names and names[0] in ("self", "cls"):
        _refuse_unbound(function)
    hints = function.__annotations__
    defaults: dict[str, object] = {}
    if function.__defaults__:
        last = code.co_varnames[positional - len(function.__defaults__) : positional]
        defaults.update(zip(last, function.__defaults__, strict=True))
    if function.__kwdefaults__:
        defaults.update(function.__kwdefaults__)
    parameters = [(name, hints.get(name, Any), defaults.get(name, MISSING)) for name in names]
    return Callee(target, function, parameters, takes_any=bool(flags & inspect.CO_VARKEYWORDS))


def _inspected(target: Callable[..., object]) -> Callee:
    function = _underlying(target)
    try:
        signature = inspect.signature(target)
    except (ValueError, TypeError) as error:
        raise RegistrationError(f"{target!r} has no signature that can be read; wrap it in a function") from error
    parameters: Parameters = []
    takes_any = False
    for each in signature.parameters.values():
        if each.kind is each.VAR_KEYWORD:
            takes_any = True
        elif each.kind in (each.VAR_POSITIONAL, each.POSITIONAL_ONLY):
            raise _by_position(function, each.name)
        else:
            hint = Any if each.annotation is each.empty else each.annotation
            parameters.append((each.name, hint, MISSING if each.default is each.empty else each.default))
    return Callee(target, function, parameters, takes_any=takes_any)


def _underlying(target: object) -> FunctionType:
    while isinstance(target, functools.partial):
        target = cast("functools.partial[object]", target).func
    found: object = target
    if not isinstance(target, (FunctionType, MethodType)) and not hasattr(target, "__wrapped__"):
        found = getattr(type(target), "__call__", target)  # noqa: B004
    found = inspect.unwrap(cast("Callable[..., object]", getattr(found, "__func__", found)))
    if isinstance(found, FunctionType):
        return found
    raise RegistrationError(
        f"{target!r} cannot be a tool, because its parameters cannot be read; wrap it in a Python function"
    )


def _refuse_unbound(function: FunctionType) -> None:
    if "." in function.__qualname__.rsplit("<locals>.", 1)[-1]:
        raise RegistrationError(
            f"{label_of(function)} is a method of a class; register it bound to an object (object.{function.__name__})"
        )


def _by_position(function: FunctionType, name: str) -> RegistrationError:
    return RegistrationError(
        f"{label_of(function)}: parameter {name!r} can only be given by position; tools are called by name, "
        "so write out ordinary parameters"
    )


class _Names(dict[str, object]):
    """Looked up in the order the function itself does: what it closes over, its globals, the built-ins."""

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
