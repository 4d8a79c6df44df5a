"""Questions to a person and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from toolcrib.values.identity import Origin
from toolcrib.values.json import JsonObject
from toolcrib.values.spec import NOTHING, Effect
from toolcrib.values.target import Target


class Answer(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_FOR_SESSION = "allow_for_session"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """A person's answer. It can neither change arguments nor execute anything."""

    answer: str
    reason: str | None = None
    metadata: JsonObject = NOTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "answer", Answer(self.answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """Everything a person needs to decide about one call; already redacted."""

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
