"""Events: what happened, in the order it was committed."""

from __future__ import annotations

from enum import StrEnum

from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen, noun
from toolcrib.values.spec import NOTHING


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    ERROR = "error"


class EventType(StrEnum):
    """The kernel's event types; toolsets add their own families (`checklist_updated`, `task_*` …) as text."""

    RUN_QUEUED = "run_queued"
    RUN_STARTED = "run_started"
    RUN_COMPLETED = "run_completed"
    RUN_FAILED = "run_failed"
    RUN_CANCELLED = "run_cancelled"
    TOOL_STARTED = "tool_started"
    TOOL_PROGRESS = "tool_progress"
    TOOL_COMPLETED = "tool_completed"
    TOOL_FAILED = "tool_failed"
    TOOL_DENIED = "tool_denied"
    TOOL_SKIPPED = "tool_skipped"
    ABORTED_TOOLS = "aborted_tools"
    PERMISSION_ASKED = "permission_asked"
    PERMISSION_ANSWERED = "permission_answered"
    PERMISSION_FAILED = "permission_failed"
    HOOK_COMPLETED = "hook_completed"
    HOOK_ASKED = "hook_asked"
    HOOK_DENIED = "hook_denied"
    HOOK_FAILED = "hook_failed"
    BUDGET_SPENT = "budget_spent"
    RUN_MARKED = "run_marked"
    USER_MESSAGE = "user_message"
    GRANT_ADDED = "grant_added"
    CONTRACT_DRIFT = "contract_drift"
    CONTRACT_PINNED = "contract_pinned"
    CONTRACT_APPROVED = "contract_approved"
    CONTRACT_ERROR = "contract_error"
    CONTRACT_SUSPECT = "contract_suspect"
    EDGE_OBSERVED = "edge_observed"
    EDGE_APPROVED = "edge_approved"
    EDGE_DENIED = "edge_denied"
    SCOPE_LOCKED = "edge_scope_locked"
    SCOPE_UNLOCKED = "edge_scope_unlocked"
    CHILD_STARTED = "child_started"
    CHILD_COMPLETED = "child_completed"
    ARTIFACT_CREATED = "artifact_created"
    NOTE = "note"


TERMINAL = frozenset({EventType.TOOL_COMPLETED, EventType.TOOL_FAILED, EventType.TOOL_DENIED, EventType.TOOL_SKIPPED})


@noun
class Draft:
    """An event before it is committed: the store adds ids, sequence and hash."""

    type: str
    session_id: str
    run_id: str | None = None
    agent_id: str | None = None
    call_id: str | None = None
    node_id: str | None = None
    level: Level = Level.INFO
    payload: JsonObject = NOTHING


@frozen
class Event:
    """A committed event. `payload` is None once it was erased under retention; the hash still holds."""

    event_id: str
    seq: int
    run_seq: int
    session_id: str
    agent_id: str | None
    run_id: str | None
    level: str
    type: str
    node_id: str | None
    call_id: str | None
    payload: JsonObject | None
    created_at: float
    prev_hash: str
    hash: str
