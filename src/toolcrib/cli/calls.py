"""The calls of a session, put together from their events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from toolcrib.cli.output import cut, json_text
from toolcrib.values.event import TERMINAL, Event, EventType
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen

ARGUMENTS = 80
_STATES = {
    EventType.TOOL_COMPLETED: "completed",
    EventType.TOOL_FAILED: "failed",
    EventType.TOOL_DENIED: "denied",
    EventType.TOOL_SKIPPED: "skipped",
}
_TOLD = (*_STATES, EventType.TOOL_STARTED, EventType.PERMISSION_ASKED, EventType.PERMISSION_ANSWERED)


@frozen
class Call:
    """One call as the journal tells it; what was erased is None."""

    call_id: str
    tool: str = "(erased)"
    arguments: Json = None
    state: str = "open"
    reason: str | None = None
    message: str | None = None
    asked: str | None = None
    started_at: float | None = None
    ended_at: float | None = None


def calls_of(events: Iterable[Event]) -> list[Call]:
    """Every call that these events tell of, in the order of their first event."""
    calls: dict[str, Call] = {}
    for event in events:
        if event.call_id is not None and event.type in _TOLD:
            known = calls.get(event.call_id) or Call(event.call_id)
            calls[event.call_id] = _after(known, event, event.payload or {})
    return list(calls.values())


def outcome(call: Call) -> str:
    """How the call ended, and how a person answered for it."""
    ended = call.state if call.reason is None else f"{call.state}: {call.reason}"
    return f"{ended} ({call.asked})" if call.asked else ended


def arguments_text(call: Call) -> str:
    if call.arguments is None:
        return ""
    return cut(json_text(call.arguments, indent=None), ARGUMENTS)


def call_json(call: Call) -> dict[str, Json]:
    """A call as `--json` prints it."""
    return {
        "call_id": call.call_id,
        "tool": call.tool,
        "arguments": call.arguments,
        "state": call.state,
        "reason": call.reason,
        "message": call.message,
        "asked": call.asked,
        "started_at": call.started_at,
        "ended_at": call.ended_at,
    }


def _after(call: Call, event: Event, payload: Mapping[str, Json]) -> Call:
    """The call once this event has happened to it."""
    tool = payload.get("name") or payload.get("tool")
    if isinstance(tool, str):
        call = replace(call, tool=tool)
    if event.type == EventType.TOOL_STARTED:
        return replace(call, arguments=payload.get("arguments"), started_at=event.created_at)
    if event.type == EventType.PERMISSION_ASKED:
        return replace(call, asked="asked")
    if event.type == EventType.PERMISSION_ANSWERED:
        return replace(call, asked=_text(payload.get("answer")) or "answered")
    assert event.type in TERMINAL
    error = payload.get("error")
    message = _text(error.get("message")) if isinstance(error, Mapping) else None
    ended = replace(call, state=_STATES[EventType(event.type)], message=message, ended_at=event.created_at)
    return replace(ended, reason=_text(payload.get("reason")))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
