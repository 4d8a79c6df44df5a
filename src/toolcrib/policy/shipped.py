"""The shipped policy: what holds where no rule speaks, and what asks although a rule allows."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.policy.layers import SHIPPED
from toolcrib.policy.names import compile_pattern
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.spec import Effect, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind

READ_SENSITIVE = "read_sensitive"
READ_UNTRUSTED = "read_untrusted"
RUN_MARKS = (READ_SENSITIVE, READ_UNTRUSTED)
"""What a run can have done that rules may ask about (`run_marks`)."""
INTERNAL_WRITES = ("checklist.update", "agent.task_*", "agent.plan_template", "worker.update")
CHILD_STARTERS = (
    "worker.start",
    "worker.cancel",
    "agent.create_sub_agent",
    "agent.fork_agent",
    "agent.dispatch_worker",
)
_FOREIGN = frozenset({ToolType.MCP, ToolType.DYNAMIC, ToolType.DECLARATIVE})


def default_decision(spec: ToolSpec, effect: Effect | None = None) -> Decision:
    """What holds where no rule speaks: reads run, everything that acts or reaches out asks."""
    effect = effect or spec.effect
    if spec.dangerous:
        return default(Verdict.ASK, "it is marked dangerous")
    if _is_any(spec.name, CHILD_STARTERS):
        return default(Verdict.ASK, "it starts or stops other agents")
    if spec.network:
        return default(Verdict.ASK, "it reaches the network")
    if effect is Effect.READ:
        return default(Verdict.ALLOW, "it only reads")
    if "internal" in spec.tags and spec.tool_type not in _FOREIGN:
        if "agent" in spec.tags and not _is_any(spec.name, INTERNAL_WRITES):
            return default(Verdict.ASK, "it starts or stops other agents")
        return default(Verdict.ALLOW, "it changes only this session's own records")
    return default(Verdict.ASK, "it can change things")


def decide_targets(targets: Sequence[Target], lifted: frozenset[str] = frozenset()) -> Decision | None:
    """What the touched things add to a decision: a marked target (sensitive, outside, protected …) always asks."""
    for target in targets:
        if marks := target.marks - lifted if lifted else target.marks:
            return default(Verdict.ASK, f"{target.kind} {target.value} is {', '.join(sorted(marks))}")
    return None


def carries_out(spec: ToolSpec, effect: Effect, targets: Sequence[Target]) -> bool:
    """Whether a call can carry what was read out of the workspace: it reaches the network, or writes elsewhere."""
    if spec.network or any(target.kind is TargetKind.HOST for target in targets):
        return True
    if effect is Effect.READ or ("internal" in spec.tags and spec.tool_type not in _FOREIGN):
        return False
    return not targets or any(target.kind is not TargetKind.PATH for target in targets)


AFTER_SENSITIVE = Decision(
    Verdict.ASK, "default", SHIPPED, "this run has read something sensitive, and the call could carry it out"
)
UNNAMED = Decision(
    Verdict.ASK, "default", SHIPPED,
    "a dangerous tool is allowed without a question only by a rule for tool and target",
)  # fmt: skip


def default(verdict: Verdict, because: str) -> Decision:
    return Decision(verdict, "default", SHIPPED, because)


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(compile_pattern(pattern).fullmatch(name) for pattern in patterns)
