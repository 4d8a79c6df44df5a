"""Schemas as authors write them: a JSON Schema, or a pydantic model that can give one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from toolcrib.sources.module.beside import ModuleProblem
from toolcrib.values.json import Json, JsonError, JsonObject, check_json


def schema_of(given: object, what: str) -> JsonObject:
    """The JSON Schema that something stands for."""
    found = given
    if (describe := getattr(given, "model_json_schema", None)) is not None and callable(describe):
        found = cast("Callable[[], object]", describe)()
    if not isinstance(found, Mapping):
        raise ModuleProblem(f"{what} must be a JSON Schema (a dict) or a pydantic model, not {type(given).__name__}")
    try:
        check_json(cast("object", found))
    except JsonError as error:
        raise ModuleProblem(f"{what} is not JSON: {error}") from error
    return cast("Mapping[str, Json]", found)
