"""JSON Schema straight from Python types, without pydantic unless a type is pydantic's own."""

from __future__ import annotations

import types
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from typing import Annotated, ForwardRef, Literal, NewType, TypeVar, Union, cast, get_args, get_origin

from toolcrib.catalog import convert
from toolcrib.catalog.annotated import Facts, read_metadata, refined
from toolcrib.catalog.convert import Convert, json_of
from toolcrib.catalog.foreign import foreign_shape, is_foreign
from toolcrib.catalog.record import MISSING, Field, fields_of, is_typed_dict
from toolcrib.catalog.shape import ANY, Shape, free_name, plain_shape
from toolcrib.catalog.union import union_convert
from toolcrib.values.json import Json
from toolcrib.values.refusal import RegistrationError

_LISTS: frozenset[object] = frozenset({list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection})
_SETS: Mapping[object, Callable[[Sequence[object]], object]] = {
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}
_MAPPINGS: frozenset[object] = frozenset({dict, abc.Mapping, abc.MutableMapping})
_WRAPPERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"})
_ADVICE = (
    "use str, int, float, bool, None, list, tuple, set, dict[str, …], Literal, an Enum, a TypedDict, a NamedTuple, "
    "a dataclass, a pydantic model, datetime, date, time, timedelta, Decimal, UUID, Path or bytes"
)


class Direction(Enum):
    """Arguments come in, results go out; pydantic describes the two differently."""

    IN = "validation"
    OUT = "serialization"


