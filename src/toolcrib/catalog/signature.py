"""Parameters as JSON Schema: the schema of a call's arguments, and how each argument reaches its parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from toolcrib.catalog.annotated import is_field, read_metadata, refined
from toolcrib.catalog.callee import MISSING, Callee, names_of
from toolcrib.catalog.derive import Derivation, Direction, with_default
from toolcrib.catalog.docstring import Docstring
from toolcrib.catalog.handler import Binding, Injected
from toolcrib.catalog.shape import ANY, NULL, PLAIN, Shape, plain_shape
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.result import ToolResult, ToolReturn
from toolcrib.values.spec import NOTHING

_WORDS: Mapping[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "dict": dict, "list": list}
_NO_PROMISE = (str, bytes, None, type(None), Any, object, ToolReturn, ToolResult)


class DerivedSchema(dict[str, Json]):
    """A schema we wrote from plain types: valid by construction, so the registry need not check it."""

    __slots__ = ()


@dataclass(slots=True)
class Signature:
    """What is known of a function's parameters once they have been read."""

    schema: JsonObject = NOTHING
    bindings: list[Binding] = field(default_factory=list[Binding])
    injected: Injected | None = None
    taken: tuple[str, ...] | None = None
    """The only arguments the function takes, where its schema does not say so itself."""

    def inject(self, name: str, position: int) -> None:
        if self.injected is not None:
            raise RegistrationError(f"{self.injected.name!r} already takes the ToolContext; one parameter is enough")
        self.injected = Injected(name, position == 0)


def read_signature(callee: Callee, doc: Docstring) -> Signature:
    """Derive the schema of the arguments; a parameter annotated with ToolContext is injected instead."""
    if callee.open:
        raise RegistrationError(
            f"{callee.label}: **keywords have no names to describe; write the parameters out, or give input_schema"
        )
    reading = _Reading(callee, doc)
    for position, (name, hint, default) in enumerate(callee.parameters):
        shape = _plain(hint, callee) if default is MISSING else None
        if shape is not None:
            reading.add(name, name, shape, shape.convert, required=True)
        else:
            reading.add_described(position, name, hint, default)
    return reading.finished()


def given_signature(callee: Callee, schema: JsonObject) -> Signature:
    """The author's own schema: arguments arrive as plain JSON, and its fields must be parameters."""
    derivation = Derivation(names_of(callee.function))
    result = Signature(schema)
    names: list[str] = []
    for position, (name, hint, _) in enumerate(callee.parameters):
        if _mentions_context(hint) or _is_context(derivation.resolve(hint)):
            result.inject(name, position)
        else:
            names.append(name)
    properties = schema.get("properties")
    unknown = sorted(set(properties).difference(names)) if isinstance(properties, Mapping) and not callee.open else []
    if unknown:
        raise RegistrationError(f"{callee.label}: input_schema has {', '.join(unknown)}, which are no parameters")
    result.taken = None if callee.open else tuple(names)
    return result


def output_schema(callee: Callee) -> JsonObject | None:
    """The schema of what comes back where the annotation is precise; text, None and Any promise nothing."""
    hint = callee.function.__annotations__.get("return", Any)
    if (shape := _plain(hint, callee)) is None:
        derivation = Derivation(names_of(callee.function), Direction.OUT)
        try:
            hint = derivation.resolve(hint)
            shape = derivation.shape(hint) if _promises(hint) else None
        except RegistrationError:
            return None  # a return type that we cannot describe is no fault: the tool promises nothing
        if shape is None:
            return None
        if derivation.definitions:
            return {**shape.schema, "$defs": derivation.definitions}
    elif not _promises(_WORDS.get(hint, hint) if isinstance(hint, str) else hint):
        return None
    return DerivedSchema(shape.schema) if shape.sound else shape.schema


