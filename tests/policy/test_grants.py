"""What an answer for the session covers, and what it never does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolcrib import Target, TargetKind, tool
from toolcrib.catalog.decorate import tool_of
from toolcrib.policy.commands import Command, Whence, command_target
from toolcrib.policy.grants import Grant, covering, scope_text, wanted_grants
from toolcrib.values.call import Invocation, ToolCall
from toolcrib.values.json import JsonObject
from toolcrib.values.spec import Effect


@tool(name="act.now")
async def act() -> str:
    """Act."""
    return ""


@tool(name="act.now", tags={"dangerous"})
async def dangerous_act() -> str:
    """Act."""
    return ""


def call(
    *targets: Target, arguments: JsonObject | None = None, dangerous: bool = False, repaired: bool = False
) -> Invocation:
    made = ToolCall("act.now", arguments or {}, repaired=repaired)
    return Invocation(made, "c", tool_of(dangerous_act if dangerous else act), made.arguments, Effect.WRITE, targets)  # type: ignore[arg-type]


def path(value: str, scope: str = "/p", *marks: str) -> Target:
    return Target(TargetKind.PATH, value, scope, frozenset(marks))


def command(*words: str, real: str = "") -> Target:
    found = f"/usr/bin/{words[0]}"
    return command_target(" ".join(words), (Command(words, found, found, real or found, Whence.SYSTEM, "/p"),))


@pytest.mark.parametrize(
    ("granted", "later", "covered"),
    [
        (call(path("/p/a")), call(path("/p/sub/b")), True),
        (call(path("/p/a", "/p/a")), call(path("/p/b")), False),
        (call(path("/p/a", "/p/a")), call(path("/p/a")), True),
        (call(path("/p/a")), call(path("/pp/a", "/pp")), False),
        (call(path("/p/a")), call(path("/p/../etc/x")), False),
        (call(path("/p/a")), call(path("/p/.git/config", "/p", "protected")), False),
        (call(path("/p/a")), call(path("/p/.env", "/p", "sensitive")), False),
        (call(path("/p/a")), call(path("/p/b"), path("/etc/x", "/etc")), False),
        (call(path("/p/a")), call(path("/p/b"), path("/p/c")), True),
        (call(path("/o/a", "/o", "outside")), call(path("/o/b", "/o", "outside")), True),
        (call(arguments={"a": 1}), call(arguments={"a": 1}), True),
        (call(arguments={"a": 1}), call(arguments={"a": 2}), False),
        (call(Target(TargetKind.HOST, "a.example", "a.example")), call(path("/p/a", "/p")), False),
        (call(path("/p/a"), dangerous=True), call(path("/p/a"), dangerous=True), True),
        (call(path("/p/a"), dangerous=True), call(path("/p/b"), dangerous=True), False),
        (call(path("/p/d"), dangerous=True), call(path("/p/d/below"), dangerous=True), False),
        (call(command("ls", "-l")), call(command("ls", "-a")), True),
        (call(command("ls")), call(command("cat", "x")), False),
    ],
)
def test_a_grant_covers_its_scope_and_nothing_else(granted: Invocation, later: Invocation, covered: bool) -> None:
    held = wanted_grants("main", granted)
    assert held
    assert (covering(held, "main", later) is not None) is covered


@pytest.mark.parametrize(
    "invocation",
    [
        call(path("/p/.git/config", "/p", "protected")),
        call(path("/p/.env", "/p/.env", "sensitive")),
        call(path("/p/a", "")),
        call(path("/q/a", "/p")),
        call(path("/p/a"), repaired=True),
        call(command("bash", "-c", "ls")),
        call(command("python3", "x.py")),
        call(command("toolcrib", "approvals", "list")),
        call(command("sudo", "ls")),
        call(command("env", "ls")),
        call(command("sh5", real="/bin/dash")),
        call(Target(TargetKind.COMMAND, "toolcrib approvals approve x", "exe=toolcrib cwd=/p")),
        call(Target(TargetKind.COMMAND, "/usr/bin/zsh -c ls", "exe=zsh cwd=/p")),
        call(Target(TargetKind.COMMAND, "un'balanced", "exe=un cwd=/p")),
    ],
    ids=lambda invocation: invocation.targets[0].value,
)
def test_some_things_are_asked_about_every_time(invocation: Invocation) -> None:
    assert wanted_grants("main", invocation) == ()
    assert scope_text(invocation) is None


@pytest.mark.parametrize(
    "changed",
    [{"agent_id": "sub@run_2"}, {"tool": "act.later"}, {"fingerprint": "0" * 64}, {"kind": "host"}, {"scope": "/q"}],
    ids=str,
)
def test_a_grant_is_bound_to_agent_tool_contract_kind_and_scope(changed: dict[str, str]) -> None:
    invocation = call(path("/p/a"))
    [grant] = wanted_grants("main", invocation)
    assert covering([grant], "main", invocation) == grant
    assert covering([replace(grant, **changed)], "main", invocation) is None  # type: ignore[arg-type]
    assert isinstance(grant, Grant)


def test_the_scope_in_words_is_the_scope_that_is_granted() -> None:
    assert scope_text(call(path("/p/a"), path("/q/b", "/q"))) == "path /p, path /q"
    assert scope_text(call(path("/p/a"), dangerous=True)) == "path /p/a"
    assert scope_text(call(arguments={"a": 1})) == "these exact arguments"
