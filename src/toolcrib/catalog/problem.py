"""One problem with a value, in words that let a model put it right: place, rule, what came instead."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from toolcrib.values.json import Json, kind
from toolcrib.values.noun import frozen

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_SHOWN = 60


@frozen
class Problem:
    """`path` is written like `items[2].name` (empty for the whole value), `rule` is the schema keyword."""

    path: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def problem_of(error: ValidationError, path: str) -> Problem:
    """The problem that a validator found in the value at `path`."""
    rule = error.kind.name
    if rule == "required":
        return Problem(joined(path, str(getattr(error.kind, "property", ""))), rule, "required field is missing")
    words = _WORDS.get(rule)
    expected = words(error.kind.value) if words else f"a value that satisfies {rule!r}"
    return Problem(path, rule, f"expected {expected}, got {shown(error.instance)}")


def unknown_field(path: str, name: str, known: Sequence[str]) -> Problem:
    """A field that the schema does not have, with the nearest one that it has."""
    close = difflib.get_close_matches(name[:100], known[:200], n=1)
    if close:
        hint = f"; did you mean {close[0]!r}?"
    else:
        hint = f"; known fields: {', '.join(known[:10])}" if known else "; no fields are allowed here"
    return Problem(joined(path, name), "additionalProperties", f"unknown field{hint}")


def path_text(steps: Iterable[str | int]) -> str:
    """A path as a person writes it: `items[2].name`."""
    path = ""
    for step in steps:
        path = f"{path}[{step}]" if isinstance(step, int) else joined(path, step)
    return path


def joined(path: str, name: str) -> str:
    name = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
    return f"{path}.{name}" if path else name


def shown(value: object) -> str:
    """A value's kind; numbers and booleans themselves, never text, which may be long or secret."""
    if isinstance(value, bool):
        return f"boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"{kind(value)} {_number(value)}"
    if isinstance(value, str):
        return f"string of {len(value)} characters" if value else "empty string"
    if isinstance(value, (list, tuple)):
        return f"array of {len(cast('list[object]', value))} items"
    return kind(value)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) and abs(value) < 10**20 else f"{float(value):.6g}"


def _listed(values: object) -> str:
    texts = [value if isinstance(value, str) else str(value).lower() for value in cast("Sequence[Json]", values)]
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
    "pattern": lambda value: f"text that matches {str(value)[:200]}",
    "format": lambda value: f"text in the format {value}{_EXAMPLES.get(str(value), '')}",
    "propertyNames": lambda _: "field names of the allowed form",
    "contains": lambda _: "an array with an item of the required form",
    "not": lambda _: "a value outside the forbidden form",
}
_EXAMPLES = {
    "date-time": " (2026-01-31T12:00:00Z)",
    "date": " (2026-01-31)",
    "time": " (12:00:00)",
    "duration": " (PT1H30M)",
    "uuid": " (123e4567-e89b-12d3-a456-426614174000)",
}
