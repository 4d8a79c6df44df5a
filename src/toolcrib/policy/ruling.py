"""What all rules say about one tool, compiled: a fixed decision, and the few rules that have to look at the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field

from toolcrib.policy.layers import SHIPPED
from toolcrib.policy.names import EVERY, compile_pattern, head_of, is_exact
from toolcrib.policy.rules import Rule, Situation
from toolcrib.policy.shipped import (
    AFTER_SENSITIVE,
    READ_SENSITIVE,
    UNNAMED,
    carries_out,
    decide_targets,
    default_decision,
)
from toolcrib.policy.sieve import Sieve
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING, Effect, ToolSpec
from toolcrib.values.target import Target, TargetKind

NO_MARKS: frozenset[str] = frozenset()
_JUDGED = frozenset({TargetKind.COMMAND, TargetKind.HOST})


@frozen
class Ruling:
    """The rules that concern one tool in one situation, strictest first; among equals the higher layer first.

    `settled` is the strictest that asks or denies without seeing the call, `stricter` are those above it that must see
    it. `fixed` is the decision about a call that touches nothing, in a run that has no marks.
    """

    spec: ToolSpec
    effect: Effect
    fallback: Decision
    stricter: Sieve
    settled: Decision | None
    allowing: Sieve
    fixed: Decision = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", self.decide(NOTHING, (), NO_MARKS))

    @property
    def is_fixed(self) -> bool:
        """Whether a call that touches nothing, in a run without marks, always gets the fixed decision."""
        return not self.stricter.sees_arguments and not self.allowing.sees_arguments

    def decide(
        self, arguments: Mapping[str, Json], targets: Sequence[Target], marks: Set[str], judged: Decision | None = None
    ) -> Decision:
        """What the rules say about one call. `judged` is what rules about its commands and hosts say."""
        strict = self.settled
        for rule in self.stricter.candidates(targets):
            if rule.covers(arguments, targets, marks):
                strict = rule.decision
                break
        if strict is not None:
            return strict if judged is None else strict.at_least(judged)
        covering = [rule for rule in self.allowing.candidates(targets) if rule.covers(arguments, targets, marks)]
        decision = self._allowed(covering, targets)
        if judged is not None:
            decision = self._with_judged(decision, judged, covering, targets)
        return self._guarded(decision, covering, targets, marks) if decision.verdict is Verdict.ALLOW else decision

    def _allowed(self, covering: Sequence[Rule], targets: Sequence[Target]) -> Decision:
        """By the first rule that allows; for a dangerous tool it has to name the tool and everything it touches."""
        if not covering:
            return self.fallback
        if not self.spec.dangerous:
            return covering[0].decision
        return next((rule.decision for rule in covering if rule.names_tool_and_targets(targets)), UNNAMED)

    def _with_judged(
        self, decision: Decision, judged: Decision, covering: Sequence[Rule], targets: Sequence[Target]
    ) -> Decision:
        """A rule about commands or hosts stands in for the default; a default about them gives way to who names them.

        That a host may be reached says nothing about changing things there.
        """
        kinds = _JUDGED & {target.kind for target in targets}
        if judged.verdict is Verdict.ALLOW:
            reaches = TargetKind.COMMAND in kinds or (self.effect is Effect.READ and not self.spec.dangerous)
            return judged if decision.layer == SHIPPED and reaches else decision
        if judged.layer == SHIPPED and decision.verdict is Verdict.ALLOW:
            named = any(rule.targets is not None and all(map(rule.targets.names, kinds)) for rule in covering)
            return decision if named else judged
        if decision is self.fallback and judged.verdict is decision.verdict:
            return judged  # it says what about the command or host is asked, and the default only that something is
        return decision.at_least(judged)

    def _guarded(
        self, decision: Decision, covering: Sequence[Rule], targets: Sequence[Target], marks: Set[str]
    ) -> Decision:
        """What asks although a rule allows, unless an operator's rule says that it knows."""
        if targets:
            knowing = (rule.touching.marks for rule in covering if rule.layer.is_operator and rule.targets is not None)
            if (marked := decide_targets(targets, NO_MARKS.union(*knowing) if covering else NO_MARKS)) is not None:
                return marked
        if READ_SENSITIVE in marks and carries_out(self.spec, self.effect, targets):
            known = any(READ_SENSITIVE in rule.run_marks for rule in covering if rule.layer.is_operator)
            return decision if known else AFTER_SENSITIVE
        return decision


