"""Editing one switch leaves everything else in the file as it was."""

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.config.editing import set_switch, with_switch
from toolcrib.config.rendering import toml, toml_key
from toolcrib.config.starter import starter_text
from toolcrib.values.refusal import ConfigError

CASES = [
    ("an empty file", "", "[tools_config.main]\nmemory = true\n"),
    ("no table yet", "a = 1  # one\n", "a = 1  # one\n\n[tools_config.main]\nmemory = true\n"),
    ("no newline at the end", "a = 1", "a = 1\n\n[tools_config.main]\nmemory = true\n"),
    (
        "a switch that is there",
        "[tools_config.main]\n# why\n  memory   =  false   # not yet\nother = true\n",
        "[tools_config.main]\n# why\n  memory   =  true   # not yet\nother = true\n",
    ),
    (
        "a table with other switches",
        '[tools_config.main]\n  "a.b" = false # no\n\n# next\n[store]\nlease_seconds = 9\n',
        '[tools_config.main]\n  "a.b" = false # no\n  memory = true\n\n# next\n[store]\nlease_seconds = 9\n',
    ),
    (
        "an empty table",
        "[tools_config.main] # mine\n\n[store]\n",
        "[tools_config.main] # mine\nmemory = true\n\n[store]\n",
    ),
    (
        "the table of another agent",
        "[tools_config.sub]\nx = true\n",
        "[tools_config.sub]\nx = true\n\n[tools_config.main]\nmemory = true\n",
    ),
    (
        "dotted keys",
        "tools_config.main.x = true\nb = 2\n",
        "tools_config.main.x = true\ntools_config.main.memory = true\nb = 2\n",
    ),
    ("half dotted", "[tools_config]\nmain.x = true\n", "[tools_config]\nmain.x = true\nmain.memory = true\n"),
    ("a dotted switch that is there", "tools_config.main.memory = false\n", "tools_config.main.memory = true\n"),
    (
        "an inline table",
        "[tools_config]\nmain = { x = true } # m\n",
        "[tools_config]\nmain = { x = true, memory = true } # m\n",
    ),
    ("an inline switch", "[tools_config]\nmain = {memory = false}\n", "[tools_config]\nmain = { memory = true }\n"),
    (
        "inline all the way",
        'tools_config = {sub = {"a}" = true}} # c }\n',
        'tools_config = { sub = { "a}" = true }, main = { memory = true } } # c }\n',
    ),
    ("a quoted agent", '["tools_config"."main"]\nmemory = false\n', '["tools_config"."main"]\nmemory = true\n'),
    (
        "a lookalike in a string",
        's = """\n[tools_config.main]\nmemory = false\n"""\n',
        's = """\n[tools_config.main]\nmemory = false\n"""\n\n[tools_config.main]\nmemory = true\n',
    ),
    ("a byte order mark", "\ufeff[tools_config.main]\nmemory = false\n", "\ufeff[tools_config.main]\nmemory = true\n"),
]


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_one_switch_changes_and_nothing_else(before, after):
    assert with_switch(before, "main", "memory", True) == after
    assert with_switch(after, "main", "memory", True) == after


def test_a_dotted_tool_name_is_quoted():
    assert with_switch("", "main", "notes.read", False) == '[tools_config.main]\n"notes.read" = false\n'


def test_a_file_that_cannot_be_edited_in_place_is_left_alone():
    with pytest.raises(ConfigError, match=r"tools_config\.main\.memory cannot be set in place"):
        with_switch("tools_config = 3\n", "main", "memory", True)


def test_the_starter_file_takes_a_switch():
    edited = with_switch(starter_text(), "main", "memory", True)
    assert edited.startswith(starter_text())
    assert tomllib.loads(edited)["tools_config"] == {"main": {"memory": True}}


NAMES = st.sampled_from(["memory", "notes.read", "main", "tools_config", 'quo"te'])
SWITCHES = st.dictionaries(NAMES, st.booleans(), max_size=3)
AGENTS = st.dictionaries(st.sampled_from(["main", "sub", "a.b"]), SWITCHES, max_size=2)


@given(AGENTS, st.sampled_from(["tables", "inline", "dotted"]), st.sampled_from(["main", "a.b"]), NAMES, st.booleans())
def test_whatever_the_spelling_only_that_switch_changes(agents, spelling, agent, name, value):
    if spelling == "tables":
        tables = (f"[tools_config.{toml_key(a)}] # {a}\n{lines('', held)}" for a, held in agents.items())
        text = "x = 1 # first\n" + "\n".join(tables)
    elif spelling == "inline":
        text = f"tools_config = {toml(agents)} # all\n[store]\n"
    else:
        text = "".join(lines(f"tools_config.{toml_key(a)}.", held) for a, held in agents.items()) + "x = 1 # last\n"
    expected = tomllib.loads(text)
    expected.setdefault("tools_config", {}).setdefault(agent, {})[name] = value
    assert tomllib.loads(with_switch(text, agent, name, value)) == expected


def lines(prefix: str, held: dict[str, bool]) -> str:
    return "".join(f"{prefix}{toml_key(name)} = {toml(on)}\n" for name, on in held.items())


def test_mode_line_ends_and_a_link_to_the_file_stay(tmp_path: Path):
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_bytes(b"[tools_config.main]\r\nmemory = false # off\r\n")
    real.chmod(0o640)
    link.symlink_to(real)
    assert set_switch(link, "main", "memory", True, lambda: None) == 2
    assert real.read_bytes() == b"[tools_config.main]\r\nmemory = true # off\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["config.toml", "real.toml"]


@pytest.mark.parametrize("before", [None, "[tools_config.main]\nmemory = false\n"])
def test_a_file_that_would_not_hold_is_put_back(tmp_path: Path, before: str | None):
    path = tmp_path / "home" / "config.toml"
    if before is not None:
        path.parent.mkdir()
        path.write_text(before)

    def refuse() -> None:
        assert "memory = true" in path.read_text()
        raise ConfigError("no repository")

    with pytest.raises(ConfigError, match="no repository"):
        set_switch(path, "main", "memory", True, refuse)
    assert (path.read_text() if path.exists() else None) == before
    assert {each.name for each in path.parent.iterdir()} <= {"config.toml"}


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path):
    path = tmp_path / "home" / "config.toml"
    set_switch(path, "main", "memory", True, lambda: None)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
