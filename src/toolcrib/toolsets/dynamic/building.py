"""A definition becomes a tool: always dangerous, and at work only while it is the latest version and approved."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from toolcrib.catalog.registry import in_step
from toolcrib.toolsets.dynamic.composite import MAX_SECONDS, run_steps
from toolcrib.toolsets.dynamic.http import request_target, send_request
from toolcrib.toolsets.dynamic.kinds import Http, Kind, Script, read_kind
from toolcrib.toolsets.dynamic.records import Definition, load_index
from toolcrib.toolsets.dynamic.script import SECONDS, run_script, script_targets
from toolcrib.toolsets.dynamic.services import DynamicServices
from toolcrib.values.context import ToolContext
from toolcrib.values.identity import Surface
from toolcrib.values.json import Json, canonical
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolReturn
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments, Tool

GRACE_SECONDS = 3.0
"""How much longer the counter waits than a script or a request may take: their own limits must come first."""


def tool_of_definition(definition: Definition, services: DynamicServices) -> Tool:
    """The tool that a version describes; a Refusal or ToolcribError says why it describes none."""
    kind = read_kind(definition.implementation, definition.input_schema, services.reach.rules.schemes)
    work = _Work(definition, kind, services)
    digest = hashlib.sha256(canonical(definition.implementation).encode()).hexdigest()
    return in_step(Tool(_spec(definition, kind), work.run, targets=work.targets, implementation=lambda: digest))


@frozen
class _Work:
    definition: Definition
    kind: Kind
    services: DynamicServices

    def targets(self, arguments: Arguments) -> Sequence[Target]:
        definition, kind = self.definition, self.kind
        if isinstance(kind, Script):
            return script_targets(kind, definition.name, self.services.commands)
        if isinstance(kind, Http):
            return (request_target(kind, definition.input_schema, arguments, self.services.reach.rules.schemes),)
        return tuple(Target(TargetKind.TOOL, name) for name in kind.uses)

    async def run(self, context: ToolContext, arguments: Arguments) -> ToolReturn:
        await self.check(context)
        kind, schema = self.kind, self.definition.input_schema
        if isinstance(kind, Script):
            return await run_script(kind, context, arguments, self.services.commands)
        if isinstance(kind, Http):
            return await send_request(kind, context, arguments, self.services.reach)
        return await run_steps(kind, schema, context, arguments, self.check)

    async def check(self, context: ToolContext) -> None:
        """Another process may have changed or deleted it, and an approval may be gone: a change only takes away."""
        definition = self.definition
        latest = (await load_index(context.load)).require(definition.name)
        if latest.version != definition.version:
            message = (
                f"{definition.name} has version {latest.version} by now, and this run was given {definition.version}"
            )
            raise Refusal(Reason.CONTRACT_DRIFT, f"{message}; it can be used again in a new run, once it is approved")
        fingerprint = tool_of_definition(definition, self.services).fingerprint
        surface = context.origin.surface
        if not await self.services.approved(surface, definition.name, fingerprint):
            raise Refusal(Reason.CONTRACT_DRIFT, unapproved(definition.name, definition.version, fingerprint, surface))


def unapproved(name: str, version: int, fingerprint: str, surface: Surface) -> str:
    """Why a tool that nobody approved does not run, and what would help: a word for this version and no later one."""
    approving = f"toolcrib guard approve-contract {surface} {name} --fingerprint {fingerprint}"
    return (
        f"version {version} of {name} was not approved; an operator looks at it with `toolcrib tools call tools.get "
        f"name={name}` and approves it with `{approving}`"
    )


def _spec(definition: Definition, kind: Kind) -> ToolSpec:
    tags, reads, category, timeout = {"dangerous"}, False, "Workflow", MAX_SECONDS
    metadata: dict[str, Json] = {
        "version": definition.version,
        "creator": str(definition.creator),
        "created_in": definition.creator.session,
    }
    if isinstance(kind, Script):
        category, timeout = "Shell", SECONDS + GRACE_SECONDS
    elif isinstance(kind, Http):
        tags, reads, category, timeout = {"dangerous", "network"}, kind.reads, "Network", SECONDS + GRACE_SECONDS
        metadata["untrusted"] = True
    else:
        metadata["uses"] = list(kind.uses)
    return ToolSpec(
        name=definition.name,
        description=definition.description,
        input_schema=definition.input_schema,
        effect=Effect.READ if reads else Effect.WRITE,
        tags=frozenset(tags),
        category=category,
        tool_type=ToolType.DYNAMIC,
        timeout=timeout,
        source=Source("dynamic", type(kind).__name__.lower(), str(definition.version)),
        metadata=metadata,
    )


def uses_of(tool: Tool) -> tuple[str, ...]:
    """The tools that a composite calls; none for any other kind."""
    uses = tool.spec.metadata.get("uses")
    return tuple(map(str, uses)) if isinstance(uses, list) else ()
