"""What is written about a call: the started event before it runs, and its one result after."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from toolcrib.catalog.validate import Validator
from toolcrib.engine.bound import Cut, cut
from toolcrib.engine.flight import Flight
from toolcrib.engine.normalise import normalise
from toolcrib.ports import Conflict, Unit
from toolcrib.values.call import Permit
from toolcrib.values.context import ToolContext
from toolcrib.values.event import EventType, Level
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.values.result import Block, JsonBlock, Text, ToolError, ToolResult, ToolReturn, block_text, result_json

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

T = TypeVar("T")
DENIALS = frozenset({Reason.PERMISSION_DENIED, Reason.TOPOLOGY_DENIED, Reason.CONTRACT_DRIFT, Reason.RATE_LIMITED})


@dataclass(slots=True)
class Outcome:
    """What happened to a call, before it is recorded: a value, or why there is none."""

    flight: Flight
    value: object = None
    refusal: Refusal | None = None
    permit: Permit | None = None
    cancelled: bool = False
    tries: int = 1


async def started(permit: Permit, slot: Slot, flight: Flight, run: Run) -> None:
    """Record that a call starts: durable before anything that acts, queued before anything that only reads."""
    invocation = permit.invocation
    shown, found = run.runtime.redactor.json(invocation.arguments)
    payload: dict[str, Json] = {
        "name": invocation.tool.name,
        "arguments": shown,
        "effect": invocation.effect.value,
        "fingerprint": invocation.tool.fingerprint,
        "permit": permit.verdict_by,
    }
    if found:
        payload["redacted"] = found
    if permit.granted_by:
        payload["granted_by"] = permit.granted_by
    if invocation.targets:
        payload["targets"] = [[target.kind.value, target.value] for target in invocation.targets]
    if invocation.call.via:
        payload["via"] = invocation.call.via
    if run.parent_call is not None:
        payload["parent_call"] = run.parent_call
    unit = Unit((run.draft(EventType.TOOL_STARTED, invocation.call_id, payload),), run.ownership)
    if not slot.write_ahead:
        run.runtime.store.queue(unit)
    else:
        try:
            await run.runtime.store.append(unit)
        except StoreError as error:
            message = f"{invocation.tool.name} was not started, because its start could not be recorded: {error}"
            raise Refusal(Reason.STORAGE_ERROR, message) from error
    flight.started = True


async def finished(outcome: Outcome, run: Run) -> tuple[ToolResult, Unit]:
    """The result as the model will read it, and the unit that records it with everything the handler put."""
    flight = outcome.flight
    returned = _returned(outcome)
    content = _redacted(returned.content, run)
    bounded = cut(content, run.runtime.bounds)
    if bounded.overflow is not None:
        content = await _spill(outcome, bounded, run)
    else:
        content = bounded.content
    error = _redacted_error(returned.error, run)
    name = flight.slot.tool.name if flight.slot is not None else flight.call.name
    metadata = _metadata(flight, returned, run)
    result = ToolResult(flight.call_id, name, content, error.code if error else None, error, metadata)
    drafts = (run.draft(_event_type(result), flight.call_id, result_json(result), _level(result), flight.call_id),)
    context = flight.context
    if context is None or (context.documents is None and context.events is None) or error is not None:
        return result, Unit(drafts, run.ownership)
    extra = tuple(
        run.draft(kind, flight.call_id, run.runtime.redactor.json(body)[0]) for kind, body in context.events or ()
    )
    return result, Unit((*extra, *drafts), run.ownership, tuple(context.documents or ()))


def unrecorded(result: ToolResult, error: StoreError) -> ToolResult:
    """The call ran but its result could not be recorded: say so, and hand out nothing that is not on record."""
    message = f"the result of {result.name} could not be recorded ({error}); whether it took effect is unknown"
    failure = ToolError(Reason.STORAGE_ERROR, message)
    return replace(result, content=(Text(message),), reason=failure.code, error=failure)


def conflicted(outcome: Outcome, conflict: Conflict) -> Outcome:
    """The outcome of a call whose documents someone else changed meanwhile."""
    message = f"{conflict}; read again and repeat the call"
    return Outcome(outcome.flight, refusal=Refusal(Reason.CONFLICT, message), permit=outcome.permit)


async def unstoppable(future: asyncio.Future[T]) -> bool:
    """Wait for a record to its end; says whether a cancellation came meanwhile."""
    cancelled = False
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            if future.cancelled():
                raise
            cancelled = True
        except Exception:
            break
    future.result()
    return cancelled


def _returned(outcome: Outcome) -> ToolReturn:
    """The handler's value in one form, checked against the output schema; a refusal becomes its text."""
    flight = outcome.flight
    refusal = outcome.refusal
    if refusal is None:
        try:
            returned = normalise(outcome.value)
            if flight.slot is not None and (output := flight.slot.checks.output) is not None and returned.error is None:
                _check_output(flight.slot.tool.name, output, returned)
            return returned
        except Refusal as unusable:
            refusal = unusable
    error = ToolError.of(refusal)
    partial = _partial(flight.context)
    content: tuple[Block, ...] = (Text(refusal.message), *((Text(partial),) if partial else ()))
    if refusal.reason in (Reason.ABORTED, Reason.TIMEOUT, Reason.CANCELLED):
        aborted = refusal.reason is not Reason.TIMEOUT
        details = {"aborted": aborted, "partial": bool(partial), "abort_reason": refusal.message, **refusal.details}
        error = replace(error, details=details)
    return ToolReturn(content, error=error)


