"""Tools as providers want them listed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from toolcrib.values.json import JsonObject
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import ToolSpec

if TYPE_CHECKING:
    from toolcrib.dialects.native.shared import Advertised

PROVIDERS: dict[str, str] = {
    "openai": "openai_chat",
    "openai_chat": "openai_chat",
    "openai_responses": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


def advertise(specs: Iterable[ToolSpec], names: NameTable, provider: str) -> list[JsonObject]:
    """The provider's own shape for each tool, under its provider-safe name."""
    return advertise_with_report(specs, names, provider).tools


def advertise_with_report(specs: Iterable[ToolSpec], names: NameTable, provider: str) -> Advertised:
    """The same, with every difference between a tool's schema and the one that is sent."""
    if provider not in PROVIDERS:
        raise ConfigError(f"{provider!r} is not a known provider: use one of {', '.join(sorted(PROVIDERS))}")
    dialect = import_module(f"toolcrib.dialects.native.{PROVIDERS[provider]}")  # loaded when a run asks for it
    return dialect.advertise(specs, names)
