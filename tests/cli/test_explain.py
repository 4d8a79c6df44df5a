"""`policy explain` tells of the call inside an envelope, and of tools from outside the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]
GREET = {
    "name": "local.greet",
    "description": "Greet.",
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
    "command": "echo",
    "args": ["--", "{{args.who}}"],
    "output": "text",
}
WRITE = '{"path": "a.txt", "content": "x"}'


def test_an_envelope_is_explained_as_the_call_inside(toolcrib: Command) -> None:
    inside = json.dumps({"name": "code.write_file", "arguments": json.loads(WRITE)})
    enveloped = json.loads(toolcrib("policy", "explain", "tools.call", "--args", inside, "--json").out)
    assert enveloped == json.loads(toolcrib("policy", "explain", "code.write_file", "--args", WRITE, "--json").out)
    unknown = toolcrib("policy", "explain", "tools.call", "--args", '{"name": "code.write_fiel"}')
    assert "did you mean code.write_file" in unknown.err


def test_a_declared_command_is_explained_like_any_other_tool(toolcrib: Command, folder: Path) -> None:
    home = folder.parent / "me" / ".toolcrib"
    (home / "tools").mkdir(mode=0o700, parents=True)
    (home / "tools" / "greet.json").write_text(json.dumps(GREET))
    done = toolcrib("policy", "explain", "local.greet", "who=Ada")
    assert (done.code, done.out.split("\n")[0]) == (0, "ASK  local.greet")


def test_several_problems_of_arguments_stand_on_lines_of_their_own(toolcrib: Command) -> None:
    done = toolcrib("policy", "explain", "code.write_file", "--args", '{"pth": 1, "content": 3}')
    assert "\\n" not in done.out
    lines = done.out.split("\n")
    assert next(line for line in lines if line.startswith("- ")) == "- path: required field is missing"
    assert sum(line.strip().startswith("- ") for line in lines) == 6
