"""After a crash: give every call that was left open its one result, from the journal alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolcrib.engine.settle import settle, skip
from toolcrib.values.call import ToolCall
from toolcrib.values.event import TERMINAL, Event, EventType
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import NOTHING

if TYPE_CHECKING:
    from toolcrib.engine.run import Run

PAGE = 1_000


async def recover(run: Run) -> tuple[ToolResult, ...]:
    """Settle what never started or only read; report `interrupted` for what may have acted. Nothing acts twice."""
    started, asked, ended = await _survey(run)
    results: list[ToolResult] = []
    for call_id, event in started.items():
        if call_id not in ended:
            asked.pop(call_id, None)
            results.append(await _started_call(event, run))
    for call_id, call in asked.items():
        if call_id not in ended:
            results.append(await _asked_call(call, run))
    return tuple(results)


async def _survey(run: Run) -> tuple[dict[str, Event], dict[str, Mapping[str, Json]], set[str]]:
    """Read the session once: what was asked for in turns, what started, what ended."""
    started: dict[str, Event] = {}
    asked: dict[str, Mapping[str, Json]] = {}
    ended: set[str] = set()
    after = 0
    while page := await run.runtime.store.events(session_id=run.origin.session_id, after=after, limit=PAGE):
        _sort(page, started, asked, ended)
        after = page[-1].seq
    return started, asked, ended


def _sort(
    page: Sequence[Event], started: dict[str, Event], asked: dict[str, Mapping[str, Json]], ended: set[str]
) -> None:
    for event in page:
        if event.type == EventType.TOOL_STARTED and event.call_id:
            started[event.call_id] = event
        elif event.type in TERMINAL and event.call_id:
            ended.add(event.call_id)
            started.pop(event.call_id, None)
            asked.pop(event.call_id, None)
        elif event.type == "turn_started" and event.payload:
            calls = event.payload.get("calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                    asked[str(call["id"])] = call


async def _started_call(event: Event, run: Run) -> ToolResult:
    payload = event.payload or {}
    call = _call_of(event.call_id, payload)
    if payload.get("effect") == "read" and not payload.get("redacted") and event.payload is not None:
        return await settle(call, run)
    message = (
        f"{call.name} had started when the process ended; whether it took effect is unknown, and it was not repeated"
    )
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message))


async def _asked_call(asked: Mapping[str, Json], run: Run) -> ToolResult:
    call = _call_of(str(asked["id"]), asked)
    if not asked.get("redacted"):
        return await settle(call, run)
    message = (
        f"{call.name} had not started when the process ended; secrets in its arguments are not kept, so call again"
    )
    return await skip(call, run, Refusal(Reason.INTERRUPTED, message))


def _call_of(call_id: str | None, payload: Mapping[str, Json]) -> ToolCall:
    arguments = payload.get("arguments")
    if not isinstance(arguments, (str, Mapping)):
        arguments = NOTHING
    return ToolCall(str(payload.get("name", "")), arguments, call_id)
