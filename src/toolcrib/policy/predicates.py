"""Predicates over one argument of a call: what must be true of the value at a dotted path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from importlib import import_module
from typing import Any, TypeGuard, cast

from toolcrib.values.json import Json, canonical
from toolcrib.values.noun import frozen
from toolcrib.values.pattern import pattern_weight
from toolcrib.values.refusal import ConfigError

MAX_WEIGHT = 20_000
ANY = "*"
Test = Callable[[Json], bool]


class Operation(StrEnum):
    EQUALS = "equals"
    IN = "in"
    MATCHES = "matches"
    LESS = "less"
    GREATER = "greater"
    PRESENT = "present"
    LENGTH = "length"


class Quantity(StrEnum):
    """Where a path leads to several values: whether one of them is enough, or all of them must fit."""

    ONE = "one"
    ALL = "all"


@frozen
class Predicate:
    """One condition on the value at a dotted path; `*` in the path stands for every member of a list or object.

    `LENGTH` counts characters or members: `value` is a number, or an object with `less`, `greater` or `equals`.
    """

    path: str
    operation: Operation
    value: Json = field(hash=False)
    parts: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _test: Test = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = tuple(self.path.split("."))
        if not all(parts):
            raise ConfigError(f"{self.path!r} is not the path of an argument: write 'title', 'options.force' or 'to.*'")
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "_test", _test_of(self.operation, self.value))

    def holds(self, arguments: Mapping[str, Json], quantity: Quantity) -> bool:
        """Whether the arguments fit; what is not there fits nothing but `present = false`."""
        if len(self.parts) == 1 and self.parts[0] != ANY:
            found = [arguments[self.path]] if self.path in arguments else []
        else:
            found = list(_reached(arguments, self.parts))
        if self.operation is Operation.PRESENT:
            return bool(found) is self.value
        if not found:
            return False
        return all(map(self._test, found)) if quantity is Quantity.ALL else any(map(self._test, found))

    def __str__(self) -> str:
        return f"{self.path} {self.operation.value} {canonical(self.value)}"


def _reached(value: Json, parts: Sequence[str]) -> Iterator[Json]:
    if not parts:
        yield value
        return
    first, rest = parts[0], parts[1:]
    if isinstance(value, Mapping):
        members = value.values() if first == ANY else [value[first]] if first in value else []
    elif _is_list(value):
        members = value if first == ANY else [value[int(first)]] if first.isdigit() and int(first) < len(value) else []
    else:
        members = []
    for member in members:
        yield from _reached(member, rest)


def _test_of(operation: Operation, value: Json) -> Test:
    match operation:
        case Operation.EQUALS:
            wanted = _plain(value)
            return lambda found: _plain(found) == wanted
        case Operation.IN:
            return _one_of(value)
        case Operation.MATCHES:
            return _matching(value)
        case Operation.LESS | Operation.GREATER:
            return _compared(operation, value)
        case Operation.PRESENT:
            if not isinstance(value, bool):
                raise ConfigError(f"present must be true or false, not {canonical(value)}")
            return lambda found: True
        case Operation.LENGTH:
            return _measured(value)


def _one_of(value: Json) -> Test:
    if not _is_list(value) or not value:
        raise ConfigError(f"in must be a list of values, not {canonical(value)}")
    wanted = frozenset(map(_plain, value))
    return lambda found: _plain(found) in wanted


def _matching(value: Json) -> Test:
    """The whole text must fit. RE2, so that no text can make an expression take long."""
    if not isinstance(value, str) or not value:
        raise ConfigError(f"matches must be a regular expression, not {canonical(value)}")
    if pattern_weight(value) > MAX_WEIGHT:
        raise ConfigError(f"the regular expression {value[:60]!r} is too large; write a simpler one")
    re2 = cast("Any", import_module("re2"))  # 30 ms that only such rules have to pay
    options = re2.Options()
    options.dot_nl, options.log_errors = True, False
    try:
        compiled = re2.compile(value, options)
    except re2.error as error:
        told = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error
        raise ConfigError(f"the regular expression {value[:60]!r} cannot be read: {told}") from error
    return lambda found: isinstance(found, str) and compiled.fullmatch(found) is not None


def _compared(operation: Operation, value: Json) -> Test:
    if not _is_number(value):
        raise ConfigError(f"{operation.value} must be a number, not {canonical(value)}")
    if operation is Operation.LESS:
        return lambda found: _is_number(found) and found < value
    return lambda found: _is_number(found) and found > value


def _measured(value: Json) -> Test:
    bounds = value if isinstance(value, Mapping) else {"equals": value}
    if not bounds or not bounds.keys() <= {"equals", "less", "greater"} or not all(map(_is_number, bounds.values())):
        raise ConfigError(f"length must be a number, or less, greater or equals with a number, not {canonical(value)}")
    tests = [_test_of(Operation(name), bound) for name, bound in bounds.items()]

    def test(found: Json) -> bool:
        size = len(found) if isinstance(found, (str, Mapping)) or _is_list(found) else None
        return size is not None and all(each(size) for each in tests)

    return test


def _plain(value: Json) -> str:
    """A value as text that is the same for the same JSON value: 1 and 1.0 are one number, true is none."""
    return canonical(int(value) if isinstance(value, float) and value.is_integer() else value)


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)
