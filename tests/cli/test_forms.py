"""Output is what its reader needs: text for people, JSON for programs, bytes for files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcrib.cli.output import aligned, counted, json_text, size

Command = Callable[..., Any]
DUMP = ("tools", "call", "notes.dump", "lines=5000", "--module", "notes.py")
HEAVY = {"rich", "pydantic", "anyio", "re2", "numpy", "sqlite3", "markdown_it", "toolcrib.engine.run"}


def loaded_by(*arguments: str, environment: dict[str, str]) -> set[str]:
    program = "import sys; from toolcrib.cli.program import run; run(sys.argv[1:]); print('LOADED', *sys.modules)"
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60)
    return set(done.stdout.partition("LOADED ")[2].split())


@pytest.mark.parametrize(
    "command", [("tools", "list"), ("tools", "list", "--module", "notes.py"), ("config", "show"), ("--version",)]
)
def test_a_listing_loads_nothing_heavy(command: tuple[str, ...], environment: dict[str, str]) -> None:
    assert loaded_by(*command, environment=environment) & HEAVY == set()


def test_what_was_too_long_can_be_read_whole(toolcrib: Command, environment: dict[str, str]) -> None:
    done = toolcrib(*DUMP)
    whole = "\n".join(f"line {number}" for number in range(5000))
    assert (done.code, len(done.out) < 15_000) == (0, True)
    artifact = done.err.split()[-1]
    assert done.err == f"toolcrib: the whole result is kept; see toolcrib artifacts show {artifact}\n"
    assert toolcrib("artifacts", "show", artifact).out == whole
    assert toolcrib("artifacts", "show", artifact, "--offset", "7", "--limit", "6").out == "line 1"
    about = json.loads(toolcrib("artifacts", "show", artifact, "--json").out)
    assert (about["artifact_id"], about["size"], about["complete"]) == (artifact, len(whole), True)


def test_events_as_json_lines_are_one_document_per_line(toolcrib: Command) -> None:
    toolcrib("tools", "call", "notes.read", "title=x", "--module", "notes.py")
    lines = [json.loads(line) for line in toolcrib("events", "--json").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["prev_hash"] for line in lines[1:]] == [line["hash"] for line in lines[:-1]]


def test_arguments_can_come_from_standard_input(toolcrib: Command) -> None:
    call = ("tools", "call", "notes.read", "--args", "-", "--module", "notes.py")
    assert toolcrib(*call, typed='{"title": "piped"}').out == "piped\n"


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_the_shared_options_work_anywhere_on_the_line(toolcrib: Command, folder: Path, place: str) -> None:
    shared = ["--json", "--home", str(folder / "elsewhere")]
    line = {
        "before": [*shared, "config", "path"],
        "between": ["config", *shared, "path"],
        "after": ["config", "path", *shared],
    }
    assert json.loads(toolcrib(*line[place]).out)["home"] == str(folder / "elsewhere")


def test_a_projects_rule_narrows_what_is_listed(toolcrib: Command, folder: Path) -> None:
    (folder / "toolcrib.toml").write_text('[[policy.rules]]\ntool = "notes.read"\nverdict = "deny"\n')
    listed = toolcrib("tools", "list", "--module", "notes.py", "--project", ".").out
    assert ["notes.read", "read", "deny", "Return a note."] in [line.split(maxsplit=3) for line in listed.splitlines()]
    done = toolcrib("tools", "call", "notes.read", "title=x", "--module", "notes.py", "--project", ".")
    assert done.code == 3


def test_a_rule_of_the_user_lets_a_write_run_without_a_question(toolcrib: Command, folder: Path) -> None:
    toolcrib("init")
    config = folder.parent / "me" / ".toolcrib" / "config.toml"
    config.write_text('[[policy.rules]]\ntool = "notes.add"\nverdict = "allow"\n')
    done = toolcrib("tools", "call", "notes.add", "title=x", "--module", "notes.py")
    assert (done.code, done.out) == (0, "added x\n")


def test_the_quick_measurement_tells_every_way_beside_the_bare_call(toolcrib: Command) -> None:
    told = json.loads(toolcrib("bench", "--calls", "100", "--json").out)
    assert [each["what"] for each in told["measured"]] == ["raw", "governed", "recorded", "durable"]
    assert told["measured"][0]["times_raw"] == 1.0


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("toolcrib too", "plain,tools plain,toolkits"),
        ("toolcrib tools l", "plain,list"),
        ("toolcrib events --fo", "plain,--follow"),
    ],
)
def test_the_tab_key_completes_commands_and_options(words: str, offered: str, environment: dict[str, str]) -> None:
    asked = {"_TOOLCRIB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    command = [sys.executable, "-m", "toolcrib.cli"]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment, **asked}, timeout=60)
    assert done.stdout.splitlines() == offered.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_begins_with_how_to_use_it(toolcrib: Command, shell: str) -> None:
    script = toolcrib("completion", shell).out
    assert script.startswith("# To use it: ")
    assert "_TOOLCRIB_COMPLETE" in script
    assert json.loads(toolcrib("completion", shell, "--json").out)["shell"] == shell


def test_json_for_programs_is_also_safe_on_a_terminal() -> None:
    value = {"a\u202e": "\x1b[2J\x9b\u200b\U000e0041 Grüße 你好"}
    text = json_text(value, indent=None)
    assert text == '{"a\\u202e": "\\u001b[2J\\u009b\\u200b\\udb40\\udc41 Grüße 你好"}'
    assert json.loads(text) == value


def test_columns_are_aligned_by_what_is_seen() -> None:
    assert aligned([["a", "b"], ["你好", "c"], ["e\u0301", "d"]]) == ["a     b", "你好  c", "e\u0301     d"]


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB"), (5 << 40, "5.0 TiB")],
)
def test_sizes_are_told_in_the_unit_that_fits(bytes_: int, text: str) -> None:
    assert size(bytes_) == text


def test_counts_agree_with_their_nouns() -> None:
    assert [counted(number, "event") for number in (0, 1, 2)] == ["0 events", "1 event", "2 events"]


def test_the_script_and_the_module_are_the_same_program(environment: dict[str, str]) -> None:
    script = Path(sys.executable).with_name("toolcrib")
    commands = [[str(script), "--version"], [sys.executable, "-m", "toolcrib.cli", "--version"]]
    outputs = [subprocess.run(each, capture_output=True, env=environment, timeout=60).stdout for each in commands]
    assert outputs[0] == outputs[1] != b""
    assert os.access(script, os.X_OK)
