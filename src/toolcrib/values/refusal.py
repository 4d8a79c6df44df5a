"""The three kinds of error: what the model hears, what the developer must fix, and (not here) bugs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.values.json import JsonObject


class Reason(StrEnum):
    """Why a call did not succeed: the closed list of codes a model or an operator can meet."""

    VALIDATION_ERROR = "validation_error"
    SCHEMA_ERROR = "schema_error"
    CONFIG_ERROR = "config_error"
    PERMISSION_DENIED = "permission_denied"
    TOOL_NOT_AVAILABLE = "tool_not_available"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    INTERNAL_ERROR = "internal_error"
    RATE_LIMITED = "rate_limited"
    LOOP_DETECTED = "loop_detected"
    CONFLICT = "conflict"
    PENDING = "pending"
    CONTRACT_DRIFT = "contract_drift"
    TOPOLOGY_DENIED = "topology_denied"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    ABORTED = "aborted"
    PROVIDER_ERROR = "provider_error"
    UNSUPPORTED_CAPABILITY = "unsupported_capability"
    PROVIDER_AUTH_FAILED = "provider_auth_failed"
    PROVIDER_RATE_LIMITED = "provider_rate_limited"
    PROVIDER_TIMEOUT = "provider_timeout"
    STORAGE_ERROR = "storage_error"
    MIGRATION_FAILED = "migration_failed"
    PATH_CONFLICT = "path_conflict"
    PATH_OUTSIDE_ROOT = "path_outside_root"
    FILE_NOT_FOUND = "file_not_found"
    BINARY_FILE = "binary_file"
    TEXT_NOT_FOUND = "text_not_found"
    AMBIGUOUS_EDIT = "ambiguous_edit"
    PATCH_APPLY_FAILED = "patch_apply_failed"
    PATCH_PATH_MISMATCH = "patch_path_mismatch"
    STALE_FILE = "stale_file"
    WRITE_OUTSIDE_ALLOWED_ROOTS = "write_outside_allowed_roots"
    INVALID_AGENT_DEFINITION = "invalid_agent_definition"
    DUPLICATE_AGENT_DEFINITION = "duplicate_agent_definition"
    CHILD_AGENT_LIMIT_EXCEEDED = "child_agent_limit_exceeded"
    WORKER_BUSY = "worker_busy"
    WORKER_QUEUE_FULL = "worker_queue_full"
    WORKER_NOT_AVAILABLE = "worker_not_available"
    TASK_NOT_FOUND = "task_not_found"
    TASK_TERMINAL = "task_terminal"
    DEPENDENCY_CYCLE = "dependency_cycle"
    STEP_NOT_FOUND = "step_not_found"
    STEP_NOT_READY = "step_not_ready"
    STEP_ALREADY_CLAIMED = "step_already_claimed"
    STEP_HAS_DEPENDENTS = "step_has_dependents"
    NO_STEP_CLAIMED = "no_step_claimed"
    MEMORY_RECALL_FAILED = "memory_recall_failed"
    MEMORY_WRITE_FAILED = "memory_write_failed"
    SKILL_NOT_FOUND = "skill_not_found"
    SKILL_LOAD_FAILED = "skill_load_failed"


RETRYABLE = frozenset(
    {Reason.TIMEOUT, Reason.RATE_LIMITED, Reason.CONFLICT, Reason.WORKER_BUSY, Reason.STORAGE_ERROR, Reason.STALE_FILE}
    | {Reason.PROVIDER_TIMEOUT, Reason.PROVIDER_RATE_LIMITED, Reason.WORKER_QUEUE_FULL}
)


class Refusal(Exception):
    """The one error a model sees: what was refused, by which rule, and what would work instead."""

    def __init__(self, reason: Reason, message: str, details: JsonObject | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.details: JsonObject = details or {}


class ToolcribError(Exception):
    """What a developer or operator must fix; raised at start-up, never shown to a model."""

    reason = Reason.CONFIG_ERROR


class ConfigError(ToolcribError):
    """A configuration file, key or argument is wrong."""


class RegistrationError(ToolcribError):
    """A tool, toolset or toolkit cannot be registered as given."""

    reason = Reason.SCHEMA_ERROR


class InvalidName(RegistrationError):
    """A tool name is malformed, taken, or too like another."""


class SchemaError(RegistrationError):
    """A JSON Schema is invalid, hostile or outside the chosen profile."""


class SessionRefused(ToolcribError):
    """A hook does not want this session to begin."""

    reason = Reason.PERMISSION_DENIED


class StoreError(ToolcribError):
    """The store cannot do what was asked; nothing that was acknowledged is lost."""

    reason = Reason.STORAGE_ERROR
