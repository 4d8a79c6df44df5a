"""Commands as tools from the command line: written from an example, checked, called, and never silently wrong."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from .conftest import Toolcrib

HOME = ("--home", "home")


def test_an_example_becomes_a_tool_that_can_be_called(toolcrib: Toolcrib, folder: Path) -> None:
    done = toolcrib("tools", "add-command", "text.count", "--read", *HOME, "--", "wc", "-w", "--", "{{args.file}}")
    assert (done.code, done.err) == (0, "")
    assert "Try it with: toolcrib tools call text.count file=…" in done.out
    (folder / "a.txt").write_text("one two three\n")
    called = toolcrib("tools", "call", "text.count", "file=a.txt", *HOME, "--project", str(folder), "--json")
    assert json.loads(called.out)["content"][0]["text"] == "3 a.txt\n"


def test_what_is_written_is_a_strict_definition_with_the_types_that_were_said(toolcrib: Toolcrib) -> None:
    done = toolcrib(
        "tools", "add-command", "text.top", "--arg", "n:integer:How many lines", "--description", "The top.", "--json",
        *HOME, "--", "head", "--lines={{args.n}}", "{{args.file}}",
    )  # fmt: skip
    told = json.loads(done.out)
    assert told["definition"] == {
        "name": "text.top",
        "description": "The top.",
        "input_schema": {
            "type": "object",
            "properties": {"n": {"type": "integer", "description": "How many lines"}, "file": {"type": "string"}},
            "required": ["n", "file"],
            "additionalProperties": False,
        },
        "permission": "write",
        "command_type": "exec",
        "command": "head",
        "output": "text",
        "args": ["--lines={{args.n}}", "{{args.file}}"],
    }
    assert json.loads(Path(told["file"]).read_text()) == told["definition"]
    assert "values of file that begin with - will be refused" in done.err


def test_nothing_is_written_that_would_not_work(toolcrib: Toolcrib, folder: Path) -> None:
    for words, said in [
        (["a.b", "--", "sh", "-c", "{{args.x}}"], "would be run by sh"),
        (["a.b", "--arg", "y:integer", "--", "ls"], "the command has no {{args.y}}"),
        (["a.b", "--arg", "y:date", "--", "ls", "{{args.y}}"], "is not NAME:TYPE"),
        (["a.b", "--shell", "cat '{{args.x}}'"], "a word of its own"),
        (["a.b", "--shell", "ls", "--read"], "a shell line must be marked"),
        (["a.b"], "give either a COMMAND after --, or a line with --shell"),
    ]:
        done = toolcrib("tools", "add-command", *HOME, *words)
        assert done.code != 0
        assert said in done.err
    assert not (folder / "home" / "tools").exists() or list((folder / "home" / "tools").iterdir()) == []


def test_what_only_a_shell_would_read_is_told_with_the_line_that_may_have_been_meant(toolcrib: Toolcrib) -> None:
    for words, gets, line in [
        (["cat", "--", "{{args.f}}", "|", "wc", "-l"], "cat gets | as it is", "cat -- {{args.f}} | wc -l"),
        (["echo", "a b", ">", "out.txt"], "echo gets > as it is", "echo 'a b' > out.txt"),
        (["make", "x", "&&", "make", "y"], "make gets && as it is", "make x && make y"),
        (["ls", "$HOME"], "ls gets $HOME as it is", "ls $HOME"),
        (["ls", "~/x"], "ls gets ~/x as it is", "ls ~/x"),
    ]:
        done = toolcrib("tools", "add-command", "a.b", "--replace", *HOME, "--", *words)
        assert (done.code, gets in done.err) == (0, True), done.err
        assert f"--replace --shell {shlex.quote(line)}" in done.err
    silent = toolcrib("tools", "add-command", "a.b", "--replace", *HOME, "--", "grep", "-F", "--", "a|b>c;d $")
    assert silent.err == ""


def test_a_definition_that_is_there_stays_unless_it_is_to_be_replaced(toolcrib: Toolcrib) -> None:
    assert toolcrib("tools", "add-command", "a.b", *HOME, "--", "ls").code == 0
    again = toolcrib("tools", "add-command", "a.b", *HOME, "--", "ls", "-l")
    assert (again.code, "is there already" in again.err) == (1, True)
    assert toolcrib("tools", "add-command", "a.b", "--replace", *HOME, "--", "ls", "-l").code == 0


def test_a_broken_file_is_told_by_list_validate_and_doctor(toolcrib: Toolcrib, folder: Path) -> None:
    toolcrib("tools", "add-command", "a.b", "--read", *HOME, "--", "ls")
    (folder / "home" / "tools" / "x.json").write_text('{"nam": "x"}')
    said = "x.json: 'nam' is not a known field; did you mean name?"
    listed = toolcrib("tools", "list", *HOME)
    assert ("a.b " in listed.out, said in listed.err) == (True, True)
    checked = toolcrib("tools", "validate", *HOME)
    assert (checked.code, "a.b" in checked.out, said in checked.err) == (1, True, True)
    assert said in toolcrib("doctor", *HOME, "--json").out


def test_a_module_of_an_agent_is_listed_shown_and_called_for_that_agent(toolcrib: Toolcrib, folder: Path) -> None:
    agents = folder / "home" / "agents"
    agents.mkdir(parents=True)
    (agents / "maths.yaml").write_text(
        "toolsets:\n  custom: {module: ./maths.py, tools: [double], approval: preApproved}\n"
    )
    (agents / "maths.py").write_text('def double(n: int) -> int:\n    """Twice as much."""\n    return 2 * n\n')
    listed = json.loads(toolcrib("tools", "list", "--agent", "maths", "--json", *HOME).out)
    assert [(entry["name"], entry["verdict"]) for entry in listed] == [("custom.double", "allow")]
    assert "Twice as much." in toolcrib("tools", "show", "custom.double", "--agent", "maths", *HOME).out
    assert toolcrib("tools", "call", "custom.double", "n=4", "--agent", "maths", *HOME).out == "8\n"
    assert toolcrib("tools", "call", "custom.double", "n=4", *HOME).code == 1
    (agents / "maths.yaml").write_text("toolsets:\n  custom: {module: ./maths.py, tools: [triple]}\n")
    failed = toolcrib("tools", "list", "--agent", "maths", *HOME)
    assert (failed.code != 0, "has no 'triple'; it has double" in failed.err) == (True, True)
