"""What is wrong with a value, in words that let a model put it right: place, rule, what came instead."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from toolcrib.values.json import Json, kind

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_PROBLEMS = 20
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: `path` like `items[2].name` (empty for the whole value), `rule` the schema keyword."""

    path: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def problem_of(error: ValidationError, schema: Json) -> Iterator[Problem]:
    """The problems in one validation error: a union that failed is reported by the member that was meant."""
    path, rule = path_text(error.instance_path), error.kind.name
    if rule in ("anyOf", "oneOf") and (meant := _meant(error)):
        for inner in meant:
            yield from problem_of(inner, schema)
        return
    if rule in ("additionalProperties", "unevaluatedProperties"):
        known = _known_names(error, schema)
        for name in cast("Sequence[str]", getattr(error.kind, "unexpected", ())):
            yield Problem(_join(path, name), rule, f"unknown field{_nearest(name, known)}")
        return
    if rule == "required":
        name = str(getattr(error.kind, "property", ""))
        yield Problem(_join(path, name), rule, "required field is missing")
        return
    yield Problem(path, rule, _message(rule, error))


def path_text(steps: Iterable[str | int]) -> str:
    """A path as a person writes it: `items[2].name`."""
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else _join(path, step)
    return path


def _message(rule: str, error: ValidationError) -> str:
    words = _WORDS.get(rule)
    expected = words(error.kind.value) if words else f"a value that satisfies {rule!r}"
    return f"expected {expected}, got {shown(error.instance)}"


def shown(value: object) -> str:
    """A value's kind; numbers and booleans themselves, never text, which may be long or secret."""
    if isinstance(value, (bool, int, float)):
        text = str(value).lower() if isinstance(value, bool) else _number(value)
        return f"{kind(value)} {text}"
    if isinstance(value, str):
        return f"string of {len(value)} characters"
    if isinstance(value, (list, tuple)):
        return f"array of {len(cast('list[object]', value))} items"
    return kind(value)


def _number(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) or abs(value) >= 10**20 else str(value)


def _meant(error: ValidationError) -> list[ValidationError]:
    """The errors of the one branch whose kind the value has; none when no branch or several could be meant."""
    branches = cast("list[list[ValidationError]]", getattr(error.kind, "context", []))
    here = list(error.instance_path)
    close = [
        branch
        for branch in branches
        if branch
        and not any(list(each.instance_path) == here and each.kind.name in ("type", "const") for each in branch)
    ]
    return close[0] if len(close) == 1 else []


def _known_names(error: ValidationError, schema: Json) -> list[str]:
    """The fields the schema does know: the properties beside the keyword that failed."""
    node = schema
    for step in error.schema_path[:-1]:
        if isinstance(node, Mapping):
            node = node.get(str(step))
        elif isinstance(node, (list, tuple)) and isinstance(step, int) and step < len(node):
            node = node[step]
        else:
            return []
    properties = node.get("properties") if isinstance(node, Mapping) else None
    return list(properties) if isinstance(properties, Mapping) else []


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name[:100], known[:200], n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known fields: {', '.join(known[:10])}" if known else ""


def _join(path: str, name: str) -> str:
    name = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
    return f"{path}.{name}" if path else name


def _listed(values: object) -> str:
    texts = [str(value) if isinstance(value, str) else str(value).lower() for value in cast("Sequence[Json]", values)]
    more = f" and {len(texts) - 20} more" if len(texts) > 20 else ""
    return ", ".join(text[:_SHOWN] for text in texts[:20]) + more


_WORDS: Mapping[str, Callable[[object], str]] = {
    "type": lambda value: " or ".join(cast("list[str]", value)) if isinstance(value, list) else str(value),
    "enum": lambda value: f"one of {_listed(value)}",
    "const": lambda value: f"exactly {_listed([value])}",
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "exclusiveMinimum": lambda value: f"more than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: f"a multiple of {value}",
    "minLength": lambda value: f"at least {value} characters",
    "maxLength": lambda value: f"at most {value} characters",
    "minItems": lambda value: f"at least {value} items",
    "maxItems": lambda value: f"at most {value} items",
    "minProperties": lambda value: f"at least {value} fields",
    "maxProperties": lambda value: f"at most {value} fields",
    "uniqueItems": lambda _: "items that all differ",
    "pattern": lambda value: f"text that matches {value}",
    "format": lambda value: f"text in the format {value}",
    "anyOf": lambda _: "one of the allowed forms",
    "oneOf": lambda _: "exactly one of the allowed forms",
    "not": lambda _: "a value outside the forbidden form",
    "contains": lambda _: "an array that contains a required item",
    "propertyNames": lambda _: "field names of the allowed form",
}
