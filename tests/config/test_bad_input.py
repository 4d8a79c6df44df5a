"""What is refused, and exactly what is said. A configuration is in force as a whole or not at all."""

from __future__ import annotations

import os
import threading
from dataclasses import fields
from pathlib import Path

import pytest

from toolcrib.config import InvalidConfig, Tools, load

TOOLS = [field.name for field in fields(Tools)]
FILES = [
    (
        "[tools]\ndefault_timout_ms = 3",
        ["2: tools.default_timout_ms is not a known key; did you mean tools.default_timeout_ms?"],
    ),
    ("[tool]\nx = 1", ["1: tool is not a known key; did you mean tools?"]),
    ("max_depth = 3", ["1: max_depth is not a known key; did you mean limits.max_depth?"]),
    ("[tools]\n\nmax_depth = 3", ["3: tools.max_depth is not a known key; did you mean limits.max_depth?"]),
    ("[guard]\nzzz = 1", ["2: guard.zzz is not a known key; known here: enforcement, topology"]),
    ('[guard]\n"a\\u001b[2J" = 1', ['2: guard."a\\u001b[2J" is not a known key; known here: enforcement, topology']),
    ("tools = 3", ["1: tools must be a table, not an integer"]),
    ("[tools]\nmax_threads = true", ["2: tools.max_threads must be an integer from 1 to 1024, not a boolean"]),
    ("[tools]\nmax_threads = 1.0", ["2: tools.max_threads must be an integer from 1 to 1024, not a number"]),
    ("[tools]\nmax_threads = 0", ["2: tools.max_threads must be an integer from 1 to 1024, not 0"]),
    (
        f"[tools]\nmax_threads = {'9' * 40}",
        ["2: tools.max_threads must be an integer from 1 to 1024, not a number of that size"],
    ),
    (
        "[limits]\ncalls_per_run = -1",
        ["2: limits.calls_per_run must be an integer from 1 to 1000000000 or 0 (no limit), not -1"],
    ),
    ("[tools]\nmax_threads = 2024-01-01", ["2: tools.max_threads must be an integer from 1 to 1024, not a date"]),
    ("tools.allow_tmp_writes = 1", ["1: tools.allow_tmp_writes must be true or false, not an integer"]),
    (
        '[guard]\nenforcement = "Enforce"',
        ['2: guard.enforcement must be one of "off", "observe", "enforce", not \'Enforce\''],
    ),
    ("[guard]\nenforcement = []", ['2: guard.enforcement must be one of "off", "observe", "enforce", not an array']),
    ('[tools]\nenv_allowlist = "PATH"', ["2: tools.env_allowlist must be an array, not a string"]),
    (
        '[tools]\nenv_allowlist = ["PATH", "A=B", 3]',
        [
            "2: tools.env_allowlist[1] must be the name of an environment variable, not 'A=B'",
            "2: tools.env_allowlist[2] must be the name of an environment variable, not an integer",
        ],
    ),
    (
        '[tools]\nallowed_write_roots = ["data", "/a/../b", "~ada/x", ""]',
        [
            f"2: tools.allowed_write_roots[{i}] must be a path that begins with / or ~/, without '..', not {v!r}"
            for i, v in enumerate(["data", "/a/../b", "~ada/x", ""])
        ],
    ),
    (
        '[network]\nallow_hosts = ["https://example.com"]',
        [
            "2: network.allow_hosts[0] must be a host in lower case, such as 'api.example.com', '*.example.com' or "
            "'localhost:8080', not 'https://example.com'"
        ],
    ),
    (
        "[tools_config.main]\nnotes.read = false",
        [
            '2: tools_config.main.notes must be true or false (a dotted tool name needs quotes: "notes.read" = false), '
            "not an object"
        ],
    ),
    (
        '[limits.rate."web.*"]\nmax_calls = 5',
        ['1: limits.rate."web.*".per_seconds is missing: it must be a number from 0.001 to 31536000'],
    ),
    (
        '[limits.rate."web.*"]\nmax_calls = 5\nper_seconds = nan',
        ['3: limits.rate."web.*".per_seconds must be a number from 0.001 to 31536000, not a number of that size'],
    ),
    (
        '[limits.rate."web tools"]\nmax_calls = 5\nper_seconds = 1',
        [
            "1: limits.rate.\"web tools\" must be a tool name pattern such as 'notes.read', 'notes.*' or '**', "
            "not 'web tools'"
        ],
    ),
    (
        '[[policy.rules]]\nverdict = "deny"\n\n[[policy.rules]]\ntool = "x"\nverdct = "deny"',
        [
            '1: policy.rules[0] names no tool, tags or effect; write tool = "**" for a rule about every tool',
            "6: policy.rules[1].verdct is not a known key; did you mean verdict?",
            '4: policy.rules[1].verdict is missing: it must be one of "allow", "notify", "ask", '
            '"deny" (or "preApproved", "ask", "blocked")',
        ],
    ),
    (
        '[[policy.rules]]\ntool = "rm -rf"\nverdict = "alow"\nbecause = "a\\u001bb"',
        [
            "2: policy.rules[0].tool must be a tool name pattern such as 'notes.read', 'notes.*' or '**', not 'rm -rf'",
            '3: policy.rules[0].verdict must be one of "allow", "notify", "ask", "deny" (or "preApproved", '
            '"ask", "blocked"), not \'alow\'',
            "4: policy.rules[0].because must be text without control characters, not 'a\\x1bb'",
        ],
    ),
    ("[tools]\nmax_threads = \n", ["2:15: not TOML: Invalid value"]),
    ("[tools]\nmax_threads = 1\nmax_threads = 2", ["3:16: not TOML: Cannot overwrite a value"]),
    ("[tools", ["1:7: not TOML: Expected ']' at the end of a table declaration"]),
]


