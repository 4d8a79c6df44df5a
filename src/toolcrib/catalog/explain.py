"""Why a value does not satisfy its schema: a walk in our own steps, because a validator that lists every error takes
exponential time on recursive unions and seconds on a long array. It runs only after a validator has said no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from toolcrib.catalog.problem import Problem, joined, problem_of, shown, unknown_field
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import SchemaError
from toolcrib.values.schema import resolve

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MAX_PROBLEMS = 20
MAX_STEPS = 1_000
MAX_LEVELS = 100
_DEFINITIONS = ("$defs", "definitions", "$schema")
_SIMPLE = frozenset(
    {"type", "enum", "const", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "pattern"}
    | {"format", "dependentRequired"}
)
_WHOLE = ("not", "if", "contains", "dependentSchemas", "dependencies", "propertyNames")
"""Keywords whose subschemas are not worth a walk: the validator is asked about each as a whole."""


class Checker(Protocol):
    """A compiled schema, as far as the walk needs one."""

    def is_valid(self, instance: Json, /) -> bool: ...
    def iter_errors(self, instance: Json, /) -> Iterable[ValidationError]: ...


Compile = Callable[[JsonObject], Checker]


def explain(schema: JsonObject, value: Json, compile_small: Compile) -> tuple[Problem, ...]:
    """Up to twenty problems, each at its place; one that names no place when the walk finds none."""
    found = _Walk(schema, compile_small).visit(schema, value, "")
    if not found:
        found = [Problem("", "schema", f"expected a value that satisfies the whole schema, got {shown(value)}")]
    return tuple(dict.fromkeys(found))[:MAX_PROBLEMS]


@dataclass(slots=True)
class _Walk:
    """One walk. Each pair of schema and place is looked at once, so that recursion through unions stays linear."""

    root: JsonObject
    compile_small: Compile
    steps: int = 0
    level: int = 0
    seen: dict[tuple[int, str], list[Problem]] = field(default_factory=dict[tuple[int, str], list[Problem]])
    compiled: dict[tuple[int, str], Checker | None] = field(
        default_factory=lambda: dict[tuple[int, str], Checker | None]()
    )

    def visit(self, schema: Json, value: Json, path: str) -> list[Problem]:
        if schema is False:
            return [Problem(path, "false", f"expected nothing here, got {shown(value)}")]
        if not isinstance(schema, Mapping):
            return []
        place = (id(schema), path)
        if place not in self.seen and self.steps < MAX_STEPS and self.level < MAX_LEVELS:
            self.steps += 1
            self.level += 1
            self.seen[place] = []
            self.seen[place] = list(islice(self._problems(schema, value, path), MAX_PROBLEMS))
            self.level -= 1
        return self.seen.get(place, [])

    def _problems(self, schema: JsonObject, value: Json, path: str) -> Iterator[Problem]:
        yield from self._here(schema, value, path)
        if isinstance(reference := schema.get("$ref"), str):
            yield from self.visit(resolve(self.root, reference), value, path)
        if isinstance(value, Mapping):
            yield from self._fields(schema, value, path)
        elif isinstance(value, (list, tuple)):
            yield from self._items(schema, value, path)
        for part in _list(schema.get("allOf")):
            yield from self.visit(part, value, path)
        for rule in ("anyOf", "oneOf"):
            if branches := _list(schema.get(rule)):
                yield from self._union(rule, branches, value, path)

    def _here(self, schema: JsonObject, value: Json, path: str) -> Iterator[Problem]:
        """What can be said of this value without looking inside."""
        if (checker := self._checker(schema, "simple", _SIMPLE)) is not None:
            yield from (problem_of(error, path) for error in checker.iter_errors(value))
        for key in _WHOLE:
            if key in schema and self._fails(schema, key, {key, "then", "else"} if key == "if" else {key}, value):
                yield Problem(path, key, f"expected a value that satisfies {key!r}, got {shown(value)}")

    def _fields(self, schema: JsonObject, value: JsonObject, path: str) -> Iterator[Problem]:
        properties = _mapping(schema.get("properties"))
        for name, member in properties.items():
            if name in value:
                yield from self.visit(member, value[name], joined(path, name))
        others = [name for name in value if name not in properties]
        rule = "additionalProperties" if "additionalProperties" in schema else "unevaluatedProperties"
        extra = schema.get(rule, True)
        if not others or (extra is True and "patternProperties" not in schema):
            return
        matched = self._matched(_mapping(schema.get("patternProperties")), others)
        known = list(properties) if rule == "additionalProperties" else list(self._names(schema, 0))
        for name in others[:MAX_STEPS]:
            if name in matched:
                for member in matched[name]:
                    yield from self.visit(member, value[name], joined(path, name))
            elif extra is not False:
                yield from self.visit(extra, value[name], joined(path, name))
            elif name not in known:
                yield unknown_field(path, name, known)

    def _items(self, schema: JsonObject, value: Sequence[Json], path: str) -> Iterator[Problem]:
        items = schema.get("items", True)
        first = _list(schema.get("prefixItems")) or _list(items)
        rest = schema.get("additionalItems", True) if isinstance(items, (list, tuple)) else items
        for index, member in enumerate(value[: len(first)]):
            yield from self.visit(first[index], member, f"{path}[{index}]")
        if rest is False or isinstance(rest, Mapping):
            for index in self._wrong(rest, value, len(first), len(value)):
                yield from self.visit(rest, value[index], f"{path}[{index}]")

    def _wrong(self, member: Json, value: Sequence[Json], start: int, end: int) -> Iterator[int]:
        """The places of wrong items in a long array, found by halving: the validator skips good halves at its speed."""
        if end - start > 16 and isinstance(member, Mapping):
            checker = self._compiled((id(member), "items"), {"items": member}, with_definitions=True)
            if checker is not None:
                if checker.is_valid(value[start:end]):
                    return
                middle = (start + end) // 2
                yield from self._wrong(member, value, start, middle)
                yield from self._wrong(member, value, middle, end)
                return
        yield from range(start, end)

    def _union(self, rule: str, branches: list[Json], value: Json, path: str) -> Iterator[Problem]:
        """The problems of the branch that was meant; none when a branch is satisfied."""
        tried = [self.visit(branch, value, path) for branch in branches if self._could_be(branch, value)]
        fitting = sum(not problems for problems in tried)
        if rule == "oneOf" and fitting > 1:
            yield Problem(path, rule, f"expected exactly one of the allowed forms, but {shown(value)} fits several")
        elif fitting == 0 and len(tried) == 1:
            yield from tried[0]
        elif fitting == 0:
            deepest = max((problem for problems in tried for problem in problems), key=_depth, default=None)
            if deepest is not None and len(deepest.path) > len(path):
                yield deepest
            else:
                forms = ", ".join(dict.fromkeys(self._form(branch) for branch in branches[:10]))
                yield Problem(path, rule, f"expected one of the forms {forms}, got {shown(value)}")

    def _could_be(self, branch: Json, value: Json) -> bool:
        """Whether the value has the kind of a branch, and its tag where fields with one value tell branches apart."""
        schema = self._resolved(branch)
        if self._fails(schema, "head", {"type", "const", "enum"}, value):
            return False
        if not isinstance(value, Mapping):
            return True
        return all(
            not isinstance(member, Mapping) or "const" not in member or member["const"] == value[name]
            for name, member in _mapping(schema.get("properties")).items()
            if name in value
        )

    def _matched(self, patterns: Mapping[str, Json], names: list[str]) -> dict[str, list[Json]]:
        """Which names match which patterns, asked of the engine that enforces them."""
        matched: dict[str, list[Json]] = {}
        for pattern, schema in patterns.items():
            checker = self.compile_small({"pattern": pattern})
            for name in names[:MAX_STEPS]:
                if checker.is_valid(name):
                    matched.setdefault(name, []).append(schema)
        return matched

    def _names(self, schema: Json, depth: int) -> Iterator[str]:
        """Field names known to a schema or to the parts that apply to the same value."""
        if not isinstance(schema, Mapping) or depth > 8:
            return
        yield from _mapping(schema.get("properties"))
        if isinstance(reference := schema.get("$ref"), str):
            yield from self._names(resolve(self.root, reference), depth + 1)
        for key in ("allOf", "anyOf", "oneOf"):
            for part in _list(schema.get(key)):
                yield from self._names(part, depth + 1)
        for key in ("if", "then", "else"):
            yield from self._names(schema.get(key), depth + 1)

    def _resolved(self, branch: Json) -> JsonObject:
        for _ in range(8):
            reference = branch.get("$ref") if isinstance(branch, Mapping) else None
            if not isinstance(reference, str):
                break
            branch = resolve(self.root, reference)
        return _mapping(branch)

    def _form(self, branch: Json) -> str:
        schema = self._resolved(branch)
        name = schema.get("title") or schema.get("type") or f"one of {len(_list(schema.get('enum')))} values"
        return name if isinstance(name, str) else " or ".join(map(str, _list(name)))

    def _fails(self, schema: JsonObject, use: str, keys: Set[str], value: Json) -> bool:
        checker = self._checker(schema, use, keys)
        return checker is not None and not checker.is_valid(value)

    def _checker(self, schema: JsonObject, use: str, keys: Set[str]) -> Checker | None:
        asked = {key: schema[key] for key in schema if key in keys}
        return self._compiled((id(schema), use), asked, with_definitions=use in _WHOLE) if asked else None

    def _compiled(self, place: tuple[int, str], asked: JsonObject, *, with_definitions: bool) -> Checker | None:
        if place not in self.compiled:
            shared = {key: self.root[key] for key in _DEFINITIONS if key in self.root} if with_definitions else {}
            try:
                self.compiled[place] = self.compile_small({**shared, **asked})
            except SchemaError:
                self.compiled[place] = None  # it refers to a place outside the definitions: look item by item
        return self.compiled[place]


def _depth(problem: Problem) -> int:
    return problem.path.count(".") + problem.path.count("[")


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else dict[str, Json]()
