"""Types that only pydantic understands. It is never imported here: whoever uses such a type has loaded it already."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal, cast, get_origin

from toolcrib.catalog.convert import Unconvertible
from toolcrib.catalog.shape import Shape, free_name
from toolcrib.values.json import Json
from toolcrib.values.refusal import RegistrationError

_HOOK = "__get_pydantic_core_schema__"


def is_foreign(hint: object) -> bool:
    """Whether a type, or metadata in an `Annotated`, is pydantic's own."""
    if "pydantic" not in sys.modules:
        return False
    if get_origin(hint) is Annotated:
        metadata = cast("tuple[object, ...]", getattr(hint, "__metadata__", ()))
        return any(hasattr(item, _HOOK) or getattr(item, "discriminator", None) for item in metadata)
    cls = get_origin(hint) or hint
    return isinstance(cls, type) and (hasattr(cast("object", cls), _HOOK) or "__pydantic_core_schema__" in vars(cls))


def foreign_shape(hint: object, definitions: dict[str, Json], mode: Literal["validation", "serialization"]) -> Shape:
    """The shape of a pydantic type; its definitions join those of the signature."""
    pydantic: Any = sys.modules["pydantic"]
    try:
        adapter = pydantic.TypeAdapter(hint)
        schema = cast("dict[str, Json]", adapter.json_schema(mode=mode))
        inner = cast("dict[str, Json]", schema.pop("$defs", {}))
        if any(definitions.get(name, definition) != definition for name, definition in inner.items()):
            prefix = free_name(f"{getattr(hint, '__name__', 'Model')}_", definitions)
            template = f"#/$defs/{prefix}{{model}}"
            schema = cast("dict[str, Json]", adapter.json_schema(mode=mode, ref_template=template))
            inner = {prefix + name: item for name, item in cast("dict[str, Json]", schema.pop("$defs")).items()}
    except (pydantic.PydanticSchemaGenerationError, pydantic.PydanticUserError, ImportError) as error:
        raise RegistrationError(f"pydantic cannot describe {hint!r}: {error}") from error
    definitions.update(inner)

    def convert(value: Json) -> object:
        try:
            return adapter.validate_python(value)
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            raise Unconvertible(first["type"], first["msg"], first["loc"]) from error

    return Shape(schema, convert, sound=False)