@pytest.mark.parametrize(("text", "told"), FILES)
def test_a_file_is_refused_with_file_line_key_and_what_was_expected(desk, text, told):
    desk.user(text)
    assert desk.problems() == [f"HOME/config.toml:{line}" for line in told]


ARGUMENTS = [
    ({"tools.max_thread": 3}, ["tools.max_thread is not a known key; did you mean tools.max_threads?"]),
    ({"tools": 3}, ["tools must be a table, not an integer"]),
    ({"tools": {"max_threads": 3}, "tools.max_threads": 3}, ["tools.max_threads is given twice"]),
    ({"tools.max_threads": None}, ["tools.max_threads must be an integer from 1 to 1024, not null"]),
    ({"tools.max_threads.x": 3}, ["tools.max_threads must be an integer from 1 to 1024, not an object"]),
    ({"tools": {3: 4}}, ["tools.3 is not a known key; known here: " + ", ".join(TOOLS)]),
    (
        {"store.path": "../x.db"},
        ["store.path must be a path that begins with / or ~/, or is relative to the home, without '..', not '../x.db'"],
    ),
    (
        {"limits.rate": {"x": {"max_calls": 1, "per_secs": 2}}},
        [
            "limits.rate.x.per_secs is not a known key; did you mean per_seconds?",
            "limits.rate.x.per_seconds is missing: it must be a number from 0.001 to 31536000",
        ],
    ),
]


@pytest.mark.parametrize(("overrides", "told"), ARGUMENTS)
def test_an_override_is_refused_like_a_file(desk, overrides, told):
    assert desk.problems(overrides) == [f"config argument: {line}" for line in told]


def test_the_problems_of_all_layers_are_told_at_once(desk):
    desk.user("[tools]\nmax_threads = 0")
    desk.narrow("[tools]\nmax_thread = 1")
    assert desk.problems({"guard.enforcement": "no"}) == [
        "HOME/config.toml:2: tools.max_threads must be an integer from 1 to 1024, not 0",
        "PROJECT/toolcrib.toml:2: tools.max_thread is not a known key; did you mean tools.max_threads?",
        'config argument: guard.enforcement must be one of "off", "observe", "enforce", not \'no\'',
    ]


def test_a_flood_of_problems_is_cut_short(desk):
    desk.user("".join(f"key{number} = 1\n" for number in range(30_000)))
    told = desk.problems()
    assert len(told) == 21
    assert told[-1] == "… and 29980 more"


def broken_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def named_pipe(path: Path) -> None:
    os.mkfifo(path)


def holding(body: bytes):
    return lambda path: path.write_bytes(body)


@pytest.mark.parametrize("name", ["config.toml", "toolcrib.toml"])
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (Path.mkdir, ": is not a regular file"),
        (named_pipe, ": is not a regular file"),
        (broken_link, ": is a link that leads nowhere"),
        (link_to_itself, ": cannot be read: Too many levels of symbolic links"),
        (holding(b""), ": is empty: remove it to have the defaults, or write at least a comment into it"),
        (holding(b" \n\n"), ": is empty: remove it to have the defaults, or write at least a comment into it"),
        (holding(b"# " + b"x" * 1024 * 1024), ": is larger than 1024 KiB"),
        (holding(b"[tools]\n# \xff"), ": is not UTF-8 (byte 10)"),
        (holding(b"a = " + b"[" * 100_000), ": is nested too deeply"),
        (holding(b"\n" + b"a." * 500_000 + b"a = 1"), ":2: has a key of more than 16 parts"),
        (holding(b"[" + b"a." * 500_000 + b"a]"), ":1: has a key of more than 16 parts"),
        (
            holding(b"a = " + b"1" * 5_000),
            ": not TOML: Exceeds the limit (4300 digits) for integer string conversion: "
            "value has 5000 digits; use sys.set_int_max_str_digits() to increase the limit",
        ),
    ],
)
def test_a_file_that_cannot_be_read_whole_never_counts_as_missing(desk, name, make, told):
    folder = desk.home if name == "config.toml" else desk.project
    make(folder / name)
    shown = "HOME" if folder == desk.home else "PROJECT"
    assert desk.problems() == [f"{shown}/{name}{told}"]


def test_a_home_that_is_a_file_is_refused(tmp_path):
    home = tmp_path / "home"
    home.write_text("")
    with pytest.raises(InvalidConfig, match=r"home/config\.toml: cannot be read: Not a directory"):
        load(home, None, None, {})


def test_a_project_that_is_not_a_folder_is_refused(desk):
    with pytest.raises(InvalidConfig, match="nowhere: is not a folder, so it cannot be the project"):
        load(desk.home, desk.home / "nowhere", None, {})


def test_a_file_that_changes_while_it_is_read_gives_one_of_its_states_or_an_error(desk):
    path = desk.home / "config.toml"
    states = {count: f"[tools]\nmax_threads = {count}\n" + "# filler\n" * 200 for count in (3, 4)}
    desk.user(states[3])
    done = threading.Event()

    def rewrite() -> None:
        while not done.is_set():
            for text in states.values():
                path.write_text(text)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = {_threads(desk) for _ in range(100)}
    finally:
        done.set()
        writer.join()
    assert seen <= {3, 4, None}


def _threads(desk) -> int | None:
    try:
        return desk.load().tools.max_threads
    except InvalidConfig:
        return None
