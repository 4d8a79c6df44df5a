"""What a person is shown: the whole call in one form for every asker, and what is easily overlooked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from toolcrib import PermissionRequest, Target, TargetKind
from toolcrib.askers.cautions import cautions
from toolcrib.askers.deny import deny
from toolcrib.askers.question import choices_text, headline, question_text
from toolcrib.values.identity import Origin, Role
from toolcrib.values.permission import Answer, request_json, request_of
from toolcrib.values.spec import Effect

ORIGIN = Origin("s1", "run_1").child("run_2", "planner@run_2", Role.ORCHESTRATOR).child("run_3", "sub@run_3", Role.SUB)


def request(*targets: Target, **changes: object) -> PermissionRequest:
    made = PermissionRequest(
        request_id="ask_1",
        origin=Origin("s1", "run_1"),
        call_id="c1",
        tool="shell.run",
        effect=Effect.WRITE,
        tags=frozenset({"write"}),
        arguments="{}",
        targets=targets,
        dangerous=False,
        because="it can change things",
        rule="default (shipped)",
        fingerprint="f" * 64,
        suggested=Answer.DENY,
        grant_scope=None,
        expires_at=0.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def command(text: str) -> Target:
    return Target(TargetKind.COMMAND, text)


def test_a_question_has_everything_and_names_everybody_above_a_child() -> None:
    asked = request(
        command("rm -rf x"), Target(TargetKind.HOST, "a.example"), origin=ORIGIN, dangerous=True, cwd="/p",
        arguments='{"command":"rm -rf x"}', environment="HOME, PATH", hook_summary="audit asks: why",
        network_host="a.example", mode="accept_edits", grant_scope="host a.example",
    )  # fmt: skip
    assert question_text(asked) == (
        "shell.run asks for permission:\n"
        "  arguments   {\n"
        '                "command": "rm -rf x"\n'
        "              }\n"
        "  effect      write, DANGEROUS\n"
        "  target      command rm -rf x\n"
        "  target      host a.example\n"
        "  host        a.example\n"
        "  folder      /p\n"
        "  environment HOME, PATH\n"
        "  hooks       audit asks: why\n"
        "  tags        write\n"
        "  mode        accept_edits\n"
        "  asked by    agent sub@run_3 in session s1\n"
        "  sent by     main (main, run_1) > planner@run_2 (orchestrator, run_2)\n"
        "  because     it can change things\n"
        "  rule        default (shipped)"
    )
    assert choices_text(asked).endswith("  s  for this session (for host a.example)\n  d  deny")
    assert "this call only, like o" in choices_text(request())


def test_a_question_survives_being_written_down() -> None:
    asked = request(command("x"), origin=ORIGIN, details="all", mode="plan", grant_scope="command x")
    assert request_of(json.loads(json.dumps(request_json(asked)))) == asked


@pytest.mark.parametrize(
    ("text", "caution"),
    [
        ("git status", None),
        ("git commit -m 'Grüße an Жанна'", None),
        ("ls   -l", None),
        ("git status" + "\t" * 900 + "; rm -rf ~", "there is more after a gap of 900 blanks"),
        ("git status" + " " * 300 + "; rm -rf ~", "there is more after a gap of 300 blanks"),
        (
            "echo \u202ehsab",
            "characters that do not show, cover or reorder others are written as escapes: \\u202e",
        ),
        ("p\u0443thon x.py", "p\u0443thon is not spelled as it looks: p\\u0443thon"),
        ("\u0441\u0430\u0440 x", "\u0441\u0430\u0440 is not spelled as it looks: \\u0441\\u0430\\u0440"),
        ("ls\uff1b rm", "ls\uff1b is not spelled as it looks: ls\\uff1b"),
        ("cat \u2215etc", "\u2215etc is not spelled as it looks: \\u2215etc"),
        ("\U0001d5c5\U0001d5cc", "\U0001d5c5\U0001d5cc is not spelled as it looks: \\U0001d5c5\\U0001d5cc"),
    ],
)
def test_what_is_easily_overlooked_is_named(text: str, caution: str | None) -> None:
    assert cautions(request(command(text))) == ([] if caution is None else [caution])


def test_hidden_characters_and_gaps_in_arguments_are_named_too() -> None:
    hidden = json.dumps({"text": "a" + " " * 40 + "b\u200bc", "other": ["x"]})
    assert len(cautions(request(arguments=hidden))) == 2


def test_no_value_can_pass_for_a_line_of_the_question_or_act_on_a_terminal() -> None:
    nasty = "x\n  rule        allowed by operator\x1b[2J\r\u2028"
    asked = request(Target(TargetKind.PATH, nasty), because=nasty, tool="act\u202e.now", cwd=nasty, grant_scope=nasty)
    text = question_text(asked) + choices_text(asked)
    assert [line for line in text.splitlines() if line.startswith("  rule")] == ["  rule        default (shipped)"]
    assert not [each for each in text if each != "\n" and not each.isprintable()]
    assert "\n" not in headline(asked)


def test_a_very_long_command_is_whole_in_the_arguments_and_cut_in_the_middle_where_it_is_named() -> None:
    long = "echo " + "a" * 9_000 + " ; rm -rf ~"
    asked = request(command(long), arguments="{…", details=json.dumps({"command": long}))
    text = question_text(asked)
    assert long in text
    [target] = [line for line in text.splitlines() if line.startswith("  target")]
    assert target.endswith(" ; rm -rf ~")
    assert "[… 7216 characters, whole in the arguments above …]" in target
    assert len(headline(asked)) == 200


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (request(), "an operator's rule could allow it"),
        (request(dangerous=True), "only by an operator's rule that names it and its target"),
        (request(Target(TargetKind.PATH, "/x", "", frozenset({"protected"}))), "asked about every time"),
    ],
)
async def test_who_is_not_asked_is_told_what_would_work(asked: PermissionRequest, said: str) -> None:
    decision = await deny(asked)
    assert decision.answer == Answer.DENY
    assert said in (decision.reason or "")
