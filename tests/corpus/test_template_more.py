"""More ways that a value could get out of its word, or a definition out of its bounds: ours, beside the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib
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
    "x" * 10_000,
]


async def called(definition: dict[str, Any], arguments: dict[str, Any], folder: Path) -> Any:
    home, project = folder / "home", folder / "project"
    (home / "tools").mkdir(parents=True)
    project.mkdir()
    (home / "tools" / "show.json").write_text(json.dumps(definition))
    asker = ScriptedAsker.always("allow_once")
    async with Toolcrib.open(home=home, project=project, asker=asker) as crib, crib.run() as run:
        result = await run.call(definition["name"], arguments)
    assert list(project.iterdir()) == []
    return result


@pytest.mark.parametrize("definition", [SHOW, SHELL], ids=["exec", "shell"])
@pytest.mark.parametrize("value", VALUES)
async def test_a_value_is_one_word_and_reaches_the_program_as_it_is(
    definition: dict[str, Any], value: str, tmp_path: Path
) -> None:
    given = {**definition, "args": ["<%s>", "{{args.q}}"] if definition is SHOW else []}
    result = await called(given, {"q": value}, tmp_path)
    assert result.ok, result.text
    assert "".join(result.text.split()) in "".join(f"<{value}>".split()) or len(value) > 1_000


@pytest.mark.parametrize("value", ["-v", "--version", "-", "-\u200bv", "--help=x"])
async def test_a_value_that_could_be_an_option_is_refused_where_no_two_dashes_stand(value: str, tmp_path: Path) -> None:
    result = await called({**SHOW, "args": ["{{args.q}}"]}, {"q": value}, tmp_path)
    assert (result.reason, "-" in result.text) == ("validation_error", True)


@pytest.mark.parametrize("value", [1, None, True, ["a"], {"a": 1}, "a\0b"])
async def test_a_value_of_another_kind_or_with_a_zero_byte_never_runs(value: Any, tmp_path: Path) -> None:
    assert (await called(SHOW, {"q": value}, tmp_path)).reason == "validation_error"


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
    result = await called({**SHOW, **change}, {"q": "x"}, tmp_path)
    ours = change.get("name") == "code.read_file"  # the tool of that name is another's, and stays what it was
    assert result.reason in (("validation_error",) if ours else ("tool_not_available",)), result.text
