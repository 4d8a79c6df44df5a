"""Modes as arithmetic on decisions: what each makes of a call, and which is nowhere looser than which."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.policy.commands.command import Command, CommandTarget, Whence
from toolcrib.policy.modes import Mode, is_within, mode_of, unasked, under_mode
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind

ALLOW, ASK, DENY = Verdict
DEFAULT_ASK = Decision(ASK, "default", "shipped", "it can change things")


def spec(*tags: str, effect: Effect = Effect.WRITE) -> ToolSpec:
    return ToolSpec(name="a.tool", description="", input_schema={}, effect=effect, tags=frozenset(tags))


def path(*marks: str) -> Target:
    return Target(TargetKind.PATH, "/p/a.txt", "/p", frozenset(marks))


def command(*words: str, trouble: str = "") -> CommandTarget:
    found = Command(words, f"/usr/bin/{words[0]}", f"/usr/bin/{words[0]}", f"/usr/bin/{words[0]}", Whence.SYSTEM, "/p")
    return CommandTarget(TargetKind.COMMAND, " ".join(words), "", frozenset(), (found,), trouble)


HOST = Target(TargetKind.HOST, "a.example")
EDITS = [
    ("a file inside the roots", spec("filesystem"), (path(),), ALLOW),
    ("two files inside the roots", spec("filesystem"), (path(), path()), ALLOW),
    ("a sensitive file", spec("filesystem"), (path("sensitive"),), ASK),
    ("a protected file", spec("filesystem"), (path("protected"),), ASK),
    ("a file outside", spec("filesystem"), (path("outside"),), ASK),
    ("one file inside and one outside", spec("filesystem"), (path(), path("outside")), ASK),
    ("a dangerous tool", spec("filesystem", "dangerous"), (path(),), ASK),
    ("a tool that reaches the network", spec("filesystem", "network"), (path(),), ASK),
    ("a command", spec("filesystem"), (command("touch", "a"),), ASK),
    ("a command beside a file", spec("filesystem"), (path(), command("touch", "a")), ASK),
    ("a host", spec("filesystem"), (path(), HOST), ASK),
    ("no target at all", spec("filesystem"), (), ASK),
    ("a write that is not about files", spec(), (path(),), ASK),
    (
        "a tool of a server that says it writes files",
        replace(spec("filesystem"), tool_type=ToolType.MCP),
        (path(),),
        ASK,
    ),
]


@pytest.mark.parametrize(("tool", "targets", "verdict"), [case[1:] for case in EDITS], ids=[case[0] for case in EDITS])
def test_accept_edits_answers_for_ordinary_files_and_for_nothing_else(tool, targets, verdict) -> None:
    assert under_mode(Mode.ACCEPT_EDITS, DEFAULT_ASK, tool, Effect.WRITE, targets).verdict is verdict


@pytest.mark.parametrize("layer", ["managed", "user", "project", "agent", "tool"])
def test_accept_edits_stands_in_for_the_default_alone_never_for_a_rule(layer: str) -> None:
    asks = Decision(ASK, "rule", layer, "somebody wants to see it")
    assert under_mode(Mode.ACCEPT_EDITS, asks, spec("filesystem"), Effect.WRITE, (path(),)) is asks


PLANNED = [
    ("a read", Effect.READ, (path(),), ALLOW),
    ("a write", Effect.WRITE, (path(),), DENY),
    ("a write of no target", Effect.WRITE, (), DENY),
    ("a read that runs a command", Effect.READ, (command("cat", "a"),), DENY),
]


@pytest.mark.parametrize(("effect", "targets", "verdict"), [case[1:] for case in PLANNED], ids=[c[0] for c in PLANNED])
def test_plan_mode_denies_whatever_is_not_surely_a_read_even_when_a_rule_allows_it(effect, targets, verdict) -> None:
    allowed = Decision(ALLOW, "rule", "user", "always fine")
    assert under_mode(Mode.PLAN, allowed, spec(effect=effect), effect, targets).verdict is verdict


BYPASSED = [
    ("an ordinary write", DEFAULT_ASK, (), ALLOW),
    ("a sensitive file", DEFAULT_ASK, (path("sensitive"),), ALLOW),
    ("a user's rule that asks", Decision(ASK, "rule", "user", "show me"), (), ALLOW),
    ("a managed rule that asks", Decision(ASK, "rule", "managed", "the house wants to see it"), (), ASK),
    ("a protected path", DEFAULT_ASK, (path("protected"),), ASK),
    ("a command", DEFAULT_ASK, (command("make"),), ALLOW),
    ("toolcrib itself", DEFAULT_ASK, (command("toolcrib", "trust", "."),), ASK),
    ("toolcrib behind a program", DEFAULT_ASK, (command("env", "X=1", "toolcrib", "trust", "."),), ASK),
    ("toolcrib behind a shell", DEFAULT_ASK, (command("sh", "-c", "cd /; toolcrib trust ."),), ASK),
    ("a shell", DEFAULT_ASK, (command("sh", "-c", "cd /; ls"),), ALLOW),
    ("a command that cannot be read", DEFAULT_ASK, (command("a", trouble="metacharacters"),), ASK),
    ("a denial", Decision(DENY, "rule", "project", "no"), (), DENY),
]


@pytest.mark.parametrize(("decision", "targets", "verdict"), [c[1:] for c in BYPASSED], ids=[c[0] for c in BYPASSED])
def test_bypass_answers_questions_but_never_a_denial_a_managed_rule_or_a_protected_path(
    decision, targets, verdict
) -> None:
    assert under_mode(Mode.BYPASS, decision, spec(), Effect.WRITE, targets).verdict is verdict


def test_what_would_be_asked_is_denied_where_nobody_is_asked_and_says_so() -> None:
    denied = unasked(DEFAULT_ASK)
    assert (denied.verdict, denied.cite) == (DENY, "dont_ask (mode)")
    assert "it can change things" in denied.because


def test_a_word_that_is_no_mode_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="use one of default, plan, accept_edits, dont_ask, bypass"):
        mode_of("yolo")


DECISIONS = st.builds(
    Decision, st.sampled_from(Verdict), st.just("rule"), st.sampled_from(["shipped", "user", "managed"]), st.just("so")
)
TARGETS = st.lists(
    st.sampled_from([path(), path("outside"), path("protected"), path("sensitive"), HOST, command("make")]), max_size=3
)
TOOLS = st.sampled_from([spec("filesystem"), spec("filesystem", "dangerous"), spec(), spec("network")])


def final(mode: Mode, decision: Decision, tool: ToolSpec, effect: Effect, targets: list[Target]) -> Verdict:
    found = under_mode(mode, decision, tool, effect, targets)
    return (unasked(found) if mode is Mode.DONT_ASK and found.verdict is ASK else found).verdict


@given(DECISIONS, TOOLS, st.sampled_from(Effect), TARGETS)
def test_a_mode_within_another_is_never_looser_and_no_mode_lifts_a_denial(decision, tool, effect, targets) -> None:
    verdicts = {mode: final(mode, decision, tool, effect, targets) for mode in Mode}
    for mode, outer in itertools.product(Mode, Mode):
        if is_within(mode, outer):
            assert verdicts[mode] >= verdicts[outer]
    assert decision.verdict is not DENY or set(verdicts.values()) == {DENY}
