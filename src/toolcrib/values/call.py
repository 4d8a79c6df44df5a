"""A call on its way: asked for, then proved valid, then permitted. Each type is had only by passing the step before."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import noun
from toolcrib.values.spec import NOTHING, Effect
from toolcrib.values.target import Target
from toolcrib.values.tool import Tool


@noun
class ToolCall:
    """What a model (or a person, or a program) asks for. `arguments` may be raw JSON text."""

    name: str
    arguments: Mapping[str, Json] | str | bytes = NOTHING
    id: str | None = None
    via: str | None = None
    repaired: bool = False
    metadata: JsonObject = NOTHING


@noun
class Invocation:
    """A call whose tool is in the effective set and whose arguments satisfy the schema."""

    call: ToolCall
    call_id: str
    tool: Tool
    arguments: Mapping[str, Json]
    effect: Effect
    targets: tuple[Target, ...]


@noun
class Permit:
    """Leave to execute one invocation. Made by the gate alone; the executor accepts nothing else."""

    invocation: Invocation
    verdict_by: str
    granted_by: str | None = None
