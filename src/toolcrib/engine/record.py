"""What is written about a call: the started event before it runs, and its one result after."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolcrib.catalog.normalise import normalise
from toolcrib.catalog.validate import Validator
from toolcrib.engine.bound import cut
from toolcrib.engine.flight import Flight
from toolcrib.engine.request import shown_targets
from toolcrib.engine.steadfast import unstoppable
from toolcrib.ports import Conflict, Fenced, Unit
from toolcrib.values.call import Permit
from toolcrib.values.context import ToolContext
from toolcrib.values.event import Draft, EventType, Level
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.values.result import Block, JsonBlock, Text, ToolError, ToolResult, ToolReturn, block_text, result_json
from toolcrib.values.spec import Effect

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

LONG_TEXT = 1 << 18
OURS = frozenset({"duration_ms", "notice", "provider_call_id", "provider_name", "via"})
"""What the metadata of a result say about its call; a tool that returns such a key is not heard."""
_SCALARS = frozenset({int, float, bool, type(None)})
# Every call asks for these, and reading an enum's member is slow.
_STARTED, _COMPLETED, _INFO, _READ = str(EventType.TOOL_STARTED), str(EventType.TOOL_COMPLETED), Level.INFO, Effect.READ
DENIALS = frozenset(
    {Reason.PERMISSION_DENIED, Reason.TOPOLOGY_DENIED, Reason.CONTRACT_DRIFT, Reason.RATE_LIMITED}
    | {Reason.LOOP_DETECTED}
)


def started(permit: Permit, slot: Slot, flight: Flight, run: Run) -> Receipt | None:
    """Record that a call starts: to be awaited before anything that acts; a read's goes along as soon as it waits."""
    invocation = permit.invocation
    shown, found = run.runtime.redactor.json(invocation.arguments)
    tool = slot.tool
    payload: dict[str, Json] = {
        "name": tool.spec.name,
        "arguments": shown,
        "effect": "read" if invocation.effect is _READ else "write",
        "fingerprint": slot.fingerprint,
        "permit": permit.verdict_by,
    }
    if found:
        payload["redacted"] = found
    if permit.granted_by is not None:
        payload["granted_by"] = permit.granted_by
    if invocation.targets:
        targets = shown_targets(invocation.targets, run) if found else invocation.targets
        payload["targets"] = [[target.kind.value, target.value] for target in targets]
    if invocation.call.via is not None:
        payload["via"] = invocation.call.via
    if run.parent_call is not None:
        payload["parent_call"] = run.parent_call
    origin = run.origin
    draft = Draft(_STARTED, origin.session_id, origin.run_id, origin.agent_id, invocation.call_id, None, _INFO, payload)
    if slot.write_ahead:
        return run.runtime.store.append(Unit((draft,), run.ownership))
    if flight.task is None:
        flight.start = draft
    else:
        run.queue(draft)
    return None


async def recorded(start: Receipt, flight: Flight) -> None:
    """Wait until the start is durable; a call whose start cannot be recorded does not start."""
    try:
        await start
    except StoreError as error:
        message = f"{flight.call.name} was not started, because its start could not be recorded: {error}"
        raise Refusal(Reason.STORAGE_ERROR, message) from error


def concluded(flight: Flight, run: Run) -> ToolReturn:
    """What the call came to, in one form, checked against the output schema and without secrets."""
    returned = _returned(flight)
    if flight.plain:
        return returned
    content, found = run.runtime.redactor.content(returned.content)
    if not found and returned.error is None:
        return returned
    error = None if returned.error is None else _redacted_error(returned.error, run)
    return ToolReturn(content, returned.metadata, error)


async def concluded_aside(flight: Flight, run: Run) -> ToolReturn:
    """The same in a thread, so that a long text that has to be searched for secrets holds up nobody else."""
    concluding = asyncio.get_running_loop().run_in_executor(None, concluded, flight, run)
    flight.cancelled |= await unstoppable(concluding)
    return concluding.result()


def is_long(value: object) -> bool:
    """Whether a handler's value is a text that takes more than a moment to look through."""
    return isinstance(value, (str, bytes)) and len(value) > LONG_TEXT


async def bounded(flight: Flight, content: tuple[Block, ...], run: Run) -> tuple[Block, ...]:
    """Bound a result for the model; the whole of it becomes an artifact, or the result says that there is none."""
    parts = cut(content, run.runtime.bounds)
    if parts.overflow is None:
        return content
    put = run.runtime.store.artifacts.put(
        parts.overflow, mime_type=parts.mime_type, session_id=run.origin.session_id, call_id=flight.call_id
    )
    storing = asyncio.ensure_future(put)
    try:
        flight.cancelled |= await unstoppable(storing)
    except (StoreError, OSError) as error:
        return parts.without_artifact(str(error))
    return parts.with_artifact(storing.result().artifact_id)


