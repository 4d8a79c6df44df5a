"""The gate: the only maker of permits. Policy first, then grants, then a person; every doubt is a denial."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.engine import parking
from toolcrib.engine.effective import targets_of
from toolcrib.engine.request import request_for
from toolcrib.engine.watchers import requested
from toolcrib.policy.grants import covering, wanted_grants
from toolcrib.policy.modes import Mode, unasked
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Asker, Question, Unit
from toolcrib.values.call import Invocation, Permit
from toolcrib.values.event import EventType, Level
from toolcrib.values.json import JsonObject
from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest, request_json
from toolcrib.values.refusal import Reason, Refusal, StoreError
from toolcrib.values.words import sentence

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run
_ALLOW = Verdict.ALLOW  # every call asks, and reading an enum's member is slow


@dataclass(slots=True)
class Gate:
    """One per session: the lock that asks one question after the other, and the questions that wait in the inbox."""

    asker: Asker | None
    ask_timeout: float
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    parked: dict[str, Question] = field(default_factory=dict[str, Question])
    """Questions whose calls wait, and whom nobody here attends to, by request id."""

    def pass_through(self, slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> Permit | None:
        """A permit for what policy allows outright; None for everything that needs a closer look."""
        if run.runtime.policy is not run.tools.terms.policy:
            return None
        decision = slot.decide(invocation, run.marks)
        if decision.verdict is not _ALLOW or flight.ask is not None or decision.notice or flight.parked is not None:
            return None
        return Permit(invocation, decision.cite)

    async def permit(self, slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> Permit:
        """Leave to execute, or a Refusal that cites the rule."""
        decision = _decided(slot, invocation, run)
        if flight.ask is not None:
            decision = decision.at_least(flight.ask)
        if decision.verdict is Verdict.DENY:
            raise denial(invocation, decision)
        if flight.parked is not None:
            return await self._collected(flight.parked, invocation, decision, run)
        if decision.verdict is Verdict.ALLOW:
            if decision.notice:
                run.note(EventType.NOTE, invocation.call_id, notice_of(invocation, decision), Level.NOTICE)
            return Permit(invocation, decision.cite)
        if (granted := await _granted(invocation, decision, run)) is not None:
            return granted
        if run.mode is Mode.DONT_ASK:
            raise denial(invocation, unasked(decision))
        if run.runtime.parking is not None:
            raise await parking.park(slot, invocation, decision, flight, run)
        async with self.turn:
            return await self._ask(slot, invocation, decision, flight, run)

    async def _ask(self, slot: Slot, invocation: Invocation, decision: Decision, flight: Flight, run: Run) -> Permit:
        """Ask somebody who is there."""
        if (granted := await _granted(invocation, decision, run)) is not None:
            return granted
        asker = self.asker
        if asker is None:
            raise denial(invocation, decision, "nobody can be asked here")
        request = request_for(slot, invocation, decision, flight, run, self.ask_timeout)
        await requested(slot, request, run)
        run.note(EventType.PERMISSION_ASKED, invocation.call_id, request_json(request))
        answer = await self._answer(asker, request, invocation, run)
        await _recorded(request, answer, asker, run)
        if answer.answer == Answer.DENY:
            raise denial(invocation, decision, answer.reason or "the person who was asked said no")
        self._verify_again(slot, invocation, run)
        if answer.answer == Answer.ALLOW_FOR_SESSION:
            await _grant(invocation, request, run)
        return Permit(invocation, decision.cite, f"answer {request.request_id}: {answer.answer}")

    async def _answer(
        self, asker: Asker, request: PermissionRequest, invocation: Invocation, run: Run
    ) -> PermissionDecision:
        """A valid answer in time, or a Refusal: no answer, a wrong one and a failure all deny."""
        asking = asyncio.ensure_future(parking.call_asker(asker, request))
        try:
            done, _ = await asyncio.wait({asking}, timeout=self.ask_timeout)
        finally:
            if not asking.done():
                asking.cancel()
        if not done:
            problem = f"no answer within {self.ask_timeout:g} s"
        elif asking.cancelled():
            problem = "the question was withdrawn"
        elif (error := asking.exception()) is not None:
            problem = f"asking failed: {type(error).__name__}: {error}"
        elif not isinstance(answer := asking.result(), PermissionDecision):
            problem = f"the asker gave {type(answer).__name__} instead of a PermissionDecision"
        else:
            return answer
        run.note(EventType.PERMISSION_FAILED, request.call_id, {"problem": problem}, Level.WARNING)
        message = f"{invocation.tool.name} was not permitted: {sentence(problem)} Without an answer the call is denied."
        raise Refusal(Reason.PERMISSION_DENIED, message, {"request_id": request.request_id})

    def _verify_again(self, slot: Slot, invocation: Invocation, run: Run) -> None:
        """What was approved must still be what would run: the contract, the rules and the touched things."""
        run.check_contract(slot)
        decision = _decided(slot, invocation, run)
        if decision.verdict is Verdict.DENY:
            raise denial(invocation, decision)
        if targets_of(slot.tool, invocation.arguments) != invocation.targets:
            raise parking.changed(invocation)

    async def _collected(self, question: Question, invocation: Invocation, decision: Decision, run: Run) -> Permit:
        """The permit, or the denial, that a question from the inbox came to."""
        parking.check_binding(question, invocation, run)
        request_id, answer = question.request.request_id, question.answer
        if answer is None:
            raise denial(invocation, decision, "nobody answered in time")
        if answer is Answer.DENY:
            raise denial(invocation, decision, question.reason or f"{question.principal} said no")
        # An answer for the session is one for the session in which it was asked; a resumed one asks again.
        if answer is Answer.ALLOW_FOR_SESSION and run.ownership is not None and question.epoch == run.ownership.epoch:
            await _grant(invocation, question.request, run)
        return Permit(invocation, decision.cite, f"answer {request_id}: {answer} by {question.principal}")


def _decided(slot: Slot, invocation: Invocation, run: Run) -> Decision:
    """What the rules say now; rules that changed since the run began can only take away."""
    decision = slot.decide(invocation, run.marks)
    runtime, terms = run.runtime, run.tools.terms
    if runtime.policy is terms.policy:
        return decision
    return decision.at_least(slot.decide_now(runtime.policy, terms.situation, runtime.judge, invocation, run.marks))


async def _granted(invocation: Invocation, decision: Decision, run: Run) -> Permit | None:
    """A permit under a grant of this session, as the store has it at this moment."""
    if run.ownership is None:
        return None
    try:
        held = await run.runtime.store.grants(run.ownership)
    except StoreError as error:
        raise denial(invocation, decision, f"what was granted cannot be read: {error}") from error
    grant = covering(held, run.origin.grantee, invocation, run.marks)
    return None if grant is None else Permit(invocation, decision.cite, f"session grant for {grant.kind} {grant.scope}")


async def _grant(invocation: Invocation, request: PermissionRequest, run: Run) -> None:
    """Let the answer cover what the question said it would, and nothing else."""
    wanted = wanted_grants(run.origin.grantee, invocation, run.marks)
    if not wanted or run.ownership is None:
        return
    payload: JsonObject = {"tool": request.tool, "scope": request.grant_scope, "request_id": request.request_id}
    unit = Unit((run.draft(EventType.GRANT_ADDED, invocation.call_id, payload),), run.ownership)
    try:
        await run.runtime.store.add_grants(wanted, unit)
    except StoreError as error:
        raise parking.unkept(invocation.tool.name, error) from error


async def _recorded(request: PermissionRequest, answer: PermissionDecision, asker: Asker, run: Run) -> None:
    """Nothing runs on an answer that is not on record."""
    principal = getattr(asker, "principal", parking.CALLBACK)
    payload: JsonObject = {
        "request_id": request.request_id,
        "answer": str(answer.answer),
        "reason": answer.reason,
        "principal": str(principal),
    }
    draft = run.draft(EventType.PERMISSION_ANSWERED, request.call_id, payload)
    try:
        await run.runtime.store.append(Unit((draft,), run.ownership))
    except StoreError as error:
        raise parking.unkept(request.tool, error) from error


def denial(invocation: Invocation, decision: Decision, why: str | None = None) -> Refusal:
    """The refusal a model reads: what, by which rule, and the way out."""
    if decision.deny_message and decision.verdict is Verdict.DENY:
        message = decision.deny_message
    else:
        way_out = "Do something else, or ask the user how to go on." if why else "Choose another way."
        message = f"{invocation.tool.name} was not permitted: {sentence(why or decision.because)} {way_out}"
    details = {"rule": decision.rule, "layer": decision.layer, "because": decision.because}
    return Refusal(Reason.PERMISSION_DENIED, f"{message} [rule: {decision.cite}]", details)


def notice_of(invocation: Invocation, decision: Decision) -> JsonObject:
    """What is recorded of a call that a rule allows but wants to be told about."""
    return {"notice": decision.notice, "tool": invocation.tool.name, "rule": decision.rule, "layer": decision.layer}
