"""Authority only narrows: below any rule no lower layer loosens, over random stacks of rules and random calls."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolcrib.policy.modes import Mode, under_mode
from toolcrib.policy.names import is_exact
from toolcrib.policy.predicates import Operation, Predicate
from toolcrib.policy.rules import Facts, Layer, Policy, Rule, Situation
from toolcrib.policy.touching import Touching
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.spec import Effect, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind

TOOLS = ("notes.add", "notes.read", "mail.send")
PATHS = ("/workspace/docs/a.md", "/workspace/src/a.py", "/workspace/.git/config")
HOSTS = ("api.example.com", "evil.test:8080")


@dataclass(frozen=True)
class Call:
    spec: ToolSpec
    arguments: dict[str, bool]
    targets: tuple[Target, ...]
    marks: frozenset[str]
    situation: Situation

    def decide(self, rules: tuple[Rule, ...]) -> Decision:
        ruling = Policy(rules).ruling(self.spec, self.situation)
        return ruling.decide(self.arguments, self.targets, self.marks)

    def applies(self, rule: Rule) -> bool:
        return (
            rule.counts
            and rule.concerns(self.spec, self.spec.effect, self.situation)
            and rule.covers(self.arguments, self.targets, self.marks)
        )


def rules(*layers: Layer, verdicts: tuple[Verdict, ...] = tuple(Verdict)) -> st.SearchStrategy[Rule]:
    touching = st.builds(
        Touching,
        path=st.sampled_from([(), (), ("docs/**",), ("**",), ("**/*.py", "docs/a.md")]),
        host=st.sampled_from([(), (), ("*.example.com",), ("*:*",)]),
        marks=st.sampled_from([frozenset(), frozenset(), frozenset({"sensitive"}), frozenset({"outside"})]),
    )
    return st.builds(
        Rule,
        st.sampled_from(verdicts),
        st.sampled_from(["**", "notes.*", *TOOLS, ("notes.add", "mail.send")]),
        st.sampled_from([frozenset(), frozenset({"network"}), frozenset({"dangerous"})]),
        st.sampled_from([None, *Effect]),
        layer=st.sampled_from(layers or tuple(Layer)),
        facts=st.sampled_from([Facts(), Facts(agent=("main",)), Facts(role=("worker",)), Facts(mode=("plan",))]),
        touching=touching,
        arguments=st.sampled_from([(), (Predicate("force", Operation.EQUALS, True),)]),
        run_marks=st.sampled_from([frozenset(), frozenset({"read_sensitive"})]),
        notice=st.sampled_from(["", "told"]),
    )


def targets() -> st.SearchStrategy[Target]:
    marks = st.sets(st.sampled_from(["sensitive", "outside", "protected"]), max_size=2).map(frozenset)
    path = st.builds(Target, st.just(TargetKind.PATH), st.sampled_from(PATHS), st.just("x"), marks)
    return st.one_of(path, st.builds(Target, st.just(TargetKind.HOST), st.sampled_from(HOSTS)))


SPECS = st.builds(
    ToolSpec,
    name=st.sampled_from(TOOLS),
    description=st.just("d"),
    input_schema=st.just({}),
    effect=st.sampled_from(Effect),
    tags=st.sets(st.sampled_from(["network", "dangerous", "internal", "filesystem"]), max_size=2).map(frozenset),
    tool_type=st.sampled_from([ToolType.CUSTOM, ToolType.MCP]),
)
CALLS = st.builds(
    Call,
    SPECS,
    st.sampled_from([{}, {"force": True}]),
    st.lists(targets(), max_size=2).map(tuple),
    st.sampled_from([frozenset(), frozenset({"read_sensitive"})]),
    st.builds(Situation, role=st.sampled_from(["main", "worker"]), mode=st.sampled_from(["default", "plan"])),
)
ADDING = Call(ToolSpec(name="notes.add", description="d", input_schema={}), {}, (), frozenset(), Situation())
STACKS = st.lists(rules(), max_size=6).map(tuple)
MANY = settings(max_examples=400, deadline=None)


@MANY
@given(STACKS, CALLS)
def test_no_decision_is_looser_than_any_rule_that_applies(stack: tuple[Rule, ...], call: Call) -> None:
    strictest = max((rule.verdict for rule in stack if call.applies(rule)), default=Verdict.ALLOW)
    assert call.decide(stack).verdict >= strictest


@MANY
@given(STACKS, rules(Layer.PROJECT), CALLS)
@example((), Rule(Verdict.ALLOW, "notes.add", layer=Layer.PROJECT), ADDING)
def test_a_project_never_loosens_anything(stack: tuple[Rule, ...], more: Rule, call: Call) -> None:
    assert call.decide((*stack, more)).verdict >= call.decide(stack).verdict


@MANY
@given(STACKS, rules(Layer.AGENT), CALLS)
def test_an_agent_loosens_only_the_shipped_defaults(stack: tuple[Rule, ...], more: Rule, call: Call) -> None:
    before, after = call.decide(stack), call.decide((*stack, more))
    assert after.verdict >= before.verdict or not any(call.applies(rule) for rule in stack)


@MANY
@given(STACKS, rules(Layer.USER, Layer.PROJECT, Layer.AGENT), CALLS)
def test_below_a_managed_rule_nobody_loosens(stack: tuple[Rule, ...], more: Rule, call: Call) -> None:
    managed = tuple(rule for rule in stack if rule.layer is Layer.MANAGED)
    said = max((rule.verdict for rule in managed if call.applies(rule)), default=Verdict.ALLOW)
    assert call.decide((*stack, more)).verdict >= said


@MANY
@given(st.lists(rules(verdicts=(Verdict.ALLOW,)), max_size=4).map(tuple), CALLS)
def test_a_dangerous_tool_is_allowed_only_by_an_operator_who_names_tool_and_target(
    stack: tuple[Rule, ...], call: Call
) -> None:
    dangerous = replace(call, spec=replace(call.spec, tags=call.spec.tags | {"dangerous"}))
    if dangerous.decide(stack).verdict is not Verdict.ALLOW:
        return
    applying = [rule for rule in stack if dangerous.applies(rule) and rule.layer.is_operator]
    assert any(all(map(is_exact, rule.names)) and rule.touching.by_kind for rule in applying)
    assert dangerous.targets


@MANY
@given(STACKS, CALLS, st.sampled_from(Mode))
def test_no_rule_and_no_mode_lets_a_protected_path_pass_unasked(
    stack: tuple[Rule, ...], call: Call, mode: Mode
) -> None:
    decision = call.decide(stack)
    after = under_mode(mode, decision, call.spec, call.spec.effect, call.targets)
    assert after.verdict >= decision.verdict or after.layer == "mode"
    if any("protected" in target.marks for target in call.targets):
        assert after.verdict is not Verdict.ALLOW
    if decision.verdict is Verdict.DENY:
        assert after.verdict is Verdict.DENY


@MANY
@given(STACKS, CALLS)
def test_the_order_in_which_rules_are_written_decides_nothing(stack: tuple[Rule, ...], call: Call) -> None:
    assert call.decide(stack).verdict is call.decide(tuple(reversed(stack))).verdict
