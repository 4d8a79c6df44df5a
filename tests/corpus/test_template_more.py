"""More ways that a value could get out of its word, or a definition out of its bounds: ours, beside the data."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Run, Toolcrib
from toolcrib.testing import ScriptedAsker

pytestmark = pytest.mark.anyio
SHOW: dict[str, Any] = {
    "name": "user.show",
    "description": "Print the words.",
    "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    "permission": "readonly",
    "command": "printf",
    "args": ["<%s>", "--", "{{args.q}}"],
    "output": "text",
}
SHELL: dict[str, Any] = {
    **SHOW,
    "permission": "write",
    "command_type": "shell",
    "command": "printf '<%s>' {{args.q}}",
    "args": [],
}
VALUES = [
    "{% for x in y %}",
    "$(touch marker)",
    "`touch marker`",
    "; touch marker",
    "&& touch marker",
    "| tee marker",
    "> marker",
    "<(touch marker)",
    "${IFS}touch${IFS}marker",
    "$'touch marker'",
    "\ntouch marker\n",
    "'; touch marker; '",
    '"; touch marker; "',
    "{{args.q}}",
    "{{args.other}}",
    "a b\tc",
    "*",
    "~",
    "$HOME",
    "!!",
    "\\",
    "é\u202e\u200b",
    "x" * 3_000,
]


@asynccontextmanager
async def running(definition: dict[str, Any], folder: Path) -> AsyncGenerator[Run]:
    """A run in which the definition is on the shelf; nothing may have come to be in its project at the end."""
    home, project = folder / "home", folder / "project"
    (home / "tools").mkdir(parents=True)
    project.mkdir()
    (home / "tools" / "show.json").write_text(json.dumps(definition))
    asker = ScriptedAsker.always("allow_once")
    async with Toolcrib.open(home=home, project=project, asker=asker) as crib, crib.run() as run:
        yield run
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("definition", [{**SHOW, "args": ["<%s>", "{{args.q}}"]}, SHELL], ids=["exec", "shell"])
async def test_a_value_is_one_word_and_reaches_the_program_as_it_is(definition: dict[str, Any], tmp_path: Path) -> None:
    async with running(definition, tmp_path) as run:
        for value in VALUES:
            result = await run.call("user.show", {"q": value})
            assert (result.ok, result.text.strip()) == (True, f"<{value}>"), value


async def test_a_value_that_could_be_an_option_is_refused_where_no_two_dashes_stand(tmp_path: Path) -> None:
    async with running({**SHOW, "args": ["{{args.q}}"]}, tmp_path) as run:
        for value in ("-v", "--version", "-", "-\u200bv", "--help=x"):
            result = await run.call("user.show", {"q": value})
            assert (result.reason, "-" in result.text) == ("validation_error", True), value


async def test_a_value_of_another_kind_or_with_a_zero_byte_never_runs(tmp_path: Path) -> None:
    values: list[Any] = [1, None, True, ["a"], {"a": 1}, "a\0b"]
    async with running(SHOW, tmp_path) as run:
        for value in values:
            assert (await run.call("user.show", {"q": value})).reason == "validation_error", value


@pytest.mark.parametrize(
    "change",
    [
        {"args": ["{{env.HOME}}"]},
        {"args": ["{{args.missing}}"]},
        {"args": ["{{args.q"]},
        {"args": ["{{ args.q | upper }}"]},
        {"args": ["{{args.q.__class__}}"]},
        {"command": "{{args.q}}"},
        {"command": "sh", "args": ["-c", "{{args.q}}"]},
        {"command": "python3", "args": ["-c", "{{args.q}}"]},
        {"command": "env", "args": ["sh", "-c", "{{args.q}}"]},
        {"command": "env", "args": ["A=1", "{{args.q}}"]},
        {"command": "timeout", "args": ["5", "nice", "bash", "-c", "{{args.q}}"]},
        {"command": "nohup", "args": ["python3", "-c", "{{args.q}}"]},
        {"command": "xargs", "args": ["-n", "1", "{{args.q}}"]},
        {"command_type": "shell", "permission": "write", "command": "env sh -c {{args.q}}", "args": []},
        {"command_type": "shell", "permission": "write", "command": "echo '{{args.q}}'", "args": []},
        {"command_type": "shell", "permission": "write", "command": 'echo "{{args.q}}"', "args": []},
        {"command_type": "shell", "permission": "write", "command": "echo a{{args.q}}b", "args": []},
        {"command_type": "shell", "permission": "write", "command": "eval {{args.q}}", "args": []},
        {"command_type": "shell", "permission": "write", "command": "{{args.q}} now", "args": []},
        {"command_type": "shell", "permission": "readonly", "command": "echo {{args.q}}", "args": []},
        {"command_type": "power"},
        {"unknown": 1},
        {"timeout_ms": 10**9},
        {"timeout_ms": -1},
        {"working_dir": "../.."},
        {"name": "code.read_file"},
        {"name": "mcp.x.y"},
        {"input_schema": {"type": "object", "properties": {"q": {"$ref": "file:///etc/passwd"}}}},
        {"env_allowlist": ["*"]},
    ],
    ids=str,
)
async def test_a_definition_that_is_out_of_bounds_gives_no_tool(change: dict[str, Any], tmp_path: Path) -> None:
    definition = {**SHOW, **change}
    async with running(definition, tmp_path) as run:
        result = await run.call(definition["name"], {"q": "x"})
    ours = change.get("name") == "code.read_file"  # the tool of that name is another's, and stays what it was
    assert result.reason in (("validation_error",) if ours else ("tool_not_available",)), result.text
