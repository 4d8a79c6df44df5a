"""Tools as providers want them listed."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

from toolcrib.dialects.native import anthropic, gemini, openai_chat, openai_responses
from toolcrib.dialects.native.shared import Advertised, Strict
from toolcrib.values.json import JsonObject
from toolcrib.values.name import NameTable
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import ToolSpec

PROVIDERS: dict[str, ModuleType] = {
    "openai": openai_chat,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def advertise(specs: Iterable[ToolSpec], names: NameTable, provider: str) -> list[JsonObject]:
    """The provider's own shape for each tool, under its provider-safe name."""
    return advertise_with_report(specs, names, provider).tools


def advertise_with_report(
    specs: Iterable[ToolSpec], names: NameTable, provider: str, strict: Strict = Strict.OFF
) -> Advertised:
    """The same, with every difference between a tool's schema and the one that is sent."""
    dialect = PROVIDERS.get(provider)
    if dialect is None:
        raise ConfigError(f"{provider!r} is not a known provider: use one of {', '.join(sorted(PROVIDERS))}")
    listed: Advertised = dialect.advertise(specs, names, strict)
    return listed
