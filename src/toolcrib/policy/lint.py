"""What an operator should know about rules that are valid and yet not what they may seem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolcrib.policy.names import EVERY, compile_pattern, is_exact
from toolcrib.policy.rules import ANYWHERE, Rule
from toolcrib.policy.verdict import Verdict
from toolcrib.values.noun import frozen


@frozen
class Finding:
    """One doubtful rule: where it stands, which kind of doubt, and what would be better."""

    place: str
    kind: str
    message: str


def lint(rules: Sequence[Rule], known_tools: Sequence[str] = ()) -> list[Finding]:
    """Shadowed, unreachable, void and too wide rules. `known_tools` are the names there are, where that is known."""
    found: list[Finding] = []
    for number, rule in enumerate(rules):
        found += _void(rule)
        found += _too_wide(rule)
        found += _unreachable(rule, known_tools)
        found += _shadowed(rule, number, rules)
    return found


def _void(rule: Rule) -> Iterator[Finding]:
    if not rule.counts:
        yield _finding(rule, "void", "a project's allow never counts; it belongs into the home's policy.toml")


def _too_wide(rule: Rule) -> Iterator[Finding]:
    if rule.verdict is not Verdict.ALLOW or not rule.counts:
        return
    if rule.targets is not None and rule.touching.by_kind and not rule.targets.names_places:
        yield _finding(rule, "too wide", "a pattern of nothing but wildcards names no target; say which")
    if EVERY in rule.names and rule.targets is None and not rule.arguments:
        if not (rule.tags or rule.effect or rule.facts is not ANYWHERE):
            yield _finding(rule, "too wide", "allows every tool that is not dangerous; name the tools")
        elif rule.effect is None or rule.effect.value == "write":
            yield _finding(
                rule, "too wide", "allows writes of all tools that fit, whatever they touch; name tools or targets"
            )


def _unreachable(rule: Rule, known_tools: Sequence[str]) -> Iterator[Finding]:
    if not known_tools or EVERY in rule.names:
        return
    lost = [name for name in rule.names if not any(compile_pattern(name).fullmatch(tool) for tool in known_tools)]
    if len(lost) == len(rule.names):
        yield _finding(rule, "unreachable", f"no tool that is loaded here fits {' or '.join(lost)}")


def _shadowed(rule: Rule, number: int, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Another rule, at least as strict, that says it for every call that this one is about."""
    for other_number, other in enumerate(rules):
        if other is rule or not other.counts or not rule.counts or not _contains(other, rule):
            continue
        stricter = other.verdict > rule.verdict
        same = other.verdict is rule.verdict and not rule.touching.marks and not rule.run_marks
        if stricter or (same and (other.layer, other_number) < (rule.layer, number)):
            what = f"says {other.verdict.name.lower()} for all that this rule is about"
            where = other.place or ", ".join(other.names)
            yield _finding(rule, "shadowed", f"{where} {what}, so this one never decides")
            return


def _contains(wide: Rule, narrow: Rule) -> bool:
    """Whether every call that the narrow rule is about is one that the wide rule is about."""
    if wide.is_dynamic and (wide.touching, wide.arguments, wide.run_marks) != (
        narrow.touching, narrow.arguments, narrow.run_marks,
    ):  # fmt: skip
        return False
    if not wide.tags <= narrow.tags or (wide.effect is not None and wide.effect is not narrow.effect):
        return False
    if wide.facts not in (ANYWHERE, narrow.facts):
        return False
    return all(any(_pattern_contains(outer, inner) for outer in wide.names) for inner in narrow.names)


def _pattern_contains(outer: str, inner: str) -> bool:
    if outer in (EVERY, inner):
        return True
    if is_exact(inner):
        return compile_pattern(outer).fullmatch(inner) is not None
    return outer.endswith(".**") and inner.startswith(outer[:-2]) and is_exact(outer[:-3])


def _finding(rule: Rule, kind: str, message: str) -> Finding:
    return Finding(rule.place or ", ".join(rule.names), kind, message)
