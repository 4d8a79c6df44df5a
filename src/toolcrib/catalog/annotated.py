"""`Annotated` metadata, read by attribute names: plain text, constraint objects, and pydantic's `Field`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from toolcrib.catalog.convert import Convert, Unconvertible, json_of
from toolcrib.catalog.shape import Shape
from toolcrib.values.json import Json
from toolcrib.values.refusal import RegistrationError

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_NUMERIC = {**_BOUNDS, "multiple_of": "multipleOf"}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_CONSTRAINTS = (*_NUMERIC, "min_length", "max_length", "pattern")


@dataclass(slots=True)
class Facts:
    """What metadata says of one parameter or field, beside its type."""

    constraints: dict[str, object] = field(default_factory=dict[str, object])
    words: dict[str, Json] = field(default_factory=dict[str, Json])
    alias: str | None = None
    default: Callable[[], object] | None = None
    checks: list[Callable[[object], bool]] = field(default_factory=list[Callable[[object], bool]])


def read_metadata(metadata: Iterable[object]) -> Facts:
    """Collect what is understood; metadata of others is left alone, as its authors expect."""
    facts = Facts()
    for item in _flattened(metadata):
        if isinstance(item, str):
            facts.words["description"] = item
        else:
            _read_attributes(item, facts)
    return facts


def is_field(value: object) -> bool:
    """Whether a default value is pydantic's `Field(...)`, told by its attributes."""
    return callable(getattr(value, "is_required", None)) and hasattr(value, "metadata")


def refined(shape: Shape, facts: Facts) -> Shape:
    """The shape with constraints and words written into its schema."""
    schema = dict(shape.schema)
    for name, value in facts.constraints.items():
        _constrain(schema, name, value)
    schema.update(facts.words)
    convert = _checked(shape.convert, facts.checks) if facts.checks else shape.convert
    sound = shape.sound and not facts.constraints and facts.words.keys() <= {"description"}
    return replace(shape, schema=schema, convert=convert, sound=sound)


def _flattened(metadata: Iterable[object]) -> Iterator[object]:
    for item in metadata:
        yield item
        inner = getattr(item, "metadata", None)
        if isinstance(inner, (list, tuple)):
            yield from cast("Iterable[object]", inner)


def _read_attributes(item: object, facts: Facts) -> None:
    for name in _CONSTRAINTS:
        if (value := getattr(item, name, None)) is not None and not callable(value):
            facts.constraints[name] = value
    for name in ("description", "title"):
        if isinstance(text := getattr(item, name, None), str):
            facts.words[name] = text
    examples = getattr(item, "examples", None)
    if isinstance(examples, (list, tuple)):
        facts.words["examples"] = [json_of(example) for example in cast("Iterable[object]", examples)]
    extra = getattr(item, "json_schema_extra", None)
    if isinstance(extra, Mapping):
        facts.words.update(cast("Mapping[str, Json]", extra))
    if isinstance(alias := getattr(item, "validation_alias", None) or getattr(item, "alias", None), str):
        facts.alias = alias
    if type(item).__name__ == "Predicate" and callable(check := getattr(item, "func", None)):
        facts.checks.append(cast("Callable[[object], bool]", check))
    if is_field(item):
        _read_default(item, facts)


def _read_default(item: object, facts: Facts) -> None:
    if cast("Callable[[], bool]", getattr(item, "is_required"))():  # noqa: B009
        return
    factory = getattr(item, "default_factory", None)
    value: object = getattr(item, "default", None)
    facts.default = cast("Callable[[], object]", factory) if callable(factory) else lambda: value


def _constrain(schema: dict[str, Json], name: str, value: object) -> None:
    """Write one constraint where its JSON kind can hold it: into the branches of a union, too."""
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        schema["anyOf"] = [_constrained(cast("dict[str, Json]", branch), name, value) for branch in branches]
        return
    keyword = _keyword(schema.get("type"), name)
    if keyword is None:
        of = schema.get("format") or schema.get("type") or "any value"
        raise RegistrationError(f"the constraint {name}={value!r} does not apply to {of}")
    schema[keyword] = _bound(name, value)


def _constrained(branch: dict[str, Json], name: str, value: object) -> dict[str, Json]:
    keyword = _keyword(branch.get("type"), name)
    return branch if keyword is None else {**branch, keyword: _bound(name, value)}


def _keyword(kind: Json, name: str) -> str | None:
    if kind in ("integer", "number"):
        return _NUMERIC.get(name)
    if name == "pattern":
        return "pattern" if kind == "string" else None
    return _LENGTHS.get(str(kind), {}).get(name)


def _bound(name: str, value: object) -> Json:
    if name == "pattern":
        return cast("str", getattr(value, "pattern", value))
    number = json_of(value)
    return float(number) if isinstance(number, str) else number


def _checked(convert: Convert | None, checks: list[Callable[[object], bool]]) -> Convert:
    def convert_and_check(value: Json) -> object:
        converted = convert(value) if convert else value
        for check in checks:
            if not check(converted):
                raise Unconvertible("predicate", f"does not satisfy {getattr(check, '__name__', 'the predicate')}")
        return converted

    return convert_and_check
