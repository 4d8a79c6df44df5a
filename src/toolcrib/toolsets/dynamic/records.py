"""What is on record of dynamic tools: one document per version, which is never changed, and the index of the latest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, field
from enum import StrEnum

from toolcrib.values.context import Document, ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal, StoreError

PREFIX = "dynamic."
VERSION, INDEX, KEY = "dynamic_tool", "dynamic_tools", "index"
MAX_TOOLS = 500
Load = Callable[[str, str], Awaitable[Document | None]]


class Action(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


@frozen
class Creator:
    """Who made a version, and what they held when they did."""

    agent: str
    session: str
    run: str
    principal: str
    role: str
    mode: str
    caller: str
    held: tuple[str, ...] = ()
    """The tools of theirs that gave them the right: what a composite uses, what runs commands or reaches hosts."""

    def __str__(self) -> str:
        return f"{self.agent} ({self.role}, {self.principal})"


@frozen
class Definition:
    """One version of a dynamic tool. A deletion is a version too, with the definition that it ended."""

    name: str
    version: int
    action: Action
    description: str
    input_schema: JsonObject
    implementation: JsonObject
    creator: Creator
    at: float


@frozen
class Latest:
    version: int
    deleted: bool


@frozen
class Index:
    """The latest version of every tool that ever was; `document_version` is the one that was read."""

    latest: Mapping[str, Latest] = field(default_factory=dict[str, Latest])
    document_version: int = 0

    def require(self, name: str) -> Latest:
        """The latest version of a tool that exists."""
        found = self.latest.get(name)
        if found is None or found.deleted:
            there = [known for known, latest in self.latest.items() if not latest.deleted]
            known = f"there are {', '.join(sorted(there)[:10])}" if there else "there is none yet"
            gone = "was deleted" if found is not None else "does not exist"
            raise Refusal(Reason.TOOL_NOT_AVAILABLE, f"the dynamic tool {name} {gone}; {known}")
        return found


async def load_index(load: Load) -> Index:
    """Which tools there are; one that cannot be read is an error, not an empty shelf."""
    found = await load(INDEX, KEY)
    if found is None:
        return Index()
    if not isinstance(found.body, Mapping):
        raise StoreError("the index of dynamic tools cannot be read")
    latest = {
        name: Latest(int(entry["version"]), bool(entry["deleted"]))  # pyright: ignore[reportArgumentType]
        for name, entry in found.body.items()
        if isinstance(entry, Mapping)
    }
    return Index(latest, found.version)


async def load_definition(load: Load, name: str, version: int) -> Definition:
    """One version of a tool."""
    found = await load(VERSION, _key(name, version))
    if found is None or not isinstance(found.body, Mapping):
        raise Refusal(Reason.TOOL_NOT_AVAILABLE, f"{name} has no version {version}")
    return _definition(found.body)


def put_definition(context: ToolContext, index: Index, definition: Definition) -> None:
    """Write a version and the index together, with the result of the call; who comes second has a conflict."""
    entry = Latest(definition.version, definition.action is Action.DELETED)
    latest = {**index.latest, definition.name: entry}
    body: JsonObject = {name: {"version": each.version, "deleted": each.deleted} for name, each in latest.items()}
    context.put(Document(VERSION, _key(definition.name, definition.version), definition_json(definition)))
    context.put(Document(INDEX, KEY, body, index.document_version))


def definition_json(definition: Definition) -> JsonObject:
    """A version as it is stored and shown."""
    creator: dict[str, Json] = {**asdict(definition.creator), "held": list(definition.creator.held)}
    return {
        "name": definition.name,
        "version": definition.version,
        "action": definition.action.value,
        "description": definition.description,
        "input_schema": definition.input_schema,
        "implementation": definition.implementation,
        "creator": creator,
        "at": definition.at,
    }


def _definition(body: Mapping[str, Json]) -> Definition:
    creator, schema, implementation = body["creator"], body["input_schema"], body["implementation"]
    if not (isinstance(creator, Mapping) and isinstance(schema, Mapping) and isinstance(implementation, Mapping)):
        raise StoreError(f"a version of the dynamic tool {body.get('name')} cannot be read")
    held = creator.get("held")
    words = {name: str(creator[name]) for name in ("agent", "session", "run", "principal", "role", "mode", "caller")}
    return Definition(
        str(body["name"]),
        int(body["version"]),  # pyright: ignore[reportArgumentType]
        Action(str(body["action"])),
        str(body["description"]),
        schema,
        implementation,
        Creator(**words, held=tuple(map(str, held)) if isinstance(held, list) else ()),
        float(body["at"]),  # pyright: ignore[reportArgumentType]
    )


def _key(name: str, version: int) -> str:
    return f"{name}@{version}"