@frozen
class RulingIndex:
    """Rules of one situation, sorted so that a tool meets only those that could be about it."""

    exact: Mapping[str, tuple[int, ...]]
    heads: Mapping[str, tuple[int, ...]]
    wild: tuple[int, ...]
    every: tuple[int, ...]
    """Rules about tools of any name, told apart by facts alone."""
    rules: tuple[Rule, ...]
    _by_facts: dict[tuple[object, ...], tuple[int, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict[tuple[object, ...], tuple[int, ...]]
    )

    @classmethod
    def build(cls, rules: Iterable[Rule], situation: Situation) -> RulingIndex:
        ordered = sorted(
            (rule for rule in rules if rule.counts and rule.facts.fit_situation(situation)),
            key=lambda rule: (-rule.verdict, not rule.notice, rule.layer),
        )
        exact: dict[str, list[int]] = {}
        heads: dict[str, list[int]] = {}
        wild: list[int] = []
        every: list[int] = []
        for number, rule in enumerate(ordered):
            if EVERY in rule.names:
                every.append(number)
                continue
            for name in rule.names:
                where = exact.setdefault(name, []) if is_exact(name) else wild
                if not is_exact(name) and (head := head_of(name)):
                    where = heads.setdefault(head, [])
                where.append(number)
        return cls(_frozen(exact), _frozen(heads), tuple(wild), tuple(every), tuple(ordered))

    def ruling(self, spec: ToolSpec, effect: Effect) -> Ruling:
        return _ruling(spec, effect, [self.rules[number] for number in self._concerned(spec, effect)])

    def has(self, spec: ToolSpec, effect: Effect) -> bool:
        """Whether any of these rules is about the tool."""
        return bool(self._concerned(spec, effect))

    def _concerned(self, spec: ToolSpec, effect: Effect) -> list[int]:
        """The numbers of the rules that concern a tool, strictest first."""
        name, rules = spec.name, self.rules
        found = {
            number
            for number in (*self.heads.get(name.partition(".")[0], ()), *self.wild)
            if any(compile_pattern(pattern).fullmatch(name) for pattern in rules[number].names)
        }
        found.update(self.exact.get(name, ()))
        named = [number for number in found if rules[number].fits_facts(spec, effect)]
        return sorted((*named, *self._about_facts(spec, effect))) if self.every or len(named) > 1 else named

    def _about_facts(self, spec: ToolSpec, effect: Effect) -> tuple[int, ...]:
        if not self.every:
            return ()
        facts = (effect, spec.tags, spec.category, spec.tool_type, spec.source)
        known = self._by_facts.get(facts)
        if known is None:
            known = tuple(number for number in self.every if self.rules[number].fits_facts(spec, effect))
            self._by_facts[facts] = known
        return known


def _frozen(table: Mapping[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {key: tuple(numbers) for key, numbers in table.items()}


def _ruling(spec: ToolSpec, effect: Effect, rules: Sequence[Rule]) -> Ruling:
    """Keep what can still matter: rules that see the call only above the strictest one that need not."""
    settled: Decision | None = None
    stricter: list[Rule] = []
    allowing: list[Rule] = []
    for rule in rules:
        if settled is not None:
            break
        if rule.verdict is Verdict.ALLOW:
            if rule.is_dynamic or not any(not other.is_dynamic for other in allowing):
                allowing.append(rule)
        elif rule.is_dynamic:
            stricter.append(rule)
        else:
            settled = rule.decision
    return Ruling(spec, effect, default_decision(spec, effect), Sieve.of(stricter), settled, Sieve.of(allowing))
