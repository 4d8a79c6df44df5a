"""Tools as providers want them listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import ToolSpec


def advertise(specs: Iterable[ToolSpec], names: NameTable, provider: str) -> list[JsonObject]:
    """The provider's own shape for each tool, under its provider-safe name."""
    shape = SHAPES.get(provider)
    if shape is None:
        raise ConfigError(f"{provider!r} is not a known provider: use one of {', '.join(sorted(SHAPES))}")
    outward = names.outward
    return [shape(outward[spec.name], spec) for spec in specs]


def _openai(name: str, spec: ToolSpec) -> JsonObject:
    return {
        "type": "function",
        "function": {"name": name, "description": spec.description, "parameters": spec.input_schema},
    }


def _responses(name: str, spec: ToolSpec) -> JsonObject:
    return {"type": "function", "name": name, "description": spec.description, "parameters": spec.input_schema}


def _anthropic(name: str, spec: ToolSpec) -> JsonObject:
    return {"name": name, "description": spec.description, "input_schema": spec.input_schema}


def _gemini(name: str, spec: ToolSpec) -> JsonObject:
    declared: dict[str, Json] = {
        "name": name,
        "description": spec.description,
        "parametersJsonSchema": spec.input_schema,
    }
    return declared


SHAPES: dict[str, Callable[[str, ToolSpec], JsonObject]] = {
    "openai": _openai,
    "openai_responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
