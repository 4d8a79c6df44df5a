"""What each code means and what to do about it, in one line each: the reference page is written from this."""

from __future__ import annotations

from toolcrib.values.refusal import RETRYABLE, Reason

MEANING: dict[Reason, str] = {
    Reason.VALIDATION_ERROR: "The arguments do not fit the schema. Every problem is named; mend them, call again.",
    Reason.SCHEMA_ERROR: "A tool's schema is invalid, hostile or outside its profile. It was not registered.",
    Reason.CONFIG_ERROR: "A configuration file, key or argument is wrong. The message names the place.",
    Reason.PERMISSION_DENIED: "Policy, a hook or a person said no, or nobody was there. The rule is cited.",
    Reason.TOOL_NOT_AVAILABLE: "Not a tool of this run. The message says what would work, or why it is out.",
    Reason.TIMEOUT: "The handler was stopped at its limit. What a write had done by then is unknown.",
    Reason.CANCELLED: "The caller gave up waiting for the call.",
    Reason.INTERNAL_ERROR: "The handler failed, or what it returned is not JSON or breaks its output schema.",
    Reason.RATE_LIMITED: "The tool or the run has used up its calls. `retry_after` says how long to wait.",
    Reason.LOOP_DETECTED: "Calls repeat without progress, or nest too deep. Do something else.",
    Reason.CONFLICT: "Someone else changed the same document meanwhile. Read again and repeat.",
    Reason.PENDING: "The call waits for a person. Repeat the identical call to collect its result.",
    Reason.CONTRACT_DRIFT: "The tool is no longer the one that was approved or that this run was given.",
    Reason.TOPOLOGY_DENIED: "This agent may not start that agent: the edge between them is not approved.",
    Reason.INTERRUPTED: "The process ended meanwhile. Whether it took effect is unknown; it was not repeated.",
    Reason.SKIPPED: "Not started, because an earlier write of the same turn was denied or failed.",
    Reason.ABORTED: "The run was aborted. Partial output is kept.",
    Reason.PROVIDER_ERROR: "The model's provider answered with an error.",
    Reason.UNSUPPORTED_CAPABILITY: "The model or provider cannot do what the run needs.",
    Reason.PROVIDER_AUTH_FAILED: "The provider did not accept the credentials.",
    Reason.PROVIDER_RATE_LIMITED: "The provider asks to wait.",
    Reason.PROVIDER_TIMEOUT: "The provider did not answer in time.",
    Reason.STORAGE_ERROR: "The store could not record it. A write was not started; a result was not handed out.",
    Reason.MIGRATION_FAILED: "The store could not be brought to the current version.",
    Reason.PATH_CONFLICT: "The file exists already. Say that it may be overwritten, or choose another path.",
    Reason.PATH_OUTSIDE_ROOT: "The path leads outside the folders this tool works in.",
    Reason.FILE_NOT_FOUND: "There is no such file.",
    Reason.BINARY_FILE: "The file is not text.",
    Reason.TEXT_NOT_FOUND: "The text to be replaced is not in the file. Read the file again.",
    Reason.AMBIGUOUS_EDIT: "The text to be replaced occurs more than once. Give more of its surroundings.",
    Reason.PATCH_APPLY_FAILED: "The patch does not fit the file. Read the file again.",
    Reason.PATCH_PATH_MISMATCH: "The patch names another file than the call.",
    Reason.STALE_FILE: "The file changed since it was read. Fresh content is in the answer.",
    Reason.WRITE_OUTSIDE_ALLOWED_ROOTS: "The file lies outside the folders that may be written to.",
    Reason.INVALID_AGENT_DEFINITION: "An agent definition is wrong. The message names the field.",
    Reason.DUPLICATE_AGENT_DEFINITION: "Two agent definitions have the same id.",
    Reason.CHILD_AGENT_LIMIT_EXCEEDED: "This run or session has as many child agents as it may have.",
    Reason.WORKER_BUSY: "All workers or threads are taken. Try again when one has finished.",
    Reason.WORKER_QUEUE_FULL: "No more work is accepted for now.",
    Reason.WORKER_NOT_AVAILABLE: "There is no such worker, or it cannot take this work.",
    Reason.TASK_NOT_FOUND: "There is no such task.",
    Reason.TASK_TERMINAL: "The task has ended and cannot change any more.",
    Reason.DEPENDENCY_CYCLE: "The steps would wait for each other.",
    Reason.STEP_NOT_FOUND: "There is no such step.",
    Reason.STEP_NOT_READY: "The step waits for others.",
    Reason.STEP_ALREADY_CLAIMED: "Another worker has the step.",
    Reason.STEP_HAS_DEPENDENTS: "Other steps need this one.",
    Reason.NO_STEP_CLAIMED: "Nothing was ready to be claimed. This is an answer, not a failure.",
    Reason.MEMORY_RECALL_FAILED: "Memory could not be read.",
    Reason.MEMORY_WRITE_FAILED: "Memory could not be written.",
    Reason.SKILL_NOT_FOUND: "There is no such skill.",
    Reason.SKILL_LOAD_FAILED: "The skill is there but cannot be loaded.",
}


def reference() -> str:
    """The reference page: every code, whether a retry can help, what it means."""
    rows = [f"| `{reason}` | {'yes' if reason in RETRYABLE else ''} | {MEANING[reason]} |" for reason in Reason]
    head = [
        "# Error codes",
        "",
        "This page is generated from the code: `python scripts/references.py`.",
        "",
        "`result.reason` is one of these, or `None` when the call succeeded. `result.error.retryable` says whether the",
        "same call can succeed later.",
        "",
        "| code | retry | what it means |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])