def finished(flight: Flight, returned: ToolReturn, content: tuple[Block, ...], run: Run) -> tuple[ToolResult, Unit]:
    """The result as the model will read it, and the unit that records it with everything the handler put."""
    error = returned.error
    name = flight.call.name if flight.slot is None else flight.slot.tool.spec.name
    reason = None if error is None else error.code
    metadata = _metadata(name, flight, returned, run)
    if content is not returned.content:
        metadata["truncated"] = True
    call_id, start, context, origin = flight.call_id, flight.start, flight.context, run.origin
    result = ToolResult(call_id, name, content, reason, error, metadata)
    kind, level = (_COMPLETED, _INFO) if reason is None else (_event_type(reason), Level.WARNING)
    payload = result_json(result)
    end = Draft(kind, origin.session_id, origin.run_id, origin.agent_id, call_id, call_id, level, payload)
    drafts = (end,) if start is None else (start, end)
    if context is None or (context.documents is None and context.events is None) or error is not None:
        flight.start = flight.context = None  # what is not looked at again must not wait for the record with the call
        return result, Unit(drafts, run.ownership)
    emitted = tuple(_emitted(kind, body, flight, run) for kind, body in context.events or ())
    return result, Unit((*drafts[:-1], *emitted, end), run.ownership, tuple(context.documents or ()))


def unrecorded(result: ToolResult, error: StoreError, run: Run) -> ToolResult:
    """The call ran but its result could not be recorded: say so, and hand out nothing that is not on record.

    If the session has another owner by now, the late result becomes a note for it.
    """
    if isinstance(error, Fenced):
        late = run.draft(EventType.NOTE, result.call_id, {"late_result": result_json(result)}, Level.WARNING)
        run.runtime.store.queue(Unit((late,)))
    message = f"the result of {result.name} could not be recorded ({error}); whether it took effect is unknown"
    failure = ToolError(Reason.STORAGE_ERROR, message)
    return replace(result, content=(Text(message),), reason=failure.code, error=failure)


def conflicted(conflict: Conflict) -> Refusal:
    """What a call is told whose documents someone else changed meanwhile."""
    return Refusal(Reason.CONFLICT, f"{conflict}; read again and repeat the call")


def _returned(flight: Flight) -> ToolReturn:
    """The handler's value in one form, checked against the output schema; a refusal becomes its text."""
    refusal = flight.refusal
    if refusal is None:
        try:
            value = flight.value
            returned = normalise(value)
            plain = flight.plain = type(value) in _SCALARS
            output = None if flight.slot is None else flight.slot.checks.output
            if output is not None and returned.error is None:
                is_valid = output.is_valid
                if not is_valid(value if plain else _data(returned.content)):
                    raise _against_schema(flight.call.name, output, returned)
            return returned
        except Refusal as unusable:
            refusal = unusable
    flight.plain = False
    error = ToolError.of(refusal)
    partial = _partial(flight.context)
    content: tuple[Block, ...] = (Text(refusal.message), *((Text(partial),) if partial else ()))
    if refusal.reason in (Reason.ABORTED, Reason.TIMEOUT, Reason.CANCELLED):
        aborted = refusal.reason is not Reason.TIMEOUT
        details = {"aborted": aborted, "partial": bool(partial), "abort_reason": refusal.message, **refusal.details}
        error = replace(error, details=details)
    return ToolReturn(content, error=error)


def _data(content: tuple[Block, ...]) -> Json:
    """What of a result its output schema is about: the one JSON value, else the text."""
    if len(content) == 1 and type(block := content[0]) is JsonBlock:
        return block.data
    values = [block for block in content if type(block) is JsonBlock]
    if len(values) == 1:
        return values[0].data
    return "\n".join(block_text(block) for block in content) if content else None


def _against_schema(name: str, output: Validator, returned: ToolReturn) -> Refusal:
    problems = [str(problem) for problem in output.problems(_data(returned.content))]
    message = f"{name} returned something its own output schema does not allow: {'; '.join(problems)}"
    return Refusal(Reason.INTERNAL_ERROR, message, {"problems": problems})


def _partial(context: ToolContext | None) -> str:
    return "" if context is None or context.partial_output is None else "".join(context.partial_output)


def _emitted(kind: str, body: JsonObject, flight: Flight, run: Run) -> Draft:
    shown, _ = run.runtime.redactor.json(body)
    return run.draft(kind, flight.call_id, shown if isinstance(shown, Mapping) else {"redacted": shown})


def _redacted_error(error: ToolError, run: Run) -> ToolError:
    message, count = run.runtime.redactor.text(error.message)
    details, more = run.runtime.redactor.json(error.details)
    if not count and not more:
        return error
    assert isinstance(details, Mapping)
    return replace(error, message=message, details=details, redacted=True)


def _metadata(name: str, flight: Flight, returned: ToolReturn, run: Run) -> dict[str, Json]:
    monotonic = run.runtime.clock.monotonic
    spent = monotonic() - flight.began
    metadata: dict[str, Json] = {"duration_ms": int(spent * 1_000_000) / 1_000}
    if returned.metadata:
        told = ((key, value) for key, value in returned.metadata.items() if key not in OURS)
        metadata.update({key: run.runtime.redactor.json(value)[0] for key, value in told})
    if flight.notice is not None:
        metadata["notice"] = flight.notice
    call = flight.call
    if call.id is not None and call.id != flight.call_id:
        metadata["provider_call_id"] = call.id
    if call.name != name:
        metadata["provider_name"] = call.name
    if call.via is not None:
        metadata["via"] = call.via
    return metadata


def _event_type(reason: Reason) -> EventType:
    if reason is Reason.SKIPPED:
        return EventType.TOOL_SKIPPED
    return EventType.TOOL_DENIED if reason in DENIALS else EventType.TOOL_FAILED