@dataclass(slots=True)
class Derivation:
    """Derives the types of one signature; definitions of recursive types collect here, for `$defs`."""

    names: dict[str, object]
    direction: Direction = Direction.IN
    definitions: dict[str, Json] = field(default_factory=dict[str, Json])
    open: dict[object, _Recursion] = field(default_factory=lambda: dict[object, _Recursion]())
    bindings: dict[object, object] = field(default_factory=dict[object, object])

    def shape(self, hint: object) -> Shape:
        """The shape of a type; RegistrationError names the type and what would work."""
        hint = self.resolve(hint)
        if (known := plain_shape(hint)) is not None:
            return known
        if is_foreign(hint):
            return foreign_shape(hint, self.definitions, self.direction.value)
        origin = get_origin(hint)
        return self._single(hint) if origin is None else self._generic(hint, origin, get_args(hint))

    def resolve(self, hint: object) -> object:
        """A type written as text, looked up where the function was defined."""
        text = hint.__forward_arg__ if isinstance(hint, ForwardRef) else hint
        if not isinstance(text, str):
            return hint
        try:
            return self.resolve(eval(text, self.names))
        except Exception as error:
            raise RegistrationError(
                f"the type {text!r} cannot be resolved ({error}); import it or define it at module level, "
                "not only under TYPE_CHECKING or inside a function"
            ) from error

    def _single(self, hint: object) -> Shape:
        if isinstance(hint, TypeVar):
            bound = self.bindings.get(hint, hint.__bound__)
            return self.shape(bound) if bound is not None else ANY
        if isinstance(hint, NewType):
            return self.shape(hint.__supertype__)
        if hasattr(hint, "__value__"):
            return self._named(hint, lambda: self.shape(getattr(hint, "__value__")))  # noqa: B009
        if isinstance(hint, type):
            return self._class(cast("type[object]", hint), cast("object", hint))
        raise _unsupported(hint)

    def _generic(self, hint: object, origin: object, args: tuple[object, ...]) -> Shape:
        if origin is Annotated:
            return refined(self.shape(args[0]), read_metadata(cast("tuple[object, ...]", hint.__metadata__)))  # type: ignore[attr-defined]
        if origin is Union or origin is types.UnionType:
            return self._named(hint, lambda: self._union(args)) if _is_hashable(hint) else self._union(args)
        if origin is Literal:
            return _choices([(_literal(value), value) for value in args])
        if origin in _LISTS:
            return self._array(args[0])
        if origin in _SETS:
            return self._set(_SETS[origin], args[0])
        if origin is tuple:
            return self._tuple(args)
        if origin in _MAPPINGS:
            return self._mapping(*args)
        if getattr(origin, "_name", None) in _WRAPPERS:
            return self.shape(args[0])
        return self._parametrised(hint, origin, args)

    def _parametrised(self, hint: object, origin: object, args: tuple[object, ...]) -> Shape:
        outer = self.bindings
        self.bindings = {**outer, **dict(zip(getattr(origin, "__parameters__", ()), args, strict=False))}
        try:
            if isinstance(origin, type):
                return self._class(cast("type[object]", origin), hint)
            if hasattr(origin, "__value__"):
                return self._named(hint, lambda: self.shape(getattr(origin, "__value__")))  # noqa: B009
            raise _unsupported(hint)
        finally:
            self.bindings = outer

    def _class(self, cls: type[object], hint: object) -> Shape:
        if issubclass(cls, Enum):
            return _choices([(_enum_value(member), member) for member in cls])
        if is_typed_dict(cls) or is_dataclass(cls) or hasattr(cls, "_field_defaults"):
            return self._named(hint, lambda: self._record(cls))
        raise _unsupported(hint)

    def _named(self, hint: object, derive: Callable[[], Shape]) -> Shape:
        """Derive a type that may contain itself: it is written in place unless it does, then into `$defs`."""
        if (recursion := self.open.get(hint)) is not None:
            return recursion.reference(self.definitions)
        recursion = self.open[hint] = _Recursion(getattr(hint, "__name__", "Type"))
        try:
            shape = derive()
        finally:
            del self.open[hint]
        return recursion.closed(shape, self.definitions)

    def _array(self, hint: object) -> Shape:
        member = self.shape(hint)
        schema: dict[str, Json] = {"type": "array", "items": member.schema}
        return Shape(schema, convert.each(member.convert) if member.convert else None, member.sound)

    def _set(self, collect: Callable[[Sequence[object]], object], hint: object) -> Shape:
        member = self.shape(hint)
        schema: dict[str, Json] = {"type": "array", "items": member.schema, "uniqueItems": True}
        return Shape(schema, convert.collected(collect, member.convert), member.sound)

    def _tuple(self, args: tuple[object, ...]) -> Shape:
        if len(args) == 2 and args[1] is Ellipsis:
            member = self.shape(args[0])
            schema: dict[str, Json] = {"type": "array", "items": member.schema}
            return Shape(schema, convert.collected(tuple, member.convert), member.sound)
        members = [self.shape(arg) for arg in args if arg != ()]
        schema = {"type": "array", "items": False, "minItems": len(members), "maxItems": len(members)}
        if members:
            schema["prefixItems"] = [member.schema for member in members]
        sound = all(member.sound for member in members)
        return Shape(schema, convert.positions([member.convert for member in members]), sound)

    def _mapping(self, key_hint: object, hint: object) -> Shape:
        key, member = self.shape(key_hint), self.shape(hint)
        if key.schema.get("type") != "string":
            raise RegistrationError(f"the keys of a JSON object are strings, so {_name(key_hint)} cannot be a key type")
        schema: dict[str, Json] = {"type": "object", "additionalProperties": member.schema}
        if key.schema.keys() != {"type"}:
            schema["propertyNames"] = key.schema
        sound = key.sound and member.sound
        if key.convert:
            return Shape(schema, convert.each_key(key.convert, member.convert), sound)
        return Shape(schema, convert.each_value(member.convert) if member.convert else None, sound)

    def _union(self, args: tuple[object, ...]) -> Shape:
        members = [self.shape(arg) for arg in args]
        if len(members) == 1:
            return members[0]
        schema: dict[str, Json] = {"anyOf": [member.schema for member in members]}
        return Shape(schema, union_convert(members, self.definitions), all(member.sound for member in members))

    def _record(self, cls: type[object]) -> Shape:
        """A class with named fields: an object whose fields are all known."""
        properties: dict[str, Json] = {}
        converts: dict[str, Convert] = {}
        names: dict[str, str] = {}
        required: list[str] = []
        sound = True
        for item in fields_of(cls):
            shape, facts = self.member(item.hint)
            key = facts.alias or item.name
            properties[key] = _described(shape.schema, item)
            if shape.convert:
                converts[key] = shape.convert
            if key != item.name:
                names[key] = item.name
            if item.required:
                required.append(key)
            sound = sound and shape.sound
        schema: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required
        if not is_typed_dict(cls):
            return Shape(schema, convert.record(cls, converts, names), sound)
        return Shape(schema, convert.fields(converts) if converts else None, sound)

    def member(self, hint: object) -> tuple[Shape, Facts]:
        """The shape of a parameter or field, with what its metadata says beside the type."""
        hint = self.resolve(hint)
        metadata = getattr(hint, "__metadata__", ()) if get_origin(hint) is Annotated else ()
        return self.shape(hint), read_metadata(metadata)


