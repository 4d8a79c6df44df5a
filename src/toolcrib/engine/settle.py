"""The counter: every call, from whatever surface, is settled here and nowhere else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolcrib.engine import watchers
from toolcrib.engine.flight import Flight
from toolcrib.engine.record import Outcome, conflicted, finished, started, unrecorded, unstoppable
from toolcrib.ports import Conflict
from toolcrib.values.call import Permit, ToolCall
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.values.result import ToolResult

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run

MAX_TRIES = 3


async def settle(call: ToolCall, run: Run) -> ToolResult:
    """Take one call to its one durable result, aborted or not."""
    outcome = await _attempt(call, run)
    return await _finish(outcome, run)


async def skip(call: ToolCall, run: Run, refusal: Refusal) -> ToolResult:
    """Give a call that must not start its one result."""
    outcome = Outcome(run.board(call), refusal=refusal)
    await run.land(outcome.flight)
    return await _finish(outcome, run)


async def _attempt(call: ToolCall, run: Run) -> Outcome:
    """Prove, permit and execute one call; whatever stops it becomes a value here."""
    flight = run.board(call)
    outcome = Outcome(flight)
    try:
        run.check_alive(call)
        slot = flight.slot = run.tools.require(call.name)
        run.check_contract(slot)
        run.take(slot)
        invocation = flight.invocation = slot.invoke(call, flight.call_id)
        await watchers.before(slot, invocation, flight, run)
        permit = outcome.permit = await run.gate.permit(slot, invocation, flight, run)
        outcome.value = await _execute(permit, slot, flight, run)
    except (Refusal, asyncio.CancelledError) as stop:
        _stopped(outcome, stop)
    await run.land(flight)
    return outcome


async def _execute(permit: Permit, slot: Slot, flight: Flight, run: Run) -> object:
    """In its lane, on record and under its time limit: run the handler."""
    context = flight.context = run.context(permit)
    lane = await run.enter(permit.invocation, context)
    try:
        await started(permit, slot, flight, run)
        run.runtime.watch.start(flight, slot.timeout)
        return await run.runtime.executor.execute(permit, context)
    finally:
        run.runtime.watch.done(flight, slot.timeout)
        run.leave(lane, context)


def _stopped(outcome: Outcome, stop: Refusal | asyncio.CancelledError) -> None:
    """Say why a call has no value: refused, stopped by a limit or an abort, or cancelled from outside."""
    flight = outcome.flight
    if isinstance(stop, Refusal):
        outcome.refusal = stop
    elif flight.stop is not None:
        outcome.refusal = flight.stop
    else:
        outcome.cancelled = True
        outcome.refusal = Refusal(Reason.CANCELLED, f"{flight.call.name} was cancelled by its caller")


async def _finish(outcome: Outcome, run: Run) -> ToolResult:
    """Redact, bound and record the one result; nothing can cancel this, and what watches comes after."""
    result, unit = await finished(outcome, run)
    try:
        outcome.cancelled |= await unstoppable(run.runtime.store.append(unit))
    except Conflict as conflict:
        return await _finish(await _again(outcome, conflict, run), run)
    except StoreError as error:
        result = unrecorded(result, error)
    if outcome.cancelled:
        raise asyncio.CancelledError
    slot, permit = outcome.flight.slot, outcome.permit
    if permit is not None and slot is not None and slot.after:
        await watchers.after(slot, permit.invocation, result, run)
    return result


async def _again(outcome: Outcome, conflict: Conflict, run: Run) -> Outcome:
    """Documents changed meanwhile: a transactional tool runs again, any other is told of the conflict."""
    permit, flight = outcome.permit, outcome.flight
    if permit is None or not permit.invocation.tool.transactional or outcome.tries >= MAX_TRIES:
        return conflicted(outcome, conflict)
    again = Outcome(flight, permit=permit, tries=outcome.tries + 1)
    context = flight.context = run.context(permit)
    try:
        again.value = await run.runtime.executor.execute(permit, context)
    except (Refusal, asyncio.CancelledError) as stop:
        _stopped(again, stop)
    return again
