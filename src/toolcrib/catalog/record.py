"""Classes with named fields: dataclasses, NamedTuples and TypedDicts, read into one list of fields."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, cast, get_origin

from toolcrib.catalog.docstring import read_docstring
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import RegistrationError

MISSING = dataclasses.MISSING


@frozen
class Field:
    """`default` is MISSING where there is none to show; a field of a TypedDict can be optional without one."""

    name: str
    hint: object
    required: bool
    default: object = MISSING
    description: str | None = None


def fields_of(cls: type[object]) -> list[Field]:
    """The fields that JSON fills by name."""
    if is_typed_dict(cls):
        return _typed_dict_fields(cls)
    return _dataclass_fields(cls) if dataclasses.is_dataclass(cls) else _named_tuple_fields(cls)


def is_typed_dict(cls: type[object]) -> bool:
    """Also for the class of typing_extensions, which `typing` does not know before Python 3.12."""
    return typing.is_typeddict(cls) or type(cls).__name__ == "_TypedDictMeta"


def _dataclass_fields(cls: type[object]) -> list[Field]:
    hints, words = _hints(cls), _words(cls)
    fields: list[Field] = []
    for item in dataclasses.fields(cast("Any", cls)):
        if item.init:
            factory = item.default_factory
            default: object = item.default if factory is MISSING else factory()
            description = item.metadata.get("description") or words.get(item.name)
            fields.append(Field(item.name, hints[item.name], default is MISSING, default, description))
    return fields


def _named_tuple_fields(cls: type[object]) -> list[Field]:
    hints, words = _hints(cls), _words(cls)
    defaults = cast("Mapping[str, object]", getattr(cls, "_field_defaults", {}))
    names = cast("tuple[str, ...]", getattr(cls, "_fields", ()))
    return [
        Field(name, hints.get(name, Any), name not in defaults, defaults.get(name, MISSING), words.get(name))
        for name in names
    ]


def _typed_dict_fields(cls: type[object]) -> list[Field]:
    hints, words = _hints(cls), _words(cls)
    keys = cast("frozenset[str]", getattr(cls, "__required_keys__", ()))
    return [
        Field(name, hint, _is_required(hint, name in keys), MISSING, words.get(name)) for name, hint in hints.items()
    ]


def _is_required(hint: object, otherwise: bool) -> bool:
    """`__required_keys__` cannot see `NotRequired[…]` where annotations are text, so the resolved hint decides."""
    wrapper = getattr(get_origin(hint), "_name", None)
    return wrapper == "Required" if wrapper in ("Required", "NotRequired") else otherwise


def _hints(cls: type[object]) -> dict[str, object]:
    try:
        return typing.get_type_hints(cls, localns={cls.__name__: cls}, include_extras=True)
    except Exception as error:
        raise RegistrationError(
            f"the field types of {cls.__name__} cannot be resolved ({error}); define them at module level"
        ) from error


def _words(cls: type[object]) -> Mapping[str, str]:
    """Field descriptions from the class docstring; the one that `dataclass` writes by itself says nothing."""
    doc = cls.__dict__.get("__doc__")
    if not isinstance(doc, str) or doc.startswith(f"{cls.__name__}("):
        return {}
    return read_docstring(doc).parameters
