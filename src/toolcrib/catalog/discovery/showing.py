"""How tools are shown to models, as the operator wants it."""

from __future__ import annotations

import json
from enum import StrEnum

from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import ToolSpec

CEILING = 20
LISTING_TOKENS = 300
EAGER_TOKENS = 5_000
ANSWERS = 5


class Mode(StrEnum):
    """Everything at once, or only what is needed, in one of two ways."""

    AUTO = "auto"
    """Eager while all definitions together are short, or cost less than searching would; else append."""
    APPEND = "append"
    """The provider's list never changes within a session: what is found arrives in answers."""
    REPLACE = "replace"
    """Definitions of found tools enter the provider's list, and the least recently used one makes room."""
    EAGER = "eager"
    """All definitions from the start."""


@frozen(kw_only=True)
class Showing:
    """What is sent, and how much of it."""

    mode: Mode = Mode.AUTO
    eager_tokens: int = EAGER_TOKENS
    """In `auto`: definitions that cost no more than this, pinned ones apart, are all sent."""
    ceiling: int = CEILING
    pinned: tuple[str, ...] = ()
    """Name patterns of tools that are always shown."""
    listing_tokens: int = LISTING_TOKENS


def definition_tokens(spec: ToolSpec, estimator: TokenEstimator) -> int:
    return estimator.tokens(definition_text(spec, spec.input_schema))


def definition_text(spec: ToolSpec, schema: JsonObject) -> str:
    """A definition as it is sent, without white space."""
    shape: Json = {"name": spec.name, "description": spec.description, "parameters": schema}
    return json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
