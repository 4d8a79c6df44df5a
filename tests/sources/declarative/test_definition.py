"""Definitions of commands: strict fields, and placeholders only where a value can be nothing but one word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcrib.sources.declarative import Bounds, read_definition
from toolcrib.values.refusal import ToolcribError

SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "n": {"type": "integer"}, "many": {"type": "array"}},
    "required": ["q"],
}
PLAIN: dict[str, Any] = {"name": "user.find", "description": "Find.", "command": "grep", "input_schema": SCHEMA}


def problem(**changes: Any) -> str:
    with pytest.raises(ToolcribError) as caught:
        read_definition(json.dumps({**PLAIN, **changes}), "/home/tools/find.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"comand": "x"}, "'comand' is not a known field; did you mean command?"),
        ({"zzz": 1}, "'zzz' is not a known field; known are name, "),
        ({"name": "no good"}, "is not a tool name"),
        ({"name": "mcp.x.y"}, "begins with 'mcp.', which belongs to other sources"),
        ({"description": ""}, "description must be text"),
        ({"permission": "read"}, 'permission must be "readonly" or "write"'),
        ({"command_type": "bash"}, "command_type must be exec or shell"),
        ({"command": "{{args.q}}"}, "the program itself cannot be a placeholder"),
        ({"command": "./run.sh"}, "must be a name on the search path, or a whole path"),
        ({"command": "grep -n"}, "must be one program; its words go to args"),
        ({"command": "toolcrib"}, "an agent must not decide for you"),
        ({"args": ["{{q}}"]}, "only {{args.name}} can stand between double braces"),
        ({"args": ["{{args.q.__class__}}"]}, "only {{args.name}}"),
        ({"args": ["{{args.q|safe}}"]}, "only {{args.name}}"),
        ({"args": ["{{ args.q }}"]}, "only {{args.name}}"),
        ({"args": ["{{env.HOME}}"]}, "only {{args.name}}"),
        ({"args": ["{{args.{{args.q}}}}"]}, "only {{args.name}}"),
        ({"args": ["{{args.qq}}"]}, "{{args.qq}} is no property of input_schema; did you mean q?"),
        ({"args": ["{{args.many}}"]}, "is array, which is not one word"),
        ({"args": ["--{{args.q}}"]}, "q would choose the option"),
        ({"args": ["-{{args.n}}"]}, "n would choose the option"),
        ({"command": "sh", "args": ["-c", "{{args.q}}"]}, "would be run by sh"),
        ({"command": "/bin/bash", "args": ["{{args.q}}"]}, "would be run by bash"),
        ({"command": "python3", "args": ["-c", "{{args.q}}"]}, "would be run by python"),
        ({"command": "python3", "args": ["-c{{args.q}}"]}, "would be run by python"),
        ({"args": "x"}, "args must be a list of at most"),
        ({"working_dir": "{{args.q}}"}, "working_dir must be a whole path"),
        ({"working_dir": "../elsewhere"}, "working_dir must be a whole path"),
        ({"working_dir": "/nowhere/at/all"}, "is not a folder"),
        ({"env_allowlist": ["A=B"]}, "is not the name of an environment variable"),
        ({"timeout_ms": 10**9}, "timeout_ms is 1000000000, and tools.max_timeout_ms allows at most 600000"),
        ({"timeout_ms": 0}, "timeout_ms must be a whole number from 1"),
        ({"stdout_limit_bytes": 2**40}, "tools.stdout_limit_bytes allows at most"),
        ({"tags": ["internal"]}, "'internal' is not for commands"),
        ({"input_schema": {"type": "array"}}, "type object"),
        ({"output": "yaml"}, "output must be result or text"),
        ({"command_type": "shell", "permission": "readonly", "command": "ls"}, "a shell line must be marked"),
    ],
)
def test_what_is_wrong_with_a_definition_is_said_with_its_file(changes: dict[str, Any], said: str) -> None:
    told = problem(**changes)
    assert told.startswith("/home/tools/find.json: ")
    assert said in told


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{{args.q}} x", "must not choose the program"),
        ("ls | {{args.q}}", "must not choose the program"),
        ("grep '{{args.q}}'", "a word of its own"),
        ('grep "{{args.q}}"', "a word of its own"),
        ("grep x{{args.q}}", "a word of its own"),
        ("grep --q={{args.q}}", "a word of its own"),
        ("grep \\{{args.q}}", "a word of its own"),
        ('grep "a {{args.q}} b"', "a word of its own"),
        ("grep 'a {{args.q}} b'", "a word of its own"),
        ("echo $(grep {{args.q}} a)", "must be plain commands"),
        ("echo `grep {{args.q}} a`", "must be plain commands"),
        ("echo $(( {{args.n}} ))", "must be plain commands"),
        ("cat <<END\n{{args.q}}\nEND", "must be plain commands"),
        ("grep x > {{args.q}}", "must be plain commands"),
        ("eval {{args.q}}", "the shell's own command eval"),
        ("export {{args.q}}", "the shell's own command export"),
        ("unset {{args.q}}", "the shell's own command unset"),
        (". {{args.q}}", "the shell's own command ."),
        ("sh -c {{args.q}}", "would be run by sh"),
        ("true && bash {{args.q}}", "would be run by bash"),
        ("python3 -c {{args.q}}", "would be run by python"),
        ("grep {{args.q}", "only {{args.name}}"),
        ("grep toolcrib-value-0 {{args.q}}", "must not hold"),
        ("grep {{args.zzz}}", "is no property"),
    ],
)
def test_in_a_shell_line_a_placeholder_is_a_whole_word_of_a_plain_command(line: str, said: str) -> None:
    assert said in problem(command_type="shell", command=line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON: Expecting value at line 1 column 1"),
        ("[]", "must hold one JSON object"),
        ('{"name": "a", "name": "b"}', "the key 'name' stands there twice"),
        ('{"name": NaN}', "is not JSON as it must be"),
        ("\ud800".encode("utf-8", "surrogatepass"), "is not JSON as it must be"),
        ("[" * 100_000, "is not JSON as it must be"),
        (" " * (1 << 20), "is larger than"),
    ],
)
def test_a_file_that_is_not_one_strict_json_object_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(ToolcribError, match=r"x\.json") as caught:
        read_definition(text, "x.json")
    assert said in str(caught.value)


def test_what_a_definition_leaves_out_has_the_strict_default() -> None:
    made = read_definition(json.dumps(PLAIN), "x.json", Bounds(default_timeout_ms=9, max_timeout_ms=5))
    assert (made.effect, made.tags, made.timeout_ms, made.working_dir, made.env_allowlist) == (
        "write",
        {"declarative", "dangerous"},
        5,
        None,
        (),
    )
