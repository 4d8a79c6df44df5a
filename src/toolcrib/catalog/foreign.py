"""Types that only pydantic understands. Pydantic is imported here, and only once a signature uses such a type."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, cast, get_origin

from toolcrib.catalog.convert import Convert, Unconvertible
from toolcrib.catalog.shape import Shape
from toolcrib.catalog.validate import Validator
from toolcrib.values.json import Json

_HOOK = "__get_pydantic_core_schema__"


def is_pydantic(hint: object) -> bool:
    """Whether a type, or metadata in an `Annotated`, is pydantic's own."""
    if "pydantic" not in sys.modules:
        return False
    if get_origin(hint) is Annotated:
        metadata = cast("tuple[object, ...]", getattr(hint, "__metadata__", ()))
        return any(hasattr(item, _HOOK) or getattr(item, "discriminator", None) for item in metadata)
    cls = get_origin(hint) or hint
    return isinstance(cls, type) and (hasattr(cls, _HOOK) or hasattr(cls, "__pydantic_core_schema__"))


def shape(hint: object, definitions: dict[str, Json]) -> Shape:
    """The shape of a pydantic type; its definitions join those of the signature."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter[object](hint)
    schema = cast("dict[str, Json]", adapter.json_schema())
    inner = cast("dict[str, Json]", schema.pop("$defs", {}))
    if any(definitions.get(name, definition) != definition for name, definition in inner.items()):
        prefix = free_name(f"{getattr(hint, '__name__', 'Model')}_", definitions)
        schema = cast("dict[str, Json]", adapter.json_schema(ref_template=f"#/$defs/{prefix}{{model}}"))
        inner = {prefix + name: item for name, item in cast("dict[str, Json]", schema.pop("$defs")).items()}
    definitions.update(inner)

    def convert(value: Json) -> object:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            raise Unconvertible(first["type"], first["msg"], first["loc"]) from error

    return Shape(schema, convert, sound=False)


def first_match(members: Sequence[Shape], definitions: Mapping[str, Json]) -> Convert:
    """Convert by the first member of a union whose schema the value satisfies; validators are made at first use."""
    validators: list[Validator] = []

    def convert(value: Json) -> object:
        if not validators:
            validators.extend(Validator({**member.schema, "$defs": definitions}) for member in members)
        refused: Unconvertible | None = None
        for member, validator in zip(members, validators, strict=True):
            if not validator.is_valid(value):
                continue
            try:
                return member.convert(value) if member.convert else value
            except Unconvertible as error:
                refused = refused or error
        raise refused or Unconvertible("anyOf", "matches none of the allowed forms")

    return convert


def free_name(name: str, taken: Mapping[str, object]) -> str:
    """The name, or the name with a number where it is taken."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}{number}", number + 1
    return candidate
