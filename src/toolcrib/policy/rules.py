"""Rules: which tools, in which situation, with which targets and arguments, and what is to become of the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import field
from typing import TYPE_CHECKING

from toolcrib.policy.layers import SHIPPED, Layer
from toolcrib.policy.names import EVERY, compile_pattern, compile_text_glob, is_exact
from toolcrib.policy.predicates import Predicate, Quantity
from toolcrib.policy.shipped import decide_targets, default_decision
from toolcrib.policy.touching import TargetTest, Touching
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.target import Target

if TYPE_CHECKING:
    from toolcrib.policy.examples import Example
    from toolcrib.policy.ruling import Ruling, RulingIndex

__all__ = [
    "ANYWHERE",
    "HERE",
    "SHIPPED",
    "Facts",
    "Layer",
    "Policy",
    "Rule",
    "Situation",
    "compile_pattern",
    "decide_targets",
    "default_decision",
]


@frozen
class Situation:
    """Who asks for tools and in which mode: fixed for a run."""

    agent: str = "main"
    role: str = "main"
    mode: str = "default"


HERE = Situation()


@frozen
class Facts:
    """Further conditions on the tool and the run; each is met by any of its words, and by everything when empty.

    `source` is a kind of source (`python`, `mcp` …) or `kind:name`; `server` the name of an MCP server.
    """

    category: tuple[str, ...] = ()
    tool_type: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    mode: tuple[str, ...] = ()

    def fit_tool(self, spec: ToolSpec) -> bool:
        source = spec.source
        return (
            (not self.category or spec.category in self.category)
            and (not self.tool_type or spec.tool_type in self.tool_type)
            and (not self.source or _any_fits(self.source, (source.kind, f"{source.kind}:{source.name}")))
            and (not self.server or (source.kind == "mcp" and _any_fits(self.server, (source.name,))))
        )

    def fit_situation(self, situation: Situation) -> bool:
        return (
            (not self.agent or _any_fits(self.agent, (situation.agent,)))
            and (not self.role or situation.role in self.role)
            and (not self.mode or situation.mode in self.mode)
        )


ANYWHERE = Facts()
UNTOUCHED = Touching()


@frozen
class Rule:
    """One line of policy. All its conditions must be met; a condition that is not written is met by every call.

    `run_marks` are marks that the run must all have. `notice` makes an allow leave a record at level notice.
    """

    verdict: Verdict
    tool: str | tuple[str, ...] = EVERY
    tags: frozenset[str] = frozenset()
    effect: Effect | None = None
    because: str = ""
    deny_message: str = ""
    layer: Layer = Layer.USER
    place: str = ""
    facts: Facts = ANYWHERE
    touching: Touching = UNTOUCHED
    arguments: tuple[Predicate, ...] = ()
    run_marks: frozenset[str] = frozenset()
    notice: str = ""
    match: tuple[Example, ...] = ()
    not_match: tuple[Example, ...] = ()
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    targets: TargetTest | None = field(init=False, repr=False, compare=False)
    decision: Decision = field(init=False, repr=False, compare=False)
    quantity: Quantity = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = (self.tool,) if isinstance(self.tool, str) else self.tool
        for name in names:
            compile_pattern(name)
        put = object.__setattr__
        put(self, "names", names)
        put(self, "targets", TargetTest(self.touching, self.verdict, self.place) if self.touching else None)
        put(self, "quantity", Quantity.ALL if self.verdict is Verdict.ALLOW else Quantity.ONE)
        put(self, "decision", self._decision())
        if self.match or self.not_match:
            from toolcrib.policy.examples import check_examples

            check_examples(self)

    @property
    def counts(self) -> bool:
        """A project's allow never counts."""
        return self.verdict is not Verdict.ALLOW or self.layer.may_allow

    @property
    def is_dynamic(self) -> bool:
        """Whether it takes a call, not only a tool and a run, to know if the rule applies."""
        return bool(self.targets or self.arguments or self.run_marks)

    def concerns(self, spec: ToolSpec, effect: Effect, situation: Situation) -> bool:
        """Whether the rule is about this tool in this situation, as far as that is known before a call."""
        return (
            self.fits_facts(spec, effect)
            and self.facts.fit_situation(situation)
            and any(compile_pattern(name).fullmatch(spec.name) for name in self.names)
        )

    def fits_facts(self, spec: ToolSpec, effect: Effect) -> bool:
        """Everything about the tool but its name."""
        if self.effect is not None and self.effect is not effect:
            return False
        return self.tags <= spec.tags and (self.facts is ANYWHERE or self.facts.fit_tool(spec))

    def covers(self, arguments: Mapping[str, Json], targets: Sequence[Target], marks: Set[str]) -> bool:
        """Whether a call of a tool that the rule concerns meets its other conditions."""
        if not self.run_marks <= marks:
            return False
        for predicate in self.arguments:
            if not predicate.holds(arguments, self.quantity):
                return False
        return self.targets is None or self.targets.holds(targets)

    def unmet(self, arguments: Mapping[str, Json], targets: Sequence[Target], marks: Set[str]) -> str | None:
        """Why the rule does not cover a call of a tool that it concerns; None when it does."""
        if missing := self.run_marks - marks:
            return f"the run is not marked {', '.join(sorted(missing))}"
        for predicate in self.arguments:
            if not predicate.holds(arguments, self.quantity):
                return f"the argument {predicate} does not hold"
        if self.targets is None or self.targets.holds(targets):
            return None
        return self.targets.unmet(targets)

    def names_tool_and_targets(self, targets: Sequence[Target]) -> bool:
        """Whether an operator wrote down the very tool and what it may touch, for every target of the call."""
        return (
            self.layer.is_operator
            and self.targets is not None
            and self.targets.names_places
            and all(map(is_exact, self.names))
            and self.targets.covers_all(targets)
        )

    def _decision(self) -> Decision:
        written = ", ".join(self.names)
        where = self.place or f"rule {written}"
        because = self.because or f"a rule for {written} says {'notify' if self.notice else self.verdict.name.lower()}"
        return Decision(self.verdict, where, self.layer.name.lower(), because, self.deny_message, self.notice)


