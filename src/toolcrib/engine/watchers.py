"""Hooks around a call: before, any of them may veto or ask for a person; after, they only watch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolcrib.engine.flight import Flight, promptly
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Hook, HookAnswer, HookVerdict
from toolcrib.values.call import Invocation
from toolcrib.values.event import EventType, Level
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run


async def before(slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> None:
    """Run the pre hooks in order; the first denial refuses, a failing hook denies unless it is lenient."""
    for hook in slot.before:
        if flight.task is None:
            flight.seconds, flight.stage = hook.timeout, hook.name
        else:
            flight.limit(hook.timeout, hook.name)
        try:
            answer = await hook.before(invocation, run.origin)
            if answer is not None and answer.decision is not HookVerdict.ALLOW:
                _heed(hook, answer, invocation, flight, run)
        except Refusal:
            raise
        except asyncio.CancelledError:
            if not _forgiven(hook, flight):
                raise
        except Exception as error:
            _failed(hook, invocation, error, run)
    flight.limit(0)


async def after(slot: Slot, invocation: Invocation, result: ToolResult, run: Run) -> None:
    """Run the post hooks, each under its own limit; the result is already recorded and no failure changes it."""
    for hook in slot.after:
        try:
            watching = promptly(hook.after(invocation, result, run.origin))
            if watching is not None:
                async with asyncio.timeout(hook.timeout):
                    await watching
        except Exception as error:
            _note_failure(hook, invocation, f"{type(error).__name__}: {error}", run)


def _heed(hook: Hook, answer: HookAnswer, invocation: Invocation, flight: Flight, run: Run) -> None:
    because = answer.reason[:500] or f"the hook {hook.name} says so"
    if answer.decision is HookVerdict.ASK:
        flight.ask = Decision(Verdict.ASK, hook.name, "hook", because)
        return
    run.note(EventType.HOOK_DENIED, invocation.call_id, {"hook": hook.name, "reason": because})
    raise Refusal(
        Reason.PERMISSION_DENIED,
        f"{invocation.tool.name} was refused by the hook {hook.name}: {because}",
        {"rule": hook.name, "layer": "hook"},
    )


def _forgiven(hook: Hook, flight: Flight) -> bool:
    """A lenient hook that ran out of time is passed over; every other cancellation stands."""
    stop = flight.stop
    if not hook.lenient or stop is None or stop.reason is not Reason.PERMISSION_DENIED or flight.task is None:
        return False
    flight.stop = None
    flight.task.uncancel()
    return True


def _failed(hook: Hook, invocation: Invocation, error: Exception, run: Run) -> None:
    _note_failure(hook, invocation, f"{type(error).__name__}: {error}", run)
    if not hook.lenient:
        message = f"the hook {hook.name} failed, so {invocation.tool.name} is denied; an operator has to mend the hook"
        raise Refusal(Reason.PERMISSION_DENIED, message, {"rule": hook.name, "layer": "hook"}) from error


def _note_failure(hook: Hook, invocation: Invocation, problem: str, run: Run) -> None:
    payload = {"hook": hook.name, "problem": problem[:500]}
    run.note(EventType.HOOK_FAILED, invocation.call_id, payload, Level.WARNING)