@dataclass(slots=True)
class _Recursion:
    """A type being derived. Once something inside refers to it, it gets a name in `$defs`."""

    name: str
    reserved: str = ""
    convert: Convert | None = None

    def reference(self, definitions: dict[str, Json]) -> Shape:
        if not self.reserved:
            self.reserved = free_name(self.name, definitions)
            definitions[self.reserved] = {}
        return Shape({"$ref": f"#/$defs/{self.reserved}"}, self._later)

    def closed(self, shape: Shape, definitions: dict[str, Json]) -> Shape:
        if not self.reserved:
            return shape
        self.convert = shape.convert
        definitions[self.reserved] = shape.schema
        return Shape({"$ref": f"#/$defs/{self.reserved}"}, shape.convert, shape.sound)

    def _later(self, value: Json) -> object:
        return self.convert(value) if self.convert else value


def with_default(schema: dict[str, Json], default: object) -> dict[str, Json]:
    """The schema with its default written down, where the default has a JSON form."""
    try:
        return {**schema, "default": json_of(default)}
    except TypeError:
        return schema


def _described(schema: dict[str, Json], item: Field) -> dict[str, Json]:
    if item.description and "description" not in schema:
        schema = {**schema, "description": item.description}
    return schema if item.default is MISSING else with_default(schema, item.default)


def _choices(choices: Sequence[tuple[Json, object]]) -> Shape:
    values = [value for value, _ in choices]
    schema: dict[str, Json] = {"enum": values}
    kinds = {convert.kind(value) for value in values}
    if len(kinds) == 1:
        schema["type"] = kinds.pop()
    if all(type(value) is str and value is member for value, member in choices):
        return Shape(schema, None, len(values) > 0 and len(values) <= 1_000)
    table: dict[tuple[bool, object], object] = {(isinstance(value, bool), value): member for value, member in choices}
    return Shape(schema, convert.member_of(table), len(values) > 0 and len(values) <= 1_000)


def _literal(value: object) -> Json:
    if value is None or isinstance(value, (str, int)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return _enum_value(value)
    raise RegistrationError(f"the literal {value!r} is not JSON; use text, numbers, booleans or None")


def _enum_value(member: Enum) -> Json:
    value: object = member.value
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise RegistrationError(
        f"{type(member).__name__}.{member.name} has a {type(value).__name__} as its value; "
        "give the members text or numbers, which a model can write"
    )


def _is_hashable(hint: object) -> bool:
    """Whether a type can be looked up; metadata inside it may forbid that."""
    try:
        hash(hint)
    except TypeError:
        return False
    return True


def _unsupported(hint: object) -> RegistrationError:
    return RegistrationError(f"the type {_name(hint)} has no JSON form; {_ADVICE}")


def _name(hint: object) -> str:
    return hint.__qualname__ if isinstance(hint, type) else str(hint).replace("typing.", "")
