"""Occasions other than calls that hooks hear of: a session begins, a person speaks, an agent stops or starts one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.engine.watchers import heard
from toolcrib.ports import HookEvent, HookVerdict
from toolcrib.values.event import EventType
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import Reason, Refusal

if TYPE_CHECKING:
    from toolcrib.engine.run import Run

LONGEST_MESSAGE = 10_000


async def session_start(run: Run) -> None:
    """Refusal when a hook does not want this session to begin."""
    await _unless_denied(run, HookEvent.SESSION_START, {"mode": run.mode, "workspace": run.workspace}, "this session")


async def user_message(run: Run, text: str) -> None:
    """A person spoke: hooks may refuse it; on record, and a fresh start for the loop guard."""
    shown, _ = run.runtime.redactor.text(text)
    await _unless_denied(run, HookEvent.USER_PROMPT_SUBMIT, {"prompt": shown}, "this message")
    run.note(EventType.USER_MESSAGE, None, {"text": shown[:LONGEST_MESSAGE]})
    if run.guard is not None:
        run.guard.reset()


async def before_stop(run: Run, said: str) -> str | None:
    """What a hook wants the model to hear instead of stopping; after one such word the agent may stop."""
    shown, _ = run.runtime.redactor.text(said)
    answer = await heard(run, HookEvent.STOP, {"said": shown, "refused_before": run.stop_refused})
    if answer is None or answer.decision is not HookVerdict.DENY or run.stop_refused:
        return None
    run.stop_refused = True
    return answer.reason or "a hook wants the work to go on"


async def before_child(run: Run, agent_id: str, task: str) -> None:
    """Refusal when a hook does not want a child agent to start."""
    shown, _ = run.runtime.redactor.text(task)
    await _unless_denied(run, HookEvent.SUBAGENT_START, {"child": agent_id, "task": shown}, f"the agent {agent_id}")


async def _unless_denied(run: Run, event: HookEvent, facts: JsonObject, what: str) -> None:
    answer = await heard(run, event, facts)
    if answer is not None and answer.decision is not HookVerdict.ALLOW:
        why = answer.reason or "it says so"
        way_out = "" if answer.decision is HookVerdict.DENY else " (it wants a person to look first)"
        raise Refusal(Reason.PERMISSION_DENIED, f"{what} was refused by a hook: {why}{way_out}", {"layer": "hook"})
