"""Files of rules: which count, in which layer, and what a broken one does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.config import load
from toolcrib.config.policies import Managed, Policies, read_policies, state_of
from toolcrib.policy.rules import Layer, Policy
from toolcrib.policy.verdict import Verdict
from toolcrib.values.spec import Effect, ToolSpec

READ = ToolSpec(name="notes.read", description="d", input_schema={}, effect=Effect.READ)
ASKS = '[[rules]]\ntool = "notes.{}"\nverdict = "ask"\n'


@pytest.fixture
def managed(tmp_path: Path) -> Managed:
    folder = tmp_path / "etc" / "policy.d"
    folder.mkdir(parents=True)
    return Managed(folder, os.getuid())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".toolcrib").mkdir(parents=True)
    return tmp_path / "home"


def read(home: Path, managed: Managed) -> Policies:
    return read_policies(load(home, home.parent / "project", None, {}), {}, managed)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_rules_are_read_from_every_place_and_keep_layer_and_line(home: Path, managed: Managed) -> None:
    project = home.parent / "project"
    places = [
        (Layer.MANAGED, write(managed.folder / "10.toml", ASKS.format("a"))),
        (Layer.MANAGED, write(managed.folder / "20.toml", ASKS.format("b"))),
        (Layer.USER, write(home / "policy.toml", ASKS.format("c"))),
        (Layer.USER, write(home / "policy.d" / "x.toml", ASKS.format("d"))),
        (Layer.PROJECT, write(project / ".toolcrib" / "policy.toml", ASKS.format("e"))),
    ]
    write(managed.folder / "notes.txt", "not a rule")
    write(home / "config.toml", ASKS.format("f").replace("rules", "policy.rules"))
    found = read(home, managed)
    assert [(rule.layer, rule.place) for rule in found.rules] == [
        *((layer, f"{path}:1") for layer, path in places),
        (Layer.USER, f"{home}/config.toml:1 policy.rules[0]"),
    ]
    assert [rule.tool for rule in found.rules] == [f"notes.{letter}" for letter in "abcdef"]


def test_every_key_of_a_rule_can_be_written(home: Path, managed: Managed) -> None:
    write(
        home / "policy.toml",
        """
        [[rules]]
        tool = ["mail.send", "mail.draft"]
        tags = ["network"]
        effect = "write"
        category = "Network"
        tool_type = ["mcp", "custom"]
        source = "mcp:*"
        server = "post"
        agent = "writer"
        role = ["main", "sub"]
        mode = "default"
        run_marks = "read_untrusted"
        host = "*.example.com:25"
        arguments.to.length = { less = 3 }
        arguments."options.urgent" = false
        verdict = "deny"
        because = "spam"
        deny_message = "Write to fewer people."
        match = [{ host = "a.example.com:25", arguments = { to = ["a"], options = { urgent = false } } }]
        not_match = ["mail.read"]
        """,
    )
    found = read(home, managed)
    assert found.problems == ()
    rule = found.rules[0]
    assert rule.names == ("mail.send", "mail.draft")
    assert [str(each) for each in rule.arguments] == [
        'to length {"less":3}', "options.urgent equals false",
    ]  # fmt: skip


BROKEN = [
    ('[[rules]]\ntool = "x"\nverdict = \n', ":3:11", "not TOML"),
    ('[[rules]]\ntool = "x"\n  verdict = "maybe"\n', ":3:3", 'must be one of "allow", "notify", "ask", "deny"'),
    ('[[rules]]\ntool = "x"\nverdct = "ask"\nverdict = "ask"', ":3:1", "did you mean verdict?"),
    ('[[rule]]\ntool = "x"', ":1:1", "did you mean rules?"),
    ('[[rules]]\nverdict = "allow"', ":1:1", 'write tool = "**"'),
    (
        '[[rules]]\ntool = "x"\npath = "docs/**"\nverdict = "allow"\nmatch = [{ path = "src/a" }]',
        ":1:1",
        "does not cover its own example",
    ),
    ("", "", "is empty"),
]


@pytest.mark.parametrize(("text", "position", "told"), BROKEN)
@pytest.mark.parametrize("where", ["etc/policy.d/x.toml", "home/policy.toml", "project/.toolcrib/policy.toml"])
def test_a_broken_file_denies_everything_and_says_where_it_is_broken(
    home: Path, managed: Managed, where: str, text: str, position: str, told: str
) -> None:
    path = write(home.parent / where, text)
    found = read(home, managed)
    decision = Policy(found.rules).decide(READ)
    assert decision.verdict is Verdict.DENY
    assert decision.rule == f"{path}{position}"
    assert told in decision.because
    assert "is broken" in decision.because


def test_a_file_that_cannot_be_read_denies_as_well(home: Path, managed: Managed) -> None:
    os.mkfifo(home / "policy.toml")
    assert Policy(read(home, managed).rules).decide(READ).verdict is Verdict.DENY
    (home / "policy.toml").unlink()
    (home / "policy.toml").symlink_to(home / "nowhere.toml")
    assert Policy(read(home, managed).rules).decide(READ).verdict is Verdict.DENY


def test_managed_rules_must_belong_to_their_owner_and_to_nobody_else(home: Path, managed: Managed) -> None:
    path = write(managed.folder / "x.toml", ASKS.format("a"))
    assert read(home, managed).problems == ()
    for place in (path, managed.folder, managed.folder.parent):
        before = place.stat().st_mode
        place.chmod(before | 0o020)
        problem = read(home, managed).problems[0]
        assert (problem.place, "chmod go-w" in problem.message) == (str(place), True)
        place.chmod(before)
    stranger = Managed(managed.folder, os.getuid() + 1)
    assert "must belong to" in read(home, stranger).problems[0].message
    assert Policy(read(home, stranger).rules).decide(READ).verdict is Verdict.DENY


def test_a_project_may_ask_and_deny_and_its_allow_never_counts(home: Path, managed: Managed) -> None:
    allows = '[[rules]]\ntool = "**"\nverdict = "allow"\n[[rules]]\ntool = "notes.read"\nverdict = "ask"\n'
    write(home.parent / "project" / ".toolcrib" / "policy.toml", allows)
    found = read(home, managed)
    assert found.problems == ()
    act = ToolSpec(name="notes.add", description="d", input_schema={})
    assert Policy(found.rules).decide(act).layer == "shipped"
    assert Policy(found.rules).decide(READ).layer == "project"


def test_the_state_of_the_files_tells_when_to_read_them_again(home: Path, managed: Managed) -> None:
    config = load(home, None, None, {})
    before = state_of(config, managed)
    path = write(home / "policy.toml", ASKS.format("a"))
    written = state_of(config, managed)
    assert written != before
    path.unlink()
    assert state_of(config, managed) == before