async def _spill(outcome: Outcome, bounded: Cut, run: Run) -> tuple[Block, ...]:
    """Keep what does not fit as an artifact; when that fails, say that the rest is not available."""
    flight = outcome.flight
    put = run.runtime.store.artifacts.put(
        bounded.overflow or (), mime_type=bounded.mime_type, session_id=run.origin.session_id, call_id=flight.call_id
    )
    storing = asyncio.ensure_future(put)
    try:
        outcome.cancelled |= await unstoppable(storing)
    except (StoreError, OSError) as error:
        return bounded.without_artifact(str(error))
    return bounded.with_artifact(storing.result().artifact_id)


def _check_output(name: str, output: Validator, returned: ToolReturn) -> None:
    data = next((block.data for block in returned.content if isinstance(block, JsonBlock)), None)
    if data is None and returned.content:
        data = "\n".join(block_text(block) for block in returned.content)
    if not output.is_valid(data):
        problems = [str(problem) for problem in output.problems(data)]
        message = f"{name} returned something its own output schema does not allow: {'; '.join(problems)}"
        raise Refusal(Reason.INTERNAL_ERROR, message, {"problems": problems})


def _partial(context: ToolContext | None) -> str:
    return "" if context is None or context.partial_output is None else "".join(context.partial_output)


def _redacted(content: tuple[Block, ...], run: Run) -> tuple[Block, ...]:
    redactor = run.runtime.redactor
    found = False
    blocks: list[Block] = []
    for block in content:
        if isinstance(block, Text):
            text, count = redactor.text(block.text)
            block = Text(text) if count else block
        elif isinstance(block, JsonBlock):
            data, count = redactor.json(block.data)
            block = replace(block, data=data) if count else block
        else:
            count = 0
        found = found or bool(count)
        blocks.append(block)
    return tuple(blocks) if found else content


def _redacted_error(error: ToolError | None, run: Run) -> ToolError | None:
    if error is None:
        return None
    message, count = run.runtime.redactor.text(error.message)
    details, more = run.runtime.redactor.json(error.details)
    if not count and not more:
        return error
    assert isinstance(details, Mapping)
    return replace(error, message=message, details=details, redacted=True)


def _metadata(flight: Flight, returned: ToolReturn, run: Run) -> JsonObject:
    metadata: dict[str, Json] = {"duration_ms": round((run.runtime.clock.monotonic() - flight.began) * 1000, 3)}
    if returned.metadata:
        metadata.update({key: run.runtime.redactor.json(value)[0] for key, value in returned.metadata.items()})
    if flight.call.id is not None and flight.call.id != flight.call_id:
        metadata["provider_call_id"] = flight.call.id
    if flight.slot is not None and flight.call.name != flight.slot.tool.name:
        metadata["provider_name"] = flight.call.name
    return metadata


def _event_type(result: ToolResult) -> EventType:
    if result.reason is None:
        return EventType.TOOL_COMPLETED
    if result.reason is Reason.SKIPPED:
        return EventType.TOOL_SKIPPED
    return EventType.TOOL_DENIED if result.reason in DENIALS else EventType.TOOL_FAILED


def _level(result: ToolResult) -> Level:
    return Level.INFO if result.reason is None else Level.WARNING
