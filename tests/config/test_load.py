"""What a configuration is made of, and where each part of it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib.config import Durability, Enforcement, Given, Home, InvalidConfig, Level, load
from toolcrib.policy.limits import Rate
from toolcrib.policy.rules import Layer, Rule
from toolcrib.policy.switches import Switch
from toolcrib.policy.verdict import Verdict
from toolcrib.values.schema import Profile
from toolcrib.values.spec import Effect


def test_without_files_every_key_has_its_default_and_no_source(desk):
    config = desk.load()
    assert (config.tools.default_timeout_ms, config.tools.max_timeout_ms) == (120_000, 600_000)
    assert config.tools.env_allowlist == ("PATH", "HOME", "TMPDIR", "LANG")
    assert config.tools.schema_profile is Profile.FULL
    assert config.tools.allowed_write_roots == ()
    assert not config.tools.allow_tmp_writes
    assert config.limits.loop.same_call == 3
    assert config.guard.enforcement is Enforcement.OBSERVE
    assert config.store.durability is Durability.NORMAL
    assert config.policy.rules == ()
    assert config.sources == ()
    assert all(row.value == row.default and row.source == "" for row in config.describe())


@pytest.mark.parametrize(
    ("given", "environ", "root"),
    [
        ("TMP/crib", {"TOOLCRIB_HOME": "TMP/elsewhere"}, "TMP/crib"),
        ("~/crib", {"HOME": "TMP"}, "TMP/crib"),
        (None, {"TOOLCRIB_HOME": "TMP/elsewhere", "HOME": "TMP/ada"}, "TMP/elsewhere"),
        (None, {"TOOLCRIB_HOME": "~/crib", "HOME": "TMP/ada"}, "TMP/ada/crib"),
        (None, {"TOOLCRIB_HOME": "", "HOME": "TMP/ada"}, "TMP/ada/.toolcrib"),
        (None, {"HOME": "TMP/ada"}, "TMP/ada/.toolcrib"),
    ],
)
def test_the_home_is_the_argument_else_the_variable_else_in_the_users_home(tmp_path, given, environ, root):
    here = {name: value.replace("TMP", str(tmp_path)) for name, value in environ.items()}
    home = Path(given.replace("TMP", str(tmp_path))) if given else None
    assert load(home, None, None, here).home == Home.at(Path(root.replace("TMP", str(tmp_path))))


def test_a_relative_home_in_the_environment_is_refused():
    with pytest.raises(InvalidConfig, match="environment variable TOOLCRIB_HOME: must be an absolute path"):
        load(None, None, None, {"TOOLCRIB_HOME": "crib", "HOME": "/home/ada"})


def test_the_home_knows_what_lies_where(desk):
    root = desk.home
    assert desk.load().home == Home(
        root=root,
        config=root / "config.toml",
        database=root / "toolcrib.db",
        artifacts=root / "artifacts",
        tools=root / "tools",
        agents=root / "agents",
        skills=root / "skills",
        memory=root / "memory",
        hooks=root / "hooks.json",
        mcp=root / "mcp.json",
        trust=root / "trust.json",
    )


@pytest.mark.parametrize(
    ("written", "database"),
    [("data/crib.db", "{home}/data/crib.db"), ("/srv/crib.db", "/srv/crib.db"), ("~/crib.db", "/home/ada/crib.db")],
)
def test_a_relative_database_is_below_the_home(desk, written, database):
    desk.user(f'[store]\npath = "{written}"')
    assert desk.load().home.database == Path(database.format(home=desk.home))


def test_a_tilde_in_a_path_is_the_users_home(desk):
    desk.user('[tools]\nallowed_write_roots = ["~/data", "/srv/out"]')
    assert desk.load().tools.allowed_write_roots == (Path("/home/ada/data"), Path("/srv/out"))


def test_the_project_narrows_the_user_and_overrides_come_last(desk):
    desk.user("[tools]\nmax_threads = 20\nresult_limit_chars = 20000\nmax_timeout_ms = 300000")
    desk.narrow("[tools]\nresult_limit_chars = 5000\nmax_timeout_ms = 200000")
    config = desk.load({"tools": {"max_timeout_ms": 900_000}})
    assert config.tools.max_threads == 20
    assert config.tools.result_limit_chars == 5_000
    assert config.tools.max_timeout_ms == 900_000
    user, project = desk.home / "config.toml", desk.project / "toolcrib.toml"
    assert config.sources == (
        Given("tools.max_threads", Level.USER, f"{user}:2"),
        Given("tools.result_limit_chars", Level.USER, f"{user}:3"),
        Given("tools.max_timeout_ms", Level.USER, f"{user}:4"),
        Given("tools.result_limit_chars", Level.PROJECT, f"{project}:2"),
        Given("tools.max_timeout_ms", Level.PROJECT, f"{project}:3"),
        Given("tools.max_timeout_ms", Level.OVERRIDE, "config argument"),
    )
    rows = {row.key: (row.value, row.source, row.default) for row in config.describe() if row.source}
    assert rows == {
        "tools.max_threads": (20, f"{user}:2", 32),
        "tools.result_limit_chars": (5_000, f"{project}:2", 10_000),
        "tools.max_timeout_ms": (900_000, "config argument", 600_000),
    }


@pytest.mark.parametrize(
    "overrides",
    [
        {"limits": {"max_depth": 2, "loop": {"warn": 1}}},
        {"limits.max_depth": 2, "limits.loop.warn": 1},
        {"limits.max_depth": 2, "limits": {"loop": {"warn": 1}}},
        {"limits.loop": {"warn": 1}, "limits": {"max_depth": 2}},
    ],
)
def test_overrides_are_nested_or_dotted_or_both(desk, overrides):
    limits = desk.load(overrides).limits
    assert (limits.max_depth, limits.loop.warn, limits.loop.same_call) == (2, 1, 3)


def test_every_layer_adds_rules_that_keep_their_layer_and_place(desk):
    desk.user(
        '[[policy.rules]]\ntool = "notes.*"\nverdict = "preApproved"\n\n[[policy.rules]]\ntags=["x"]\nverdict="ask"'
    )
    desk.narrow(
        '[policy]\nrules = [{effect = "write", verdict = "blocked", because = "no", deny_message = "read only"}]'
    )
    config = desk.load({"policy": {"rules": [{"tool": "mail.send", "verdict": "allow"}]}})
    user, project = desk.home / "config.toml", desk.project / "toolcrib.toml"
    assert config.policy.rules == (
        Rule(Verdict.ALLOW, "notes.*", layer=Layer.USER, place=f"{user}:1 policy.rules[0]"),
        Rule(Verdict.ASK, "**", frozenset({"x"}), layer=Layer.USER, place=f"{user}:5 policy.rules[1]"),
        Rule(
            Verdict.DENY,
            effect=Effect.WRITE,
            because="no",
            deny_message="read only",
            layer=Layer.PROJECT,
            place=f"{project}:2 policy.rules[0]",
        ),
        Rule(Verdict.ALLOW, "mail.send", layer=Layer.USER, place="config argument policy.rules[0]"),
    )
    described = next(row for row in config.describe() if row.key == "policy.rules")
    assert described.source == f"{user}:1, {project}:2, config argument"
    assert described.value[1:3] == [
        {"tool": "**", "tags": ["x"], "verdict": "ask"},
        {"tool": "**", "effect": "write", "verdict": "deny", "because": "no", "deny_message": "read only"},
    ]


def test_tables_with_names_of_the_users_choosing_are_typed(desk):
    desk.user(
        '[limits.rate]\n"web.*" = { max_calls = 5, per_seconds = 0.5 }\n'
        '[tools_config.main]\nchecklist = true\n"notes.read" = false\n'
        '[sub_apps.journal]\ntool_names = ["notes.read"]\n'
        '[network]\nallow_hosts = ["*.example.com", "localhost:8080", "[::1]:80"]'
    )
    config = desk.load({"limits": {"rate": {"mail.*": {"max_calls": 1, "per_seconds": 60}}}})
    assert config.limits.rate == {"web.*": Rate(5, 0.5), "mail.*": Rate(1, 60.0)}
    assert config.tools_config == {"main": {"checklist": Switch(True), "notes.read": Switch(False)}}
    assert config.sub_apps["journal"].tool_names == ("notes.read",)
    assert config.network.allow_hosts == ("*.example.com", "localhost:8080", "[::1]:80")


def test_lowering_a_ceiling_brings_down_what_it_bounds(desk):
    desk.user("[tools]\ndefault_timeout_ms = 90000")
    desk.narrow("[tools]\nmax_timeout_ms = 60000\n[limits.loop]\nsame_call = 1")
    config = desk.load()
    assert config.tools.default_timeout_ms == 60_000
    assert config.limits.loop.warn == 1
    sources = {row.key: row.source for row in config.describe()}
    assert sources["tools.default_timeout_ms"] == f"held to tools.max_timeout_ms ({desk.project / 'toolcrib.toml'}:2)"


def test_secrets_and_denied_hosts_add_up_over_all_layers(desk):
    desk.user('[redaction]\nvalues_from_env = ["A"]\n[network]\ndeny_hosts = ["a.example"]')
    desk.narrow('[redaction]\nvalues_from_env = ["B", "A"]\n[network]\ndeny_hosts = ["b.example"]')
    config = desk.load({"redaction.values_from_env": ["C"], "network.deny_hosts": ["c.example"]})
    assert config.redaction.values_from_env == ("A", "B", "C")
    assert config.network.deny_hosts == ("a.example", "b.example", "c.example")


def test_a_byte_order_mark_and_windows_line_ends_are_read(desk):
    (desk.home / "config.toml").write_bytes(b"\xef\xbb\xbf[tools]\r\n# note\r\nmax_threads = 4\r\n")
    config = desk.load()
    assert config.tools.max_threads == 4
    assert config.sources[0].place.endswith("config.toml:3")
