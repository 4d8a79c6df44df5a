"""What a tool says of itself: the contract that is shown, checked, fingerprinted and signed for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import NoReturn

from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.name import check_name
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import RegistrationError
from toolcrib.values.schema import LISTS, MAPS, SINGLE, UNORDERED


class _Nothing(dict[str, Json]):
    """An empty object that stays empty, so that it can be a shared default. A dict, because JSON writers know dicts."""

    __slots__ = ()

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return 0

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this default is shared and stays empty; make a dict of your own")

    __setitem__ = __ior__ = update = setdefault = _refuse  # pyright: ignore[reportAssignmentType]


NOTHING: JsonObject = _Nothing()
TAGS = frozenset(
    {"internal", "readonly", "write", "agent", "mcp", "code", "declarative", "dangerous", "filesystem", "network"}
)
CATEGORIES = frozenset(
    {"FileSystem", "Network", "Shell", "Search", "Memory", "Knowledge", "Agent", "Workflow", "Schedule", "Interaction"}
)


class Effect(StrEnum):
    """Whether a call may change anything outside Toolcrib's own records."""

    READ = "read"
    WRITE = "write"


class Lane(StrEnum):
    """How a call is scheduled: reads together, agents together, writes alone."""

    READ = "read"
    AGENT = "agent"
    WRITE = "write"


class ToolType(StrEnum):
    BUILTIN = "builtin"
    MCP = "mcp"
    CUSTOM = "custom"
    DYNAMIC = "dynamic"
    DECLARATIVE = "declarative"
    AGENT = "agent"


class Exposure(StrEnum):
    """Who may call a tool: the model, a person (CLI, console), or both."""

    MODEL = "model"
    MANUAL = "manual"
    BOTH = "both"


@frozen
class Source:
    """Where a tool comes from, as far as that is part of what the operator approved."""

    kind: str = "python"
    name: str = ""
    version: str = ""


@frozen(kw_only=True)
class ToolSpec:
    """One explicit capability. Nothing here runs; `Tool` binds it to a handler."""

    name: str
    description: str
    input_schema: JsonObject
    title: str = ""
    help: str = ""
    output_schema: JsonObject | None = None
    effect: Effect = Effect.WRITE
    tags: frozenset[str] = frozenset()
    category: str = ""
    tool_type: ToolType = ToolType.CUSTOM
    capabilities: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    exposure: Exposure = Exposure.BOTH
    timeout: float | None = None
    read_form: JsonObject | None = None
    source: Source = Source()
    annotations: JsonObject = NOTHING
    metadata: Mapping[str, Json] = field(default=NOTHING, compare=False)

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.timeout is not None and not self.timeout > 0:
            raise RegistrationError(f"{self.name}: timeout must be more than 0 seconds, not {self.timeout}")

    @property
    def lane(self) -> Lane:
        if "agent" in self.tags:
            return Lane.AGENT
        return Lane.READ if self.effect is Effect.READ else Lane.WRITE

    @property
    def family(self) -> str:
        """The tools it belongs with: those of its toolset, or of its server."""
        parts = self.name.split(".")
        return ".".join(parts[:2]) if parts[0] == "mcp" and len(parts) > 2 else parts[0]

    @property
    def dangerous(self) -> bool:
        return "dangerous" in self.tags

    @property
    def network(self) -> bool:
        return "network" in self.tags

    def contract(self) -> JsonObject:
        """The normalised contract: key order and the order of enums and requirements are cosmetic and left out."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "help": self.help,
            "input_schema": normal_schema(self.input_schema),
            "output_schema": normal_schema(self.output_schema),
            "read_form": normal_schema(self.read_form),
            "annotations": self.annotations,
            "effect": self.effect.value,
            "tags": sorted(self.tags),
            "category": self.category,
            "source": [self.source.kind, self.source.name, self.source.version],
        }


def normal_schema(schema: Json) -> Json:
    """The schema with every order that means nothing put in one order; data inside it (`const`, `default`) stays."""
    if not isinstance(schema, Mapping):
        return schema
    return {key: _normal_member(key, value) for key, value in schema.items()}


def _normal_member(key: str, value: Json) -> Json:
    if key in UNORDERED and isinstance(value, (list, tuple)):
        return sorted(value, key=canonical)
    if key in MAPS and isinstance(value, Mapping):
        return {name: normal_schema(member) for name, member in value.items()}
    if key in LISTS and isinstance(value, (list, tuple)):
        return [normal_schema(member) for member in value]
    if key in SINGLE:
        return [normal_schema(member) for member in value] if isinstance(value, (list, tuple)) else normal_schema(value)
    return value
