"""tools.create, update, delete, get and list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.toolsets.dynamic.building import tool_of_definition, unapproved
from toolcrib.toolsets.dynamic.kinds import LANGUAGES, MAX_SCRIPT, MAX_STEPS, METHODS, read_kind
from toolcrib.toolsets.dynamic.records import (
    MAX_TOOLS,
    PREFIX,
    Action,
    Creator,
    Definition,
    Index,
    definition_json,
    load_definition,
    load_index,
    put_definition,
)
from toolcrib.toolsets.dynamic.references import wrong
from toolcrib.toolsets.dynamic.rights import check_circle, check_kind, check_maker
from toolcrib.toolsets.dynamic.services import DynamicServices
from toolcrib.values.context import Standing, ToolContext
from toolcrib.values.identity import Surface
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.marker import MARKER
from toolcrib.values.refusal import Reason, Refusal, ToolcribError
from toolcrib.values.result import JsonBlock, Text, ToolReturn
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments

GUIDANCE = (
    "tools.create makes a tool of your own: a script, a request to one host, or a series of calls. It runs only after "
    "an operator approved it, and in a new run; say so to the user instead of waiting. tools.update needs the version "
    "that you read with tools.get."
)
MAKERS = frozenset({"tools.create", "tools.update", "tools.delete"})
SHOWN_VERSIONS = 20
NO_ARGUMENTS: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
_NAME: JsonObject = {"type": "string", "minLength": 1, "maxLength": 150, "description": "such as word_count"}
_DESCRIPTION: JsonObject = {
    "type": "string", "minLength": 1, "maxLength": 4_000, "description": "What it does, for whoever chooses a tool.",
}  # fmt: skip
_SCHEMA: JsonObject = {"type": "object", "description": "JSON Schema of its arguments; left out, it takes none."}
_VERSION: JsonObject = {"type": "integer", "minimum": 1, "description": "The latest version, as tools.get shows it."}
_STEP: JsonObject = {
    "type": "object",
    "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["tool"],
    "additionalProperties": False,
}
_IMPLEMENTATION: JsonObject = {
    "type": "object",
    "description": (
        "script: language and script, which reads its arguments as JSON from standard input. http: method and url, "
        "with {{args.name}} in path and query. composite: steps, whose arguments may hold {{args.name}} and "
        "{{steps.1.text}}."
    ),
    "properties": {
        "kind": {"type": "string", "enum": ["script", "http", "composite"]},
        "language": {"type": "string", "enum": list(LANGUAGES)},
        "script": {"type": "string", "maxLength": MAX_SCRIPT},
        "method": {"type": "string", "enum": list(METHODS)},
        "url": {"type": "string", "maxLength": 4_096},
        "steps": {"type": "array", "items": _STEP, "minItems": 1, "maxItems": MAX_STEPS},
    },
    "required": ["kind"],
    "additionalProperties": False,
}


def toolset(services: DynamicServices) -> Toolset:
    """The tools that make tools."""
    build = ToolsetBuilder("dynamic", guidance=GUIDANCE)
    _add_create(build, services)
    _add_update(build, services)
    _add_delete(build, services)
    _add_looking(build, services)
    return build.build()


def _add_create(build: ToolsetBuilder, services: DynamicServices) -> None:
    schema = _object(
        {"name": _NAME, "description": _DESCRIPTION, "input_schema": _SCHEMA, "implementation": _IMPLEMENTATION},
        ["name", "description", "implementation"],
    )

    @build.write(
        name="tools.create", input_schema=schema, targets=_target, transactional=True, aliases=("tool_create",),
        category="Workflow",
    )  # fmt: skip
    async def create(
        context: ToolContext,
        name: str,
        description: str,
        implementation: JsonObject,
        input_schema: JsonObject = NO_ARGUMENTS,
    ) -> ToolReturn:
        """Make a tool of your own: a script, a request to one host, or a series of calls of other tools.

        It is called dynamic.NAME, and can be called in runs that begin after an operator approved it.
        """
        standing, index, full = check_maker(context, services), await load_index(context.load), full_name(name)
        before = index.latest.get(full)
        if before is not None and not before.deleted:
            raise Refusal(Reason.CONFLICT, f"{full} exists, in version {before.version}; change it with tools.update")
        if sum(not each.deleted for each in index.latest.values()) >= MAX_TOOLS:
            raise Refusal(Reason.CONFLICT, f"there are {MAX_TOOLS} dynamic tools, as many as there may be; delete some")
        version = 1 if before is None else before.version + 1
        creator = _creator(context, standing)
        made = Definition(
            full, version, Action.CREATED, description, input_schema, implementation, creator, services.now()
        )
        return await _commit(context, services, standing, index, made)


def _add_update(build: ToolsetBuilder, services: DynamicServices) -> None:
    schema = _object(
        {
            "name": _NAME, "version": _VERSION, "description": _DESCRIPTION, "input_schema": _SCHEMA,
            "implementation": _IMPLEMENTATION,
        },
        ["name", "version"],
    )  # fmt: skip

    @build.write(
        name="tools.update", input_schema=schema, targets=_target, transactional=True, aliases=("tool_update",),
        category="Workflow",
    )  # fmt: skip
    async def update(
        context: ToolContext,
        name: str,
        version: int,
        description: str | None = None,
        input_schema: JsonObject | None = None,
        implementation: JsonObject | None = None,
    ) -> ToolReturn:
        """Change a dynamic tool: a new version, which has to be approved again. What is left out stays as it was."""
        standing, index, full = check_maker(context, services), await load_index(context.load), full_name(name)
        before = await _latest(context, index, full, version)
        made = replace(
            before,
            version=version + 1,
            action=Action.UPDATED,
            description=before.description if description is None else description,
            input_schema=before.input_schema if input_schema is None else input_schema,
            implementation=before.implementation if implementation is None else implementation,
            creator=_creator(context, standing),
            at=services.now(),
        )
        if _body(made) == _body(before):
            raise wrong(f"{full} is like this already, in version {version}; give what is to be different")
        return await _commit(context, services, standing, index, made)


def _add_delete(build: ToolsetBuilder, services: DynamicServices) -> None:
    @build.write(
        name="tools.delete", input_schema=_object({"name": _NAME, "version": _VERSION}, ["name", "version"]),
        targets=_target, transactional=True, category="Workflow",
    )  # fmt: skip
    async def delete(context: ToolContext, name: str, version: int) -> ToolReturn:
        """Remove a dynamic tool; its versions stay on record, and can be read with tools.get."""
        standing, index, full = check_maker(context, services), await load_index(context.load), full_name(name)
        before = await _latest(context, index, full, version)
        gone = replace(
            before, version=version + 1, action=Action.DELETED, creator=_creator(context, standing), at=services.now()
        )
        put_definition(context, index, gone)
        context.emit("dynamic_tool_deleted", _told(gone))
        kept = "its version stays" if version == 1 else f"its {version} versions stay"
        return ToolReturn((Text(f"deleted {full}; {kept} on record"),), _told(gone))


def _add_looking(build: ToolsetBuilder, services: DynamicServices) -> None:
    @build.read(name="tools.get", input_schema=_object({"name": _NAME, "version": _VERSION}, ["name"]))
    async def get(context: ToolContext, name: str, version: int | None = None) -> ToolReturn:
        """Show a dynamic tool: its definition, who made it, whether it is approved, and its versions."""
        index, full = await load_index(context.load), full_name(name)
        latest = index.latest.get(full)
        if latest is None:
            latest = index.require(full)
        shown = await load_definition(context.load, full, version or latest.version)
        first = max(1, latest.version - SHOWN_VERSIONS + 1)
        versions = [await load_definition(context.load, full, each) for each in range(latest.version, first - 1, -1)]
        told = await _standing_of(shown, latest.version, services, context.origin.surface)
        return _json({**definition_json(shown), **told, "versions": [_line(each) for each in versions]})

    @build.read(name="tools.list")
    async def list_tools(context: ToolContext) -> ToolReturn:
        """List the dynamic tools: kind, latest version, who made it, and whether it is approved."""
        index = await load_index(context.load)
        found: list[Json] = []
        for name, latest in sorted(index.latest.items()):
            if not latest.deleted:
                definition = await load_definition(context.load, name, latest.version)
                told = await _standing_of(definition, latest.version, services, context.origin.surface)
                found.append({**_line(definition), "name": name, "description": definition.description, **told})
        return _json(found)


async def _commit(
    context: ToolContext, services: DynamicServices, standing: Standing, index: Index, made: Definition
) -> ToolReturn:
    """Check a version in full, and put it on record with the result of this call."""
    text = _body(made)
    if MARKER.search(text) or services.holds_secrets(text):
        raise wrong(
            "the definition holds a secret, or a mark where one was; tools get secrets as arguments or not at all"
        )
    kind = read_kind(made.implementation, made.input_schema, services.reach.rules.schemes)
    await check_circle(made.name, kind, context, index, services)
    held = check_kind(made.name, kind, standing, services)
    made = replace(made, creator=replace(made.creator, held=held))
    _register(made, index, services)
    put_definition(context, index, made)
    context.emit(f"dynamic_tool_{made.action}", _told(made))
    fingerprint = tool_of_definition(made, services).fingerprint
    words = f"{made.action} {made.name}, version {made.version}. It cannot be called yet: "
    why = unapproved(made.name, made.version, fingerprint, context.origin.surface)
    return ToolReturn((Text(words + why),), _told(made))


def _body(definition: Definition) -> str:
    return canonical([definition.description, definition.input_schema, definition.implementation])


def _register(made: Definition, index: Index, services: DynamicServices) -> None:
    """What would be wrong at registration is said now."""
    twin = next((name for name in index.latest if name.lower() == made.name.lower() and name != made.name), None)
    if twin is not None:
        raise wrong(f"{made.name!r} and {twin!r} differ only in case; choose a name that differs in letters")
    try:
        services.check(tool_of_definition(made, services))
    except ToolcribError as error:
        raise Refusal(Reason.SCHEMA_ERROR, f"{made.name} cannot be registered: {error}") from error


async def _latest(context: ToolContext, index: Index, name: str, version: int) -> Definition:
    """The latest version, if it is the one that the caller has seen."""
    latest = index.require(name)
    if latest.version != version:
        message = (
            f"{name} has version {latest.version} by now, not {version}; look at it with tools.get, and call again"
        )
        raise Refusal(Reason.CONFLICT, message, {"version": latest.version})
    return await load_definition(context.load, name, version)


async def _standing_of(
    definition: Definition, latest: int, services: DynamicServices, surface: Surface
) -> dict[str, Json]:
    """How a version stands on a surface: only the latest can be approved, and nothing that was deleted."""
    if definition.version != latest or definition.action is Action.DELETED:
        return {"approved": False}
    tool = tool_of_definition(definition, services)
    approved = await services.approved(surface, tool.name, tool.fingerprint)
    return {"approved": approved, "fingerprint": tool.fingerprint}


def _creator(context: ToolContext, standing: Standing) -> Creator:
    origin = context.origin
    caller = "model" if standing.caller == "model" else "person"
    return Creator(
        origin.agent_id, origin.session_id, origin.run_id, origin.principal, origin.role.value, standing.mode, caller
    )


def _line(definition: Definition) -> dict[str, Json]:
    return {
        "version": definition.version,
        "action": definition.action.value,
        "kind": definition.implementation.get("kind"),
        "creator": str(definition.creator),
        "session": definition.creator.session,
        "run": definition.creator.run,
        "at": definition.at,
    }


def _told(definition: Definition) -> JsonObject:
    return {"tool": definition.name, "version": definition.version, "kind": definition.implementation.get("kind")}


def full_name(name: str) -> str:
    """The name that a tool is called by: everything dynamic stands under one word."""
    return name if name.startswith(PREFIX) else f"{PREFIX}{name}"


def _target(arguments: Arguments) -> Sequence[Target]:
    """The tool that is made or changed; each time is asked about by itself."""
    return (Target(TargetKind.TOOL, full_name(str(arguments.get("name")))),)


def _json(value: Json) -> ToolReturn:
    return ToolReturn((JsonBlock(value),))


def _object(properties: Mapping[str, Json], required: list[Json]) -> JsonObject:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