@dataclass(slots=True)
class _Reading:
    """The parameters read so far."""

    callee: Callee
    doc: Docstring
    properties: dict[str, Json] = field(default_factory=dict[str, Json])
    required: list[str] = field(default_factory=list[str])
    sound: bool = True
    result: Signature = field(default_factory=Signature)
    _derivation: Derivation | None = None

    @property
    def derivation(self) -> Derivation:
        if self._derivation is None:
            self._derivation = Derivation(names_of(self.callee.function))
        return self._derivation

    def add(
        self,
        name: str,
        key: str,
        shape: Shape,
        convert: Callable[[Json], object] | None,
        *,
        required: bool,
        default: Callable[[], object] | None = None,
    ) -> None:
        schema = shape.schema
        if (words := self.doc.parameters.get(name)) and "description" not in schema:
            schema = {**schema, "description": words}
        self.properties[key] = schema
        if required:
            self.required.append(key)
        if not shape.sound:
            self.sound = False
        if convert is not None or default is not None or key != name:
            self.result.bindings.append(Binding(name, key, convert, default))

    def add_described(self, position: int, name: str, hint: object, default: object) -> None:
        """Add a parameter that has a default, metadata or a type of its own; or see that it is the context."""
        try:
            if _mentions_context(hint) or _is_context(hint := self.derivation.resolve(hint)):
                self.result.inject(name, position)
                return
            self._add_derived(name, hint, default)
        except RegistrationError as error:
            raise RegistrationError(f"{self.callee.label}: parameter {name!r}: {error}") from error

    def _add_derived(self, name: str, hint: object, default: object) -> None:
        shape, facts = self.derivation.member(hint)
        filled = facts.default if default is MISSING else None
        if is_field(default):
            facts = read_metadata([default])
            shape, filled, default = refined(shape, facts), facts.default, MISSING
        if default is None and not _takes_null(shape):
            shape = Shape({"anyOf": [shape.schema, NULL.schema]}, _unless_null(shape), shape.sound)
        required = default is MISSING and filled is None
        if not required:
            shape = Shape(with_default(shape.schema, filled() if filled else default), shape.convert, shape.sound)
        self.add(name, facts.alias or name, shape, shape.convert, required=required, default=filled)

    def finished(self) -> Signature:
        schema: dict[str, Json] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        schema["additionalProperties"] = False
        if self._derivation is not None and self._derivation.definitions:
            schema["$defs"] = self._derivation.definitions
        self.result.schema = DerivedSchema(schema) if self.sound else schema
        return self.result


def _plain(hint: object, callee: Callee) -> Shape | None:
    """The shape of a type that needs no looking up: built in, or the name of a built-in one."""
    if isinstance(hint, type):
        return PLAIN.get(hint)
    if isinstance(hint, str) and hint in _WORDS and hint not in callee.function.__globals__:
        return PLAIN.get(_WORDS[hint])
    return None


def _mentions_context(hint: object) -> bool:
    """Whether text can only mean the context: the name is often imported under TYPE_CHECKING alone."""
    if not isinstance(hint, str) or "ToolContext" not in hint:
        return False
    members = hint.removeprefix("typing.").removeprefix("Optional[").removesuffix("]").split("|")
    return any(member.strip().strip("'\"").rsplit(".", 1)[-1] == "ToolContext" for member in members)


def _is_context(hint: object) -> bool:
    if get_origin(hint) in (Union, UnionType, Annotated):
        return any(_is_context(member) for member in get_args(hint))
    return hint is ToolContext


def _takes_null(shape: Shape) -> bool:
    branches, values = shape.schema.get("anyOf"), shape.schema.get("enum")
    return (
        shape.schema.keys().isdisjoint({"type", "anyOf", "enum", "$ref"})
        or (isinstance(branches, list) and NULL.schema in branches)
        or (isinstance(values, list) and None in values)
    )


def _unless_null(shape: Shape) -> Callable[[Json], object] | None:
    convert = shape.convert
    return None if convert is None else lambda value: None if value is None else convert(value)


def _promises(hint: object) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(member is type(None) or _promises(member) for member in get_args(hint))
    if get_origin(hint) is Annotated:
        return _promises(get_args(hint)[0])
    return plain_shape(hint) is not ANY and not any(hint is each for each in _NO_PROMISE)
