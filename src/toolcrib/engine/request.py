"""What a person is asked: everything about one call, without secrets, and bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolcrib.policy.grants import scope_text
from toolcrib.policy.verdict import Decision
from toolcrib.values.call import Invocation
from toolcrib.values.json import canonical
from toolcrib.values.permission import Answer, PermissionRequest
from toolcrib.values.spec import ToolSpec
from toolcrib.values.target import Target, TargetKind

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run

SUMMARY_LIMIT = 1_000
DETAILS_LIMIT = 256 << 10


def request_for(
    slot: Slot, invocation: Invocation, decision: Decision, flight: Flight, run: Run, seconds: float
) -> PermissionRequest:
    """Everything a person needs to decide."""
    spec = invocation.tool.spec
    runtime = run.runtime
    shown, _ = runtime.redactor.json(invocation.arguments)
    text = canonical(shown)
    targets = shown_targets(invocation.targets, run)
    marked = any(target.marks for target in targets)
    return PermissionRequest(
        request_id=runtime.ids.new("ask"),
        origin=run.origin,
        call_id=invocation.call_id,
        tool=spec.name,
        effect=invocation.effect,
        tags=spec.tags,
        arguments=_summary(text),
        targets=targets,
        dangerous=spec.dangerous,
        because=decision.because,
        rule=decision.cite,
        fingerprint=invocation.tool.fingerprint,
        suggested=Answer.DENY if spec.dangerous or marked else Answer.ALLOW_ONCE,
        grant_scope=scope_text(invocation),
        expires_at=runtime.clock.now() + seconds,
        cwd=run.workspace or runtime.folder,
        environment=_environment(targets, spec, run),
        network_host=next((target.value for target in targets if target.kind is TargetKind.HOST), None),
        hook_summary=_hooks(slot, flight),
        mode=run.mode,
        details=text[:DETAILS_LIMIT] if len(text) > SUMMARY_LIMIT else "",
    )


def shown_targets(targets: tuple[Target, ...], run: Run) -> tuple[Target, ...]:
    """What a call touches, without the secrets that a command or an address may hold."""
    redactor = run.runtime.redactor
    return tuple(
        target if not (found := redactor.text(target.value))[1] else replace(target, value=found[0])
        for target in targets
    )


def _summary(text: str) -> str:
    """At most a thousand characters, with a sign where there is more."""
    return text if len(text) <= SUMMARY_LIMIT else text[: SUMMARY_LIMIT - 1] + "…"


def _environment(targets: tuple[Target, ...], spec: ToolSpec, run: Run) -> str:
    """Which variables a command gets to see: those of its own tool, else those of every command."""
    if all(target.kind is not TargetKind.COMMAND for target in targets):
        return ""
    return str(spec.metadata.get("environment", run.runtime.environment))


def _hooks(slot: Slot, flight: Flight) -> str:
    """What the hooks before made of the call."""
    if flight.ask is not None:
        return f"{flight.ask.rule} asks: {flight.ask.because}"
    return f"no objection by {', '.join(hook.name for hook in slot.before)}" if slot.before else ""
