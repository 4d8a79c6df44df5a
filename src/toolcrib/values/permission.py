"""Questions to a person and their answers."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import Any, cast

from toolcrib.values.identity import Ancestor, Origin, Role, Surface
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING, Effect
from toolcrib.values.target import Target, TargetKind


class Answer(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_FOR_SESSION = "allow_for_session"
    DENY = "deny"


@frozen
class PermissionDecision:
    """A person's answer. It can neither change arguments nor execute anything."""

    answer: str
    reason: str | None = None
    metadata: JsonObject = NOTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "answer", Answer(self.answer))


@frozen(kw_only=True)
class PermissionRequest:
    """Everything a person needs to decide about one call; already redacted.

    `arguments` is a summary of at most a thousand characters; where it had to be cut, `details` holds the whole.
    `grant_scope` is what an answer for the session would cover; None means that it would cover this call only.
    """

    request_id: str
    origin: Origin
    call_id: str
    tool: str
    effect: Effect
    tags: frozenset[str]
    arguments: str
    targets: tuple[Target, ...]
    dangerous: bool
    because: str
    rule: str
    fingerprint: str
    suggested: Answer
    grant_scope: str | None
    expires_at: float
    cwd: str | None = None
    environment: str = ""
    network_host: str | None = None
    hook_summary: str = ""
    mode: str = "default"
    details: str = ""

    @property
    def session_id(self) -> str:
        return self.origin.session_id

    @property
    def agent_id(self) -> str:
        return self.origin.agent_id

    @property
    def run_id(self) -> str:
        return self.origin.run_id

    @property
    def agent_role(self) -> Role:
        return self.origin.role

    @property
    def parent_agent_id(self) -> str | None:
        return self.origin.parent_agent_id

    @property
    def parent_run_id(self) -> str | None:
        return self.origin.parent_run_id

    @property
    def ancestry(self) -> tuple[Ancestor, ...]:
        """Every run above the asking one, the topmost first."""
        return self.origin.ancestry


@frozen
class Pending:
    """A call that waits for a person's answer: it has no result yet. The identical call, made again, collects it."""

    request_id: str
    call_id: str
    tool: str
    expires_at: float

    def __str__(self) -> str:
        return f"pending {self.request_id}"


def request_json(request: PermissionRequest) -> dict[str, Json]:
    """A request as it is recorded and sent; `request_of` reads it back."""
    origin = request.origin
    return {
        "request_id": request.request_id,
        "session_id": origin.session_id,
        "run_id": origin.run_id,
        "agent_id": origin.agent_id,
        "agent_role": origin.role.value,
        "surface": origin.surface.value,
        "parent_run_id": origin.parent_run_id,
        "parent_agent_id": origin.parent_agent_id,
        "principal": origin.principal,
        "ancestry": [[each.agent_id, each.run_id, each.role.value] for each in origin.ancestry],
        "call_id": request.call_id,
        "tool": request.tool,
        "effect": request.effect.value,
        "mode": request.mode,
        "tags": sorted(request.tags),
        "arguments": request.arguments,
        "details": request.details,
        "targets": [[each.kind.value, each.value, each.scope, sorted(each.marks)] for each in request.targets],
        "dangerous": request.dangerous,
        "because": request.because,
        "rule": request.rule,
        "fingerprint": request.fingerprint,
        "suggested": request.suggested.value,
        "grant_scope": request.grant_scope,
        "expires_at": request.expires_at,
        "cwd": request.cwd,
        "environment": request.environment,
        "network_host": request.network_host,
        "hook_summary": request.hook_summary,
    }


def request_of(body: JsonObject) -> PermissionRequest:
    """The request that `request_json` wrote down."""
    read = cast("dict[str, Any]", dict(body))
    origin = Origin(
        read["session_id"],
        read["run_id"],
        read["agent_id"],
        Role(read["agent_role"]),
        Surface(read["surface"]),
        read["parent_run_id"],
        read["parent_agent_id"],
        read["principal"],
        tuple(Ancestor(agent, run, Role(role)) for agent, run, role in read["ancestry"]),
    )
    read |= {
        "origin": origin,
        "effect": Effect(read["effect"]),
        "tags": frozenset(read["tags"]),
        "targets": tuple(Target(TargetKind(k), value, scope, frozenset(m)) for k, value, scope, m in read["targets"]),
        "suggested": Answer(read["suggested"]),
    }
    return PermissionRequest(**{each.name: read[each.name] for each in fields(PermissionRequest)})
