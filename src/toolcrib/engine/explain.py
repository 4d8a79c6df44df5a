"""Why a call would be allowed, asked about or denied: the decision order walked through without doing anything."""

from __future__ import annotations

from collections.abc import Set

from toolcrib.engine.effective import EffectiveSet, Slot, own_word
from toolcrib.engine.envelope import opened
from toolcrib.policy.grants import scope_text
from toolcrib.policy.modes import Mode, unasked, under_mode
from toolcrib.policy.names import compile_pattern
from toolcrib.policy.rules import Rule
from toolcrib.policy.trace import RuleStep, Say, Stage, Trace, concerning, rule_steps, word
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.call import Invocation, ToolCall
from toolcrib.values.refusal import Refusal
from toolcrib.values.target import Target


def explain(tools: EffectiveSet, call: ToolCall, marks: Set[str]) -> Trace:
    """The trace of one call; of the call inside, for an envelope. Nothing is asked, spent, run or recorded."""
    call = opened(call)
    situation = tools.terms.situation
    name = tools.canonical(call.name)
    who = f"agent {situation.agent}, role {situation.role}, mode {situation.mode}"
    if (out := tools.why(name)) is not None:
        return _refused(name, [Stage("effective set", f"out: {out} ({who})", "deny")], "effective set", out)
    slot = tools.require(name)
    stages = [Stage("effective set", f"in, for {who}"), _contract(), _limits(tools, name)]
    try:
        invocation = slot.invoke(call, "explain")
    except Refusal as refusal:
        stages.append(Stage("arguments", refusal.message, "deny"))
        return _refused(name, stages, refusal.reason.value, refusal.message)
    stages += [_arguments(invocation), _hooks(slot)]
    return _judged(tools, slot, invocation, marks, stages)


def _judged(tools: EffectiveSet, slot: Slot, invocation: Invocation, marks: Set[str], stages: list[Stage]) -> Trace:
    terms, spec = tools.terms, slot.tool.spec
    decision = slot.decide(invocation, marks)
    about = concerning(terms.policy.rules, spec, invocation.effect, terms.situation)
    denying = [rule for rule in about if rule.verdict is Verdict.DENY]
    others = [rule for rule in about if rule.verdict is not Verdict.DENY]
    steps = rule_steps(denying, invocation.arguments, invocation.targets, marks, decision)
    stages.append(Stage("deny rules", _counted(denying, steps), "deny" if _any_applies(steps) else "", steps))
    stages.append(_own_check(slot, invocation))
    stages.append(_mode(slot, invocation, marks, Mode(terms.situation.mode)))
    steps = rule_steps(others, invocation.arguments, invocation.targets, marks, decision)
    stages.append(Stage("ask and allow rules", _counted(others, steps), word(decision.verdict), steps))
    stages.append(_lists(slot, invocation.targets))
    scope = scope_text(invocation)
    stages.append(_grants(decision, scope))
    if decision.verdict is Verdict.ASK and terms.situation.mode == Mode.DONT_ASK:
        decision = unasked(decision)
    stages.append(_outcome(decision))
    return Trace(
        spec.name, word(decision.verdict), decision.rule, decision.layer, decision.because,
        tuple(stage for stage in stages if stage.finding), invocation.targets, scope,
    )  # fmt: skip


def _refused(name: str, stages: list[Stage], rule: str, because: str) -> Trace:
    return Trace(name, "deny", rule, "counter", because, tuple(stages))


def _contract() -> Stage:
    return Stage("contract", "whether the tool is still the same is looked at when it is called")


def _limits(tools: EffectiveSet, name: str) -> Stage:
    rates = tools.terms.rates
    told = [
        f"{rate.max_calls} per {rate.per_seconds:g} s of each {whose}"
        for whose, table in (("tool", rates.tool), ("agent", rates.agent), ("session", rates.session))
        for pattern, rate in table.items()
        if compile_pattern(pattern).fullmatch(name)
    ]
    return Stage("limits", f"{', '.join(told)}; nothing is spent here" if told else "no rate limit")


