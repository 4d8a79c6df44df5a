"""Rules over tools: matched by name pattern, tags and effect; compiled once per tool, not once per call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.target import Target

SHIPPED = "shipped"


class Layer(IntEnum):
    """Who wrote a rule, highest authority first; only the operator's layers may allow."""

    MANAGED = 0
    USER = 1
    PROJECT = 2
    AGENT = 3

    @property
    def may_allow(self) -> bool:
        return self <= Layer.USER


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A name pattern: exact unless a glob is written; `*` and `?` stay inside one dotted part, `**` crosses dots."""
    if not pattern or not re.fullmatch(r"[A-Za-z0-9_.*?-]+", pattern):
        raise ConfigError(
            f"{pattern!r} is not a tool name pattern: use a name such as 'notes.read', with * or ? as globs"
        )
    words = re.split(r"(\*\*|\*|\?)", pattern)
    globs = {"**": ".*", "*": r"[^.]*", "?": r"[^.]"}
    return re.compile("".join(globs.get(word, re.escape(word)) for word in words))


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of policy. It matches a tool that fits the pattern, carries all the tags and has the effect."""

    verdict: Verdict
    tool: str = "**"
    tags: frozenset[str] = frozenset()
    effect: Effect | None = None
    because: str = ""
    deny_message: str = ""
    layer: Layer = Layer.USER
    place: str = ""
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", compile_pattern(self.tool))

    def matches(self, spec: ToolSpec) -> bool:
        if self.effect is not None and self.effect is not spec.effect:
            return False
        return self.tags <= spec.tags and self._pattern.fullmatch(spec.name) is not None

    def decision(self) -> Decision:
        where = self.place or f"rule {self.tool}"
        because = self.because or f"a rule for {self.tool} says {self.verdict.name.lower()}"
        return Decision(self.verdict, where, self.layer.name.lower(), because, self.deny_message)


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules in force. `decide` gives the part of a decision that does not depend on arguments."""

    rules: tuple[Rule, ...] = ()
    generation: int = 0

    def decide(self, spec: ToolSpec) -> Decision:
        """The strictest rule that matches; without one, the shipped default."""
        strictest: Decision | None = None
        for rule in self.rules:
            if rule.verdict is Verdict.ALLOW and not rule.layer.may_allow:
                continue
            if (strictest is None or rule.verdict > strictest.verdict) and rule.matches(spec):
                strictest = rule.decision()
        if strictest is None:
            return default_decision(spec)
        if strictest.verdict is Verdict.ALLOW and spec.dangerous:
            return _default(
                Verdict.ASK, "a dangerous tool is allowed without a question only by a rule for tool and target"
            )
        return strictest

    def with_rules(self, rules: Iterable[Rule]) -> Policy:
        return Policy((*self.rules, *rules), self.generation + 1)


def default_decision(spec: ToolSpec) -> Decision:
    """What holds where no rule speaks: reads run, everything that acts or reaches out asks."""
    if spec.dangerous:
        return _default(Verdict.ASK, "it is marked dangerous")
    if spec.effect is Effect.READ and not spec.network:
        return _default(Verdict.ALLOW, "it only reads")
    if spec.effect is Effect.READ:
        return _default(Verdict.ASK, "it reaches the network")
    if "internal" in spec.tags:
        return _default(Verdict.ALLOW, "it changes only this session's own records")
    return _default(Verdict.ASK, "it can change things")


def decide_targets(targets: Sequence[Target]) -> Decision | None:
    """What the touched things add to a decision: a marked target (sensitive, outside, protected …) always asks."""
    for target in targets:
        if target.marks:
            marks = ", ".join(sorted(target.marks))
            return _default(Verdict.ASK, f"{target.kind} {target.value} is {marks}")
    return None


def _default(verdict: Verdict, because: str) -> Decision:
    return Decision(verdict, "default", SHIPPED, because)
