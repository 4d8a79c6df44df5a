"""Modes: how a run meets questions. A mode stands in for the shipped defaults; it never beats a rule that denies."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from toolcrib.policy.layers import SHIPPED, Layer
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind


class Mode(StrEnum):
    """`plan` only reads, `dont_ask` denies what would ask, `accept_edits` does not ask about files, `bypass` asks of
    nothing but what is protected."""

    DEFAULT = "default"
    PLAN = "plan"
    ACCEPT_EDITS = "accept_edits"
    DONT_ASK = "dont_ask"
    BYPASS = "bypass"


PLAN_TOOLS = (
    "workspace.*", "code.*", "checklist.read", "worker.check", "worker.list", "tools.search", "ask", "plan",
)  # fmt: skip
"""What plan mode offers of the tools that only read, unless the operator lists more."""

_WITHIN = {
    Mode.PLAN: frozenset({Mode.PLAN}),
    Mode.DONT_ASK: frozenset({Mode.DONT_ASK}),
    Mode.DEFAULT: frozenset({Mode.PLAN, Mode.DONT_ASK, Mode.DEFAULT}),
    Mode.ACCEPT_EDITS: frozenset({Mode.PLAN, Mode.DONT_ASK, Mode.DEFAULT, Mode.ACCEPT_EDITS}),
    Mode.BYPASS: frozenset(Mode),
}
"""Modes in which nothing is allowed, and nobody is asked, that would not be in the first."""


def mode_of(word: str) -> Mode:
    """Read a mode as arguments and definitions write it."""
    try:
        return Mode(word)
    except ValueError:
        raise ConfigError(f"{word!r} is not a mode: use one of {', '.join(Mode)}") from None


def is_within(mode: Mode, outer: Mode) -> bool:
    """Whether a mode is nowhere looser than another: what a child may have below its parent."""
    return mode in _WITHIN[outer]


def under_mode(
    mode: Mode, decision: Decision, spec: ToolSpec, effect: Effect, targets: Sequence[Target] = ()
) -> Decision:
    """What the mode makes of a decision about one call, before anybody is asked. A denial always stays one.

    `dont_ask` changes nothing here: a grant may still answer. What is left to ask is denied by `unasked`.
    """
    if decision.verdict is Verdict.DENY or mode is Mode.DEFAULT or mode is Mode.DONT_ASK:
        return decision
    if mode is Mode.PLAN:
        return _planned(decision, effect, targets)
    if decision.verdict is Verdict.ASK:
        if mode is Mode.ACCEPT_EDITS and _is_edit(decision, spec, effect, targets):
            return Decision(Verdict.ALLOW, "accept_edits", MODE, "it changes files inside the roots")
        if mode is Mode.BYPASS and decision.layer != _MANAGED and not any(map(_always_asks, targets)):
            return Decision(Verdict.ALLOW, "bypass", MODE, "the operator switched questions off for this run")
    return decision


def unasked(decision: Decision) -> Decision:
    """What becomes of a question in a run that asks nobody."""
    because = f"{decision.because}, which would be asked about, and this run is in the mode dont_ask"
    return Decision(Verdict.DENY, "dont_ask", MODE, because)


MODE = "mode"
"""The layer that a decision made by a mode cites."""
_FOREIGN = frozenset({ToolType.MCP, ToolType.DYNAMIC, ToolType.DECLARATIVE})
"""Tools whose word about what they touch is not enough to go without a question."""
_MANAGED = Layer.MANAGED.name.lower()
_PLAN_WAY_OUT = "This run is in plan mode, which only reads. Say what you would do; a person can start the work."


def _planned(decision: Decision, effect: Effect, targets: Sequence[Target]) -> Decision:
    """Only reading passes; whatever runs a command may write, so it does not."""
    if effect is Effect.WRITE:
        return Decision(Verdict.DENY, "plan", MODE, "it can change things, and plan mode only reads", _PLAN_WAY_OUT)
    if any(target.kind is TargetKind.COMMAND for target in targets):
        return Decision(Verdict.DENY, "plan", MODE, "it runs a command, and plan mode only reads", _PLAN_WAY_OUT)
    return decision


def _is_edit(decision: Decision, spec: ToolSpec, effect: Effect, targets: Sequence[Target]) -> bool:
    """Whether a call only writes ordinary files inside the roots, and only the shipped default would ask about it."""
    return (
        decision.layer == SHIPPED
        and effect is Effect.WRITE
        and "filesystem" in spec.tags
        and spec.tool_type not in _FOREIGN
        and not spec.dangerous
        and not spec.network
        and bool(targets)
        and all(target.kind is TargetKind.PATH and not target.marks for target in targets)
    )


def _always_asks(target: Target) -> bool:
    """What no mode answers for: protected paths, and commands that could approve commands."""
    if "protected" in target.marks:
        return True
    if target.kind is not TargetKind.COMMAND:
        return False
    from toolcrib.policy.commands.command import CommandTarget  # loaded already where commands are
    from toolcrib.policy.commands.denied import runs_never

    return not isinstance(target, CommandTarget) or bool(target.trouble) or runs_never(target)