def _arguments(invocation: Invocation) -> Stage:
    touched = "; ".join(_told(target) for target in invocation.targets)
    form = f", in its {invocation.effect.value} form" if invocation.effect is not invocation.tool.spec.effect else ""
    return Stage("arguments", f"valid{form}; touches {touched}" if touched else f"valid{form}; touches nothing")


def _told(target: Target) -> str:
    marks = f" ({', '.join(sorted(target.marks))})" if target.marks else ""
    return f"{target.kind.value} {target.also or target.value}{marks}"


def _hooks(slot: Slot) -> Stage:
    names = ", ".join(hook.name for hook in slot.before)
    return Stage("hooks", f"asked first at a call, not here: {names}" if names else "none")


def _own_check(slot: Slot, invocation: Invocation) -> Stage:
    if slot.tool.needs_approval is None:
        return Stage("tool's own check", "it has none")
    said = own_word(slot.tool, invocation.arguments)
    return Stage("tool's own check", "it has no objection") if said is None else _said(said)


def _said(own: Decision) -> Stage:
    told = "it asks for approval" if own.verdict is Verdict.ASK else own.because
    return Stage("tool's own check", told, word(own.verdict))


def _mode(slot: Slot, invocation: Invocation, marks: Set[str], mode: Mode) -> Stage:
    """What the mode makes of it, told by leaving the mode out and putting it in."""
    if mode is Mode.DEFAULT:
        return Stage("mode", "default: changes nothing")
    if mode is Mode.DONT_ASK:
        return Stage("mode", "dont_ask: what would ask is denied")
    ruling = (
        slot.reading if slot.reading is not None and invocation.effect is not slot.tool.spec.effect else slot.ruling
    )
    judged = _listed(slot, invocation.targets)
    before = ruling.decide(invocation.arguments, invocation.targets, marks, judged)
    after = under_mode(mode, before, slot.tool.spec, invocation.effect, invocation.targets)
    if after is before:
        return Stage("mode", f"{mode}: changes nothing here")
    return Stage(
        "mode", f"{mode}: {word(before.verdict)} becomes {word(after.verdict)}, {after.because}", word(after.verdict)
    )


def _listed(slot: Slot, targets: tuple[Target, ...]) -> Decision | None:
    return slot.judge(slot.tool.name, targets) if slot.judge is not None and targets else None


def _lists(slot: Slot, targets: tuple[Target, ...]) -> Stage:
    judged = _listed(slot, targets)
    if judged is None:
        return Stage("commands and hosts", "")
    return Stage("commands and hosts", f"{judged.because} [{judged.cite}]", word(judged.verdict))


def _counted(rules: list[Rule], steps: tuple[RuleStep, ...]) -> str:
    if not rules:
        return "none is about this tool"
    applying = sum(step.say in (Say.APPLIES, Say.DECIDES) for step in steps)
    return f"{applying} of {len(rules)} about this tool {'applies' if applying == 1 else 'apply'}"


def _any_applies(steps: tuple[RuleStep, ...]) -> bool:
    return any(step.say in (Say.APPLIES, Say.DECIDES) for step in steps)


def _grants(decision: Decision, scope: str | None) -> Stage:
    if decision.verdict is not Verdict.ASK:
        return Stage(
            "session grants", "not needed" if decision.verdict is Verdict.ALLOW else "cannot help: it is denied"
        )
    if scope is None:
        return Stage("session grants", "none can cover this: it asks every time")
    return Stage("session grants", f"an answer for the session would cover {scope}")


def _outcome(decision: Decision) -> Stage:
    said = {Verdict.ALLOW: "it runs", Verdict.ASK: "a person is asked", Verdict.DENY: "it is refused"}
    return Stage("outcome", f"{said[decision.verdict]}: {decision.because} [{decision.cite}]", word(decision.verdict))
