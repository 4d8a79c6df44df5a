"""How a decision came about: every stage in order, and every rule that had a say or nearly had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from enum import StrEnum

from toolcrib.policy.rules import Rule, Situation
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.target import Target


class Say(StrEnum):
    """What became of a rule in one decision."""

    DECIDES = "decides"
    APPLIES = "applies"
    UNMET = "unmet"
    VOID = "void"


@frozen
class RuleStep:
    """One rule about the tool: whether it applies to the call, and why not where it does not."""

    place: str
    layer: str
    verdict: str
    say: Say
    why: str


@frozen
class Stage:
    """One step of the decision order. `verdict` is what stands after it, where it says anything."""

    name: str
    finding: str
    verdict: str = ""
    rules: tuple[RuleStep, ...] = ()


@frozen
class Trace:
    """The whole way of one call to its decision."""

    tool: str
    verdict: str
    rule: str
    layer: str
    because: str
    stages: tuple[Stage, ...]
    targets: tuple[Target, ...] = ()
    grant_scope: str | None = None

    def as_json(self) -> JsonObject:
        return {
            "tool": self.tool,
            "verdict": self.verdict,
            "rule": self.rule,
            "layer": self.layer,
            "because": self.because,
            "targets": [
                {"kind": each.kind.value, "value": each.value, "also": each.also, "marks": sorted(each.marks)}
                for each in self.targets
            ],
            "grant_scope": self.grant_scope,
            "stages": [_stage_json(stage) for stage in self.stages],
        }


def rule_steps(
    rules: Sequence[Rule], call: Mapping[str, Json], targets: Sequence[Target], marks: Set[str], decision: Decision
) -> tuple[RuleStep, ...]:
    """What became of each of these rules, in the order in which they are looked at."""
    return tuple(_step(rule, rule.unmet(call, targets, marks), decision) for rule in rules)


def concerning(rules: Sequence[Rule], spec: ToolSpec, effect: Effect, situation: Situation) -> list[Rule]:
    """The rules about this tool in this situation, strictest first, the highest layer first among equals."""
    found = [rule for rule in rules if rule.concerns(spec, effect, situation)]
    return sorted(found, key=lambda rule: (-rule.verdict, rule.layer))


def _step(rule: Rule, unmet: str | None, decision: Decision) -> RuleStep:
    said = rule.decision
    if unmet is not None:
        say, why = Say.UNMET, unmet
    elif not rule.counts:
        say, why = Say.VOID, "a project's allow never counts"
    elif said.verdict is decision.verdict and said.cite == decision.cite:
        say, why = Say.DECIDES, said.because
    else:
        say, why = Say.APPLIES, said.because
    verdict = "notify" if rule.notice else rule.verdict.name.lower()
    return RuleStep(said.rule, said.layer, verdict, say, why)


def _stage_json(stage: Stage) -> JsonObject:
    return {
        "stage": stage.name,
        "finding": stage.finding,
        "verdict": stage.verdict or None,
        "rules": [
            {"place": step.place, "layer": step.layer, "verdict": step.verdict, "say": step.say.value, "why": step.why}
            for step in stage.rules
        ],
    }


def word(verdict: Verdict) -> str:
    return verdict.name.lower()
