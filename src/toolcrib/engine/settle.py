"""The counter: every call, from whatever surface, is settled here and nowhere else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolcrib.engine import watchers
from toolcrib.engine.bound import is_short
from toolcrib.engine.envelope import unwrapped
from toolcrib.engine.flight import Flight, failure_of, promptly
from toolcrib.engine.record import (
    bounded,
    concluded,
    concluded_aside,
    conflicted,
    finished,
    is_long,
    recorded,
    started,
    unrecorded,
)
from toolcrib.engine.repetition import draw, saw
from toolcrib.ports import Conflict, Question
from toolcrib.values.call import Permit, ToolCall
from toolcrib.values.name import ENVELOPES
from toolcrib.values.refusal import Refusal, StoreError
from toolcrib.values.result import ToolResult

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

MAX_TRIES = 3


async def settle(call: ToolCall, run: Run, parked: Question | None = None) -> ToolResult:
    """Take one call to its one durable result, aborted or not; one that was parked goes on under its old id."""
    flight = run.board(call)
    if parked is not None:
        flight.resume(parked)
    if run.place is not None:
        run.place()
    attempt = promptly(_attempt(call, flight, run))
    if attempt is not None:
        await flight.wait(attempt)
    return await _finish(flight, run)


async def skip(call: ToolCall, run: Run, refusal: Refusal, parked: Question | None = None) -> ToolResult:
    """Give a call that must not start its one result."""
    flight = run.board(call)
    if parked is not None:
        flight.resume(parked)
    flight.refusal = refusal
    return await _finish(flight, run)


async def _attempt(call: ToolCall, flight: Flight, run: Run) -> None:
    """Prove, permit and execute one call; whatever stops it becomes a value here."""
    try:
        run.check_alive(call)
        if call.name in ENVELOPES:
            call = flight.call = unwrapped(call)
        slot = flight.slot = run.tools.require(call.name)
        run.check_contract(slot)
        if flight.parked is None and not run.take(slot, flight):
            await draw(slot, flight, run)
        invocation = slot.invoke(call, flight.call_id)
        if slot.before:
            await watchers.before(slot, invocation, flight, run)
        permit = flight.permit = run.gate.pass_through(slot, invocation, flight, run) or await run.gate.permit(
            slot, invocation, flight, run
        )
        flight.value = await _execute(permit, slot, flight, run)
    except (Refusal, asyncio.CancelledError) as stop:
        flight.stopped(stop)
    flight.closed = True
    if flight.stop is not None:
        await flight.take_back()


async def _execute(permit: Permit, slot: Slot, flight: Flight, run: Run) -> object:
    """In its lane, on record and under its time limit: run the handler."""
    context = flight.context = run.context(permit)
    lane = context.lane = run.lane_for(permit.invocation, slot)
    if not run.lane.try_enter(lane):
        await run.lane.enter(lane)
    try:
        if run.aborted is not None or run.parent is not None:
            run.check_running()
        start = started(permit, slot, flight, run)
        if start is not None:
            await recorded(start, flight)
        if flight.task is None:
            flight.stage = slot
        else:
            flight.enter(slot)
        return await run.runtime.executor.execute(permit, context)
    except BaseException as error:
        if (failure := failure_of(error, slot.tool, flight)) is error:
            raise
        raise failure from error
    finally:
        if context.lingering is None:
            run.lane.leave(lane)
        else:
            run.lane.leave_later(lane, context.lingering)


async def _finish(flight: Flight, run: Run) -> ToolResult:
    """Redact, bound and record the one result; nothing can cancel this, and what watches comes after."""
    returned = await concluded_aside(flight, run) if is_long(flight.value) else concluded(flight, run)
    content = returned.content
    if not flight.plain and not is_short(content, run.runtime.bounds):
        content = await bounded(flight, content, run)
    if flight.counted:
        saw(flight, returned, content, run)
    result, unit = finished(flight, returned, content, run)
    try:
        record = run.runtime.store.append(unit)
        del returned, unit  # with many who wait, this is most of what lies about
        if record.said is None:
            try:
                await record
            except asyncio.CancelledError:  # heard when the record is there
                flight.cancelled = True
        if type(record.said) is not int:
            record.result()
    except Conflict as conflict:
        await _again(flight, conflict, run)
        return await _finish(flight, run)
    except StoreError as error:
        result = unrecorded(result, error, run)
    if flight.cancelled:
        raise asyncio.CancelledError
    if run.display is not None:
        run.display.settled(flight, result)
    slot, permit = flight.slot, flight.permit
    if permit is not None and slot is not None and slot.after:
        await watchers.after(permit, slot, flight, result, run)
    return result


async def _again(flight: Flight, conflict: Conflict, run: Run) -> None:
    """Documents changed meanwhile: a transactional tool runs again, any other is told of the conflict."""
    permit = flight.permit
    flight.value = flight.context = None
    flight.counted = False  # it has been counted
    if permit is None or not permit.invocation.tool.transactional or flight.tries >= MAX_TRIES:
        flight.refusal = conflicted(conflict)
        return
    flight.tries += 1
    context = flight.context = run.context(permit)
    try:
        flight.value = await run.runtime.executor.execute(permit, context)
    except (Exception, asyncio.CancelledError) as error:
        flight.stopped(failure_of(error, permit.invocation.tool, flight))
