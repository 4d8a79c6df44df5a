"""Hooks around a call: before, any of them may veto or ask for a person; after, they only watch.

A hook sees copies: it can say no, it cannot change anything. What it says is on record with the time it took; a hook in
Python that has nothing to say (None) leaves no record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolcrib.engine.flight import Flight, promptly
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Hook, HookAnswer, HookEvent, HookVerdict, Listener
from toolcrib.values.call import Invocation, Permit
from toolcrib.values.event import EventType, Level
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import JsonBlock, ToolResult

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.run import Run
    from toolcrib.values.permission import PermissionRequest


async def before(slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> None:
    """Run the pre hooks in order; the first denial refuses, a failing hook denies unless it is lenient."""
    shown, clock = _copy_of(invocation, slot), run.runtime.clock.monotonic
    for hook in slot.before:
        began = clock()
        if flight.task is None:
            flight.stage = hook
        else:
            flight.enter(hook)
        try:
            try:
                answer = await hook.before(shown, run.origin)
            except Refusal as refusal:
                answer = HookAnswer(HookVerdict.DENY, refusal.message)
            if answer is not None:
                _heed(hook, answer, invocation, flight, run, clock() - began)
        except Refusal:
            raise
        except asyncio.CancelledError:
            if flight.stop is not None and flight.stop.reason is Reason.PERMISSION_DENIED:
                _failed(hook, invocation.call_id, f"no answer within {hook.timeout:g} s", run, clock() - began)
            if not _forgiven(hook, flight):
                raise
        except Exception as error:
            _failed(hook, invocation.call_id, f"{type(error).__name__}: {error}", run, clock() - began)
            if not hook.lenient:
                raise _broken(hook, invocation.tool.name) from error
    if flight.task is None:
        flight.stage = None
    else:
        flight.enter(None)


async def after(permit: Permit, slot: Slot, flight: Flight, result: ToolResult, run: Run) -> None:
    """Run the post hooks, each under its own limit; the result is already recorded and no failure changes it."""
    shown = result if flight.plain else _result_copy(result)
    invocation, clock = permit.invocation, run.runtime.clock.monotonic
    for hook in slot.after:
        began = clock()
        try:
            watching = promptly(hook.after(invocation, shown, run.origin))
            if watching is not None:
                async with asyncio.timeout(hook.timeout):
                    await watching
                if hook.declared:
                    _record(EventType.HOOK_COMPLETED, hook, invocation.call_id, {}, run, clock() - began)
        except Exception as error:
            _failed(hook, invocation.call_id, f"{type(error).__name__}: {error}", run, clock() - began)


async def requested(slot: Slot, request: PermissionRequest, run: Run) -> None:
    """Before a person is asked: a hook may deny. It cannot allow, and asking is what happens anyway."""
    if not run.runtime.listeners:
        return
    facts: dict[str, Json] = {
        "request_id": request.request_id,
        "call_id": request.call_id,
        "tool": request.tool,
        "effect": request.effect.value,
        "arguments": request.arguments,
        "because": request.because,
        "rule": request.rule,
        "targets": [[target.kind.value, target.value] for target in request.targets],
    }
    answer = await heard(run, HookEvent.PERMISSION_REQUEST, facts, slot)
    if answer is not None and answer.decision is HookVerdict.DENY:
        message = f"{request.tool} was refused by a hook before anybody was asked: {answer.reason or 'it says so'}"
        raise Refusal(Reason.PERMISSION_DENIED, message, {"rule": "PermissionRequest", "layer": "hook"})


async def heard(run: Run, event: HookEvent, facts: JsonObject, slot: Slot | None = None) -> HookAnswer | None:
    """Tell the listeners of an occasion; the strictest answer, a failure counting as a denial unless lenient."""
    origin, strictest = run.origin, None
    occasion: dict[str, Json] = {
        "event": event.value,
        "session_id": origin.session_id,
        "run_id": origin.run_id,
        "agent_id": origin.agent_id,
        "role": origin.role.value,
        **facts,
    }
    for listener in run.runtime.listeners:
        if listener.event is event and (slot is None or listener.matches(slot.tool.spec)):
            answer = await _answer(listener, occasion, run)
            if answer is not None and answer.decision is HookVerdict.DENY:
                return answer
            if answer is not None and answer.decision is HookVerdict.ASK:
                strictest = answer
    return strictest


async def _answer(listener: Listener, occasion: JsonObject, run: Run) -> HookAnswer | None:
    clock = run.runtime.clock.monotonic
    began, call_id = clock(), occasion.get("call_id")
    named = call_id if isinstance(call_id, str) else None
    try:
        async with asyncio.timeout(listener.timeout):
            answer = await listener.hear(occasion)
    except Exception as error:
        problem = f"no answer within {listener.timeout:g} s" if isinstance(error, TimeoutError) else str(error)
        _failed(listener, named, problem, run, clock() - began)
        if listener.lenient:
            return None
        return HookAnswer(HookVerdict.DENY, f"the hook {listener.name} failed; an operator has to mend it")
    if answer is not None:
        _record(_kind(answer), listener, named, {"reason": answer.reason[:500]}, run, clock() - began)
    return answer


def _heed(hook: Hook, answer: HookAnswer, invocation: Invocation, flight: Flight, run: Run, seconds: float) -> None:
    kind = _kind(answer)
    because = answer.reason[:500] or f"the hook {hook.name} says so"
    _record(kind, hook, invocation.call_id, {"reason": because} if answer.reason else {}, run, seconds)
    if kind is EventType.HOOK_ASKED:
        flight.ask = Decision(Verdict.ASK, hook.name, "hook", because)
    elif kind is EventType.HOOK_DENIED:
        raise Refusal(
            Reason.PERMISSION_DENIED,
            f"{invocation.tool.name} was refused by the hook {hook.name}: {because}",
            {"rule": hook.name, "layer": "hook"},
        )


def _kind(answer: HookAnswer) -> EventType:
    match answer.decision:
        case HookVerdict.ALLOW:
            return EventType.HOOK_COMPLETED
        case HookVerdict.ASK:
            return EventType.HOOK_ASKED
        case HookVerdict.DENY:
            return EventType.HOOK_DENIED


def _forgiven(hook: Hook, flight: Flight) -> bool:
    """A lenient hook that ran out of time is passed over; every other cancellation stands."""
    stop = flight.stop
    if not hook.lenient or stop is None or stop.reason is not Reason.PERMISSION_DENIED or flight.task is None:
        return False
    flight.stop = None
    flight.task.uncancel()
    return True


def _broken(hook: Hook, tool: str) -> Refusal:
    message = f"the hook {hook.name} failed, so {tool} is denied; an operator has to mend the hook"
    return Refusal(Reason.PERMISSION_DENIED, message, {"rule": hook.name, "layer": "hook"})


def _failed(hook: Hook | Listener, call_id: str | None, problem: str, run: Run, seconds: float) -> None:
    shown, _ = run.runtime.redactor.text(problem)
    _record(EventType.HOOK_FAILED, hook, call_id, {"problem": shown[:500]}, run, seconds)


def _record(
    kind: EventType, hook: Hook | Listener, call_id: str | None, facts: JsonObject, run: Run, seconds: float
) -> None:
    level = Level.WARNING if kind is EventType.HOOK_FAILED else Level.INFO
    payload: JsonObject = {
        "hook": hook.name,
        "event": hook.event.value,
        **facts,
        "duration_ms": round(seconds * 1e3, 3),
    }
    run.note(kind, call_id, payload, level)


def _copy_of(invocation: Invocation, slot: Slot) -> Invocation:
    arguments = invocation.arguments
    copied = {**arguments} if slot.checks.scalar else {key: _copy(value) for key, value in arguments.items()}
    return Invocation(
        invocation.call, invocation.call_id, invocation.tool, copied, invocation.effect, invocation.targets
    )


def _result_copy(result: ToolResult) -> ToolResult:
    blocks = result.content
    if not any(type(block) is JsonBlock for block in blocks):
        return result
    copied = [replace(block, data=_copy(block.data)) if isinstance(block, JsonBlock) else block for block in blocks]
    return replace(result, content=tuple(copied))


def _copy(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _copy(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_copy(member) for member in value]
    return value
