"""The counter: every call, from whatever surface, is settled here and nowhere else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolcrib.engine import watchers
from toolcrib.engine.bound import cut
from toolcrib.engine.flight import Flight, Waiting, promptly
from toolcrib.engine.record import concluded, conflicted, finished, recorded, spilled, started, unrecorded, unstoppable
from toolcrib.ports import Conflict
from toolcrib.values.call import Permit, ToolCall
from toolcrib.values.refusal import Refusal, StoreError
from toolcrib.values.result import ToolResult

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

MAX_TRIES = 3


async def settle(call: ToolCall, run: Run) -> ToolResult:
    """Take one call to its one durable result, aborted or not."""
    flight = await _attempt(call, run)
    return await _finish(flight, run)


async def skip(call: ToolCall, run: Run, refusal: Refusal) -> ToolResult:
    """Give a call that must not start its one result."""
    flight = run.board(call)
    flight.refusal = refusal
    run.landed(flight)
    return await _finish(flight, run)


async def _attempt(call: ToolCall, run: Run) -> Flight:
    """Prove, permit and execute one call; whatever stops it becomes a value here."""
    flight = run.board(call)
    try:
        run.check_alive(call)
        slot = flight.slot = run.tools.require(call.name)
        run.check_contract(slot)
        run.take(slot)
        invocation = slot.invoke(call, flight.call_id)
        if slot.before:
            await watchers.before(slot, invocation, flight, run)
        permit = flight.permit = await run.gate.permit(slot, invocation, flight, run)
        flight.value = await _execute(permit, slot, flight, run)
    except (Refusal, asyncio.CancelledError) as stop:
        flight.stopped(stop)
    run.landed(flight)
    if flight.stop is not None:
        await flight.take_back()
    return flight


async def _execute(permit: Permit, slot: Slot, flight: Flight, run: Run) -> object:
    """In its lane, on record and under its time limit: run the handler."""
    context = flight.context = run.context(permit)
    lane = run.lane_for(permit.invocation, slot, context)
    if lane is not None and not run.lane.try_enter(lane):
        flight.waits()
        await run.lane.enter(lane)
    try:
        run.check_running()
        start = started(permit, slot, flight, run)
        if start is not None:
            await recorded(start, flight)
        value = promptly(run.runtime.executor.execute(permit, context))
        if isinstance(value, Waiting):
            value = await value.end(flight, slot.timeout, run.runtime.watch)
        return value
    finally:
        run.leave(lane, context)


async def _finish(flight: Flight, run: Run) -> ToolResult:
    """Redact, bound and record the one result; nothing can cancel this, and what watches comes after."""
    returned = concluded(flight, run)
    bounded = cut(returned.content, run.runtime.bounds)
    content = bounded.content if bounded.overflow is None else await spilled(flight, bounded, run)
    result, unit = finished(flight, returned, content, run)
    try:
        record = run.runtime.store.append(unit)
        if not record.done():
            flight.cancelled |= await unstoppable(record)
        record.result()
    except Conflict as conflict:
        await _again(flight, conflict, run)
        return await _finish(flight, run)
    except StoreError as error:
        result = unrecorded(result, error)
    if flight.cancelled:
        raise asyncio.CancelledError
    slot, permit = flight.slot, flight.permit
    if permit is not None and slot is not None and slot.after:
        await watchers.after(slot, permit.invocation, result, run)
    return result


async def _again(flight: Flight, conflict: Conflict, run: Run) -> None:
    """Documents changed meanwhile: a transactional tool runs again, any other is told of the conflict."""
    permit = flight.permit
    flight.value = flight.context = None
    if permit is None or not permit.invocation.tool.transactional or flight.tries >= MAX_TRIES:
        flight.refusal = conflicted(conflict)
        return
    flight.tries += 1
    context = flight.context = run.context(permit)
    try:
        flight.value = await run.runtime.executor.execute(permit, context)
    except (Refusal, asyncio.CancelledError) as stop:
        flight.stopped(stop)