@frozen
class Policy:
    """All rules in force. What they say about one tool is compiled once, when it is first asked for."""

    rules: tuple[Rule, ...] = ()
    generation: int = 0
    _indexes: dict[Situation, RulingIndex] = field(
        init=False, repr=False, compare=False, default_factory=dict["Situation", "RulingIndex"]
    )

    def decide(self, spec: ToolSpec, situation: Situation = HERE) -> Decision:
        """The part of a decision that does not depend on arguments: the strictest rule, else the shipped default."""
        if not self.rules:
            return default_decision(spec)
        return self.ruling(spec, situation).fixed

    def ruling(self, spec: ToolSpec, situation: Situation = HERE, effect: Effect | None = None) -> Ruling:
        """Everything the rules can say about calls of one tool in one situation."""
        index = self._indexes.get(situation)
        if index is None:
            from toolcrib.policy.ruling import RulingIndex

            index = self._indexes[situation] = RulingIndex.build(self.rules, situation)
        return index.ruling(spec, effect or spec.effect)

    def closed(self, specs: Iterable[ToolSpec], situation: Situation = HERE) -> frozenset[str]:
        """The tools of which every call is denied: naming them to a model would only cost it a try."""
        closing = [rule for rule in self.rules if rule.verdict is Verdict.DENY and not rule.is_dynamic]
        if not closing:
            return frozenset()
        from toolcrib.policy.ruling import RulingIndex

        has = RulingIndex.build(closing, situation).has
        return frozenset(
            spec.name for spec in specs if has(spec, spec.effect) and (spec.read_form is None or has(spec, Effect.READ))
        )

    def with_rules(self, rules: Iterable[Rule]) -> Policy:
        return Policy((*self.rules, *rules), self.generation + 1)


def _any_fits(patterns: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(compile_text_glob(pattern).fullmatch(word) for pattern in patterns for word in words)
