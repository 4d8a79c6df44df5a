"""The gate: the only maker of permits. Policy first, then grants, then a person; every doubt is a denial."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.policy.grants import Grants, scope_text, wanted_grants
from toolcrib.policy.modes import Mode, unasked
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Asker
from toolcrib.values.call import Invocation, Permit
from toolcrib.values.event import EventType, Level
from toolcrib.values.json import JsonObject, canonical
from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import TargetKind

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run

SUMMARY_LIMIT = 1_000


@dataclass(slots=True)
class Gate:
    """One per session: its grants, and the lock that asks one question after the other."""

    asker: Asker | None
    ask_timeout: float
    grants: Grants = field(default_factory=Grants)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def pass_through(self, slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> Permit | None:
        """A permit for what policy allows outright; None for everything that needs a closer look."""
        if run.runtime.policy is not run.tools.terms.policy:
            return None
        decision = slot.decide(invocation, run.marks)
        if decision.verdict is not Verdict.ALLOW or flight.ask is not None or decision.notice:
            return None
        return Permit(invocation, decision.cite)

    async def permit(self, slot: Slot, invocation: Invocation, flight: Flight, run: Run) -> Permit:
        """Leave to execute, or a Refusal that cites the rule."""
        decision = slot.decide(invocation, run.marks)
        runtime, terms = run.runtime, run.tools.terms
        if runtime.policy is not terms.policy:
            now = slot.decide_now(runtime.policy, terms.situation, runtime.judge, invocation, run.marks)
            decision = decision.at_least(now)
        if flight.ask is not None:
            decision = decision.at_least(flight.ask)
        if decision.verdict is Verdict.ALLOW:
            if decision.notice:
                run.note(EventType.NOTE, invocation.call_id, notice_of(invocation, decision), Level.NOTICE)
            return Permit(invocation, decision.cite)
        if decision.verdict is Verdict.DENY:
            raise denial(invocation, decision)
        if (grant := self.grants.covering(run.origin.agent_id, invocation)) is not None:
            return Permit(invocation, decision.cite, f"session grant for {grant.kind} {grant.scope}")
        if run.mode is Mode.DONT_ASK:
            raise denial(invocation, unasked(decision))
        async with self.turn:
            return await self._ask(slot, invocation, decision, run)

    async def _ask(self, slot: Slot, invocation: Invocation, decision: Decision, run: Run) -> Permit:
        agent_id = run.origin.agent_id
        if (grant := self.grants.covering(agent_id, invocation)) is not None:
            return Permit(invocation, decision.cite, f"session grant for {grant.kind} {grant.scope}")
        if self.asker is None:
            raise denial(invocation, decision, "nobody can be asked here")
        request = request_for(slot, invocation, decision, run, self.ask_timeout)
        run.note(EventType.PERMISSION_ASKED, invocation.call_id, request_json(request))
        answer = await self._answer(self.asker, request, invocation, run)
        details: JsonObject = {"request_id": request.request_id, "answer": answer.answer, "reason": answer.reason}
        run.note(EventType.PERMISSION_ANSWERED, invocation.call_id, details)
        if answer.answer == Answer.DENY:
            raise denial(invocation, decision, answer.reason or "the person who was asked said no")
        self._verify_again(slot, invocation, run)
        if answer.answer == Answer.ALLOW_FOR_SESSION and (wanted := wanted_grants(agent_id, invocation)):
            self.grants.add(wanted)
            run.note(
                EventType.GRANT_ADDED, invocation.call_id, {"tool": invocation.tool.name, "scope": request.grant_scope}
            )
        return Permit(invocation, decision.cite, f"answer {request.request_id}: {answer.answer}")

    async def _answer(
        self, asker: Asker, request: PermissionRequest, invocation: Invocation, run: Run
    ) -> PermissionDecision:
        """A valid answer in time, or a Refusal: no answer, a wrong one and a failure all deny."""
        asking = asyncio.ensure_future(_call_asker(asker, request))
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
        message = f"{invocation.tool.name} was not permitted: {problem}. Without an answer the call is denied."
        raise Refusal(Reason.PERMISSION_DENIED, message, {"request_id": request.request_id})

    def _verify_again(self, slot: Slot, invocation: Invocation, run: Run) -> None:
        """What was approved must still be what would run: the contract, the rules and the touched things."""
        run.check_contract(slot)
        if tuple(slot.tool.targets(invocation.arguments)) != invocation.targets:
            raise Refusal(
                Reason.PERMISSION_DENIED,
                f"what {invocation.tool.name} would touch changed while permission was asked; call it again",
            )


async def _call_asker(asker: Asker, request: PermissionRequest) -> object:
    return await asker(request)


def denial(invocation: Invocation, decision: Decision, why: str | None = None) -> Refusal:
    """The refusal a model reads: what, by which rule, and the way out."""
    if decision.deny_message and decision.verdict is Verdict.DENY:
        message = decision.deny_message
    else:
        way_out = "Do something else, or ask the user how to go on." if why else "Choose another way."
        message = f"{invocation.tool.name} was not permitted: {why or decision.because}. {way_out}"
    details = {"rule": decision.rule, "layer": decision.layer, "because": decision.because}
    return Refusal(Reason.PERMISSION_DENIED, f"{message} [rule: {decision.cite}]", details)


def notice_of(invocation: Invocation, decision: Decision) -> JsonObject:
    """What is recorded of a call that a rule allows but wants to be told about."""
    return {"notice": decision.notice, "tool": invocation.tool.name, "rule": decision.rule, "layer": decision.layer}


def request_for(slot: Slot, invocation: Invocation, decision: Decision, run: Run, timeout: float) -> PermissionRequest:
    """Everything a person needs to decide, redacted and bounded."""
    spec = invocation.tool.spec
    runtime = run.runtime
    shown, _ = runtime.redactor.json(invocation.arguments)
    hosts = (target.value for target in invocation.targets if target.kind is TargetKind.HOST)
    return PermissionRequest(
        request_id=runtime.ids.new("ask"),
        origin=run.origin,
        call_id=invocation.call_id,
        tool=spec.name,
        effect=invocation.effect,
        tags=spec.tags,
        arguments=_summary(canonical(shown)),
        targets=invocation.targets,
        dangerous=spec.dangerous,
        because=decision.because,
        rule=decision.cite,
        fingerprint=invocation.tool.fingerprint,
        suggested=Answer.DENY if spec.dangerous else Answer.ALLOW_ONCE,
        grant_scope=scope_text(invocation),
        expires_at=runtime.clock.now() + timeout,
        cwd=run.workspace,
        network_host=next(hosts, None),
        mode=run.mode,
    )


def _summary(text: str) -> str:
    """At most a thousand characters, with a sign where there is more."""
    return text if len(text) <= SUMMARY_LIMIT else text[: SUMMARY_LIMIT - 1] + "…"


def request_json(request: PermissionRequest) -> JsonObject:
    """A request as it is recorded."""
    return {
        "request_id": request.request_id,
        "tool": request.tool,
        "effect": request.effect.value,
        "mode": request.mode,
        "arguments": request.arguments,
        "targets": [[target.kind.value, target.value, target.scope] for target in request.targets],
        "because": request.because,
        "rule": request.rule,
        "fingerprint": request.fingerprint,
        "grant_scope": request.grant_scope,
        "expires_at": request.expires_at,
    }
