"""The inbox at the command line: what waits is shown whole, and answered once by who may."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Pending, Target, TargetKind, Toolcrib, tool

PATIENCE = 30.0


@tool(name="mail.send", targets=lambda given: [Target(TargetKind.HOST, "mail.example", "mail.example")])
async def send(to: str, text: str = "") -> str:
    """Send a mail."""
    return f"sent to {to}"


@pytest.fixture
def waiting(folder: Path) -> Callable[..., str]:
    """Put a question into the inbox; returns its id."""

    async def park(text: str) -> str:
        async with Toolcrib.open(tools=[send], asker="inbox") as crib, crib.run(session="work") as run:
            parked = await run.submit("mail.send", {"to": "ann", "text": text})
            assert isinstance(parked, Pending)
            return parked.request_id

    return lambda text="hello": asyncio.run(park(text))


def test_what_waits_is_listed_shown_and_answered(toolcrib: Any, waiting: Callable[..., str]) -> None:
    request_id = waiting()
    listed = toolcrib("approvals", "list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.splitlines()[1].split() == [
        request_id,
        "waits,",
        "23",
        "h",
        "left",
        "main",
        "mail.send",
        "mail.example",
    ]
    shown = toolcrib("approvals", "show", request_id)
    assert "  target      host mail.example\n" in shown.out
    assert "  session     an answer for the session covers host mail.example\n" in shown.out
    assert "  state       waits for an answer, another 23 h\n" in shown.out
    given = toolcrib("approvals", "approve", request_id, "--operator", "ann", "--reason", "fine", "--json")
    told = json.loads(given.out)
    assert given.code == 0
    assert (told["state"], told["answer"], told["principal"]) == ("answered", "allow_once", "operator:ann")
    assert (told["reason"], told["settled"], told["tool"]) == ("fine", False, "mail.send")
    assert toolcrib("approvals", "list").err == "toolcrib: no question waits for an answer\n"
    assert json.loads(toolcrib("approvals", "list", "--json").out) == []
    assert "allow_once" in toolcrib("approvals", "list", "--all").out
    assert [
        each["request_id"]
        for each in json.loads(toolcrib("approvals", "list", "--session", "work", "--all", "--json").out)
    ] == [request_id]


def test_the_second_answer_is_told_of_the_first(toolcrib: Any, waiting: Callable[..., str]) -> None:
    request_id = waiting()
    assert toolcrib("approvals", "deny", request_id, "--operator", "ann").code == 0
    late = toolcrib("approvals", "approve", request_id, "--operator", "bob", "--for-session")
    assert (late.code, late.out) == (1, "")
    assert late.err == f"toolcrib: {request_id} was already answered: deny by operator:ann\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("show", "ask_none"), 1, "there is no question 'ask_none'"),
        (("approve", "ask_none", "--operator", "ann"), 1, "there is no question 'ask_none'"),
        (("approve", "ID"), 3, "only a person may answer, and there is no terminal here"),
        (("deny", "ID"), 3, "only a person may answer, and there is no terminal here"),
        (("approve",), 2, "missing argument"),
        (("grant", "ID"), 2, "there is no command 'grant'"),
    ],
)
def test_what_is_not_so_not_right_or_not_allowed_has_its_exit_code(
    toolcrib: Any, waiting: Callable[..., str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    request_id = waiting()
    done = toolcrib("approvals", *(each.replace("ID", request_id) for each in arguments))
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert toolcrib("approvals", "show", request_id, "--json").out.count('"state": "pending"') == 1


def test_nothing_recorded_means_that_nothing_waits(toolcrib: Any) -> None:
    assert toolcrib("approvals", "list", "--json").out == "[]\n"
    assert toolcrib("approvals", "show", "ask_1").code == 1


def test_nothing_in_a_question_acts_on_the_terminal(toolcrib: Any, waiting: Callable[..., str]) -> None:
    request_id = waiting("\x1b[2J\u202e" + "x" * 3_000)
    shown = toolcrib("approvals", "show", request_id).out
    assert "x" * 3_000 in shown, "the whole of it"
    assert "\\u001b[2J" in shown or "\\x1b[2J" in shown
    assert "CAREFUL" in shown
    assert not {"\x1b", "\u202e"} & set(shown + toolcrib("approvals", "list", "--json").out)


def test_a_person_at_a_terminal_needs_no_name(
    toolcrib: Any, waiting: Callable[..., str], environment: dict[str, str]
) -> None:
    request_id = waiting()
    outside, inside = pty.openpty()
    command = [sys.executable, "-m", "toolcrib.cli", "approvals", "approve", request_id]
    done = subprocess.run(command, stdin=inside, capture_output=True, env=environment, timeout=PATIENCE)
    os.close(inside)
    os.close(outside)
    assert done.returncode == 0, done.stderr
    assert b"allow_once by terminal:" in done.stdout


def test_a_call_by_hand_can_be_left_to_the_inbox(toolcrib: Any, folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "toolcrib.cli", "tools", "call", "notes.add", "title=Monday", "-m", "notes.py"]
    process = subprocess.Popen(
        [*command, "--approve", "inbox"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    told = process.stderr.readline()
    assert told.startswith("toolcrib: notes.add waits for: toolcrib approvals approve ask_")
    assert toolcrib("approvals", "approve", told.split()[-1], "--operator", "ann").code == 0
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "added Monday\n")


def test_a_call_by_hand_that_asks_nobody_is_denied(toolcrib: Any) -> None:
    done = toolcrib("tools", "call", "notes.add", "title=Monday", "-m", "notes.py", "--approve", "deny")
    assert (done.code, "nobody is asked here" in done.err) == (3, True)
