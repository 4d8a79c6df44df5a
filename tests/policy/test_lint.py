"""What is told about rules that are valid and yet not what they may seem."""

from __future__ import annotations

import pytest

from toolcrib.policy.lint import lint
from toolcrib.policy.rules import Layer, Rule
from toolcrib.policy.touching import Touching
from toolcrib.policy.verdict import Verdict
from toolcrib.values.spec import Effect

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
DOCS = Touching(path=("docs/**",))
KNOWN = ("notes.add", "notes.read", "mail.send")

CASES = [
    ([Rule(ALLOW, "notes.add", place="a")], []),
    ([Rule(ALLOW, "notes.add", layer=Layer.PROJECT, place="a")], [("a", "void")]),
    ([Rule(ALLOW, "**", place="a")], [("a", "too wide")]),
    ([Rule(ALLOW, "**", effect=Effect.WRITE, place="a")], [("a", "too wide")]),
    ([Rule(ALLOW, "**", effect=Effect.READ, place="a")], []),
    ([Rule(ALLOW, "notes.add", touching=Touching(path=("**",)), place="a")], [("a", "too wide")]),
    ([Rule(DENY, "**", place="a")], []),
    ([Rule(DENY, "nots.add", place="a")], [("a", "unreachable")]),
    ([Rule(DENY, ("nots.add", "mail.*"), place="a")], []),
    ([Rule(DENY, "notes.*", place="a"), Rule(ASK, "notes.add", place="b")], [("b", "shadowed")]),
    ([Rule(DENY, "notes.*", place="a"), Rule(DENY, "notes.add", place="b")], [("b", "shadowed")]),
    ([Rule(ASK, "notes.*", place="a"), Rule(DENY, "notes.add", place="b")], []),
    ([Rule(DENY, "notes.*", touching=DOCS, place="a"), Rule(ASK, "notes.add", place="b")], []),
    ([Rule(DENY, "notes.*", place="a"), Rule(ALLOW, "notes.add", touching=DOCS, place="b")], [("b", "shadowed")]),
    ([Rule(ASK, "notes.add", effect=Effect.READ, place="a"), Rule(ALLOW, "notes.add", place="b")], []),
]


@pytest.mark.parametrize(("rules", "findings"), CASES)
def test_doubtful_rules_are_found_and_sound_ones_are_left_alone(rules, findings):
    assert [(finding.place, finding.kind) for finding in lint(rules, KNOWN)] == findings
