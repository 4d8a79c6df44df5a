"""A project may make everything stricter and nothing looser."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from toolcrib.config import Config, InvalidConfig, load
from toolcrib.config.rendering import toml
from toolcrib.policy.commands import Command, CommandRules, CommandTarget, Whence, command_target, decide_commands
from toolcrib.policy.rules import Policy
from toolcrib.policy.switches import Switch
from toolcrib.policy.verdict import Verdict
from toolcrib.values.spec import Effect, ToolSpec

ONLY = "only the user's HOME/config.toml may widen it"
WIDENING = [
    (
        "[tools]\nmax_timeout_ms = 700000",
        "2: tools.max_timeout_ms may only be lowered by a project: 700000 is more than 600000",
    ),
    (
        "[tools]\nallow_tmp_writes = true",
        "2: tools.allow_tmp_writes may only be made stricter by a project: true is looser than false",
    ),
    (
        '[guard]\nenforcement = "off"',
        '2: guard.enforcement may only be made stricter by a project: "off" is looser than "observe"',
    ),
    (
        '[tools]\nenv_allowlist = ["PATH", "TOKEN"]',
        "2: tools.env_allowlist[1] is not in the operator's list, and a project may only leave entries out",
    ),
    (
        '[tools]\nallowed_write_roots = ["/srv/out/below"]',
        "2: tools.allowed_write_roots[0] is not in the operator's list, and a project may only leave entries out",
    ),
    (
        '[network]\nallow_hosts = ["example.com"]',
        "2: network.allow_hosts[0] is not in the operator's list, and a project may only leave entries out",
    ),
    ('[store]\npath = "mine.db"', "2: store.path cannot be set by a project"),
    ("[store]\nretention_days = 1", "2: store.retention_days cannot be set by a project"),
    (
        '[[policy.rules]]\ntool = "x"\nverdict = "ask"\n[[policy.rules]]\ntool = "x"\nverdict = "preApproved"',
        "4: policy.rules[1] says allow, and a project's rule may only say ask or deny",
    ),
    (
        '[[policy.commands]]\npattern = "git push"\nverdict = "allow"',
        "1: policy.commands[0] says allow, and a project's rule may only say ask or deny",
    ),
    (
        '[tools]\nsandbox = "off"',
        '2: tools.sandbox may only be made stricter by a project: "off" is looser than "auto"',
    ),
    (
        'toolsets = ["code", "mail"]',
        "1: toolsets[1] is not in the operator's list, and a project may only leave entries out",
    ),
    ('[workspace.mounts.data]\npath = "/srv"', "1: workspace.mounts cannot be set by a project"),
    (
        '[limits.rate."web.*"]\nmax_calls = 2\nper_seconds = 1',
        '1: limits.rate."web.*" may only be lowered by a project: 2 per 1 s is more than 10 per 60 s',
    ),
    (
        "[tools_config.main]\nshell = true",
        "2: tools_config.main.shell is switched on, and a project may only switch off",
    ),
    (
        '[sub_apps.mail]\ntool_names = ["mail.send"]',
        "1: sub_apps.mail is not one of the operator's sub-apps, and a project may not add one",
    ),
    (
        '[sub_apps.journal]\ntool_names = ["mail.send"]',
        "2: sub_apps.journal.tool_names[0] is not in the operator's list, and a project may only leave entries out",
    ),
    (
        '[sub_apps.journal]\ntool_names = ["notes.read"]\nagents = ["writer"]',
        "3: sub_apps.journal.agents[0] is not in the operator's list, and a project may only leave entries out",
    ),
]


@pytest.mark.parametrize(("text", "told"), WIDENING)
def test_a_project_that_widens_is_refused_with_the_key_and_where_it_belongs(desk, text, told):
    desk.user(
        '[tools]\nallowed_write_roots = ["/srv/out"]\n[limits.rate."web.*"]\nmax_calls = 10\nper_seconds = 60\n'
        '[sub_apps.journal]\ntool_names = ["notes.read"]'
    )
    desk.narrow(text)
    assert desk.problems() == [f"PROJECT/toolcrib.toml:{told}; {ONLY}"]


def test_everything_that_widens_is_told_at_once(desk):
    desk.narrow('[tools]\nmax_threads = 99\nenv_allowlist = ["A", "PATH", "B"]\n[store]\nlease_seconds = 1')
    assert [line.split(" ")[1] for line in desk.problems()] == [
        "tools.max_threads",
        "tools.env_allowlist[0]",
        "tools.env_allowlist[2]",
        "store.lease_seconds",
    ]


def test_what_the_operators_argument_widens_is_not_the_projects_business(desk):
    desk.narrow("[tools]\nmax_threads = 40")
    assert "40 is more than 32" in desk.problems({"tools.max_threads": 50})[0]


def test_no_limit_is_the_largest_limit(desk):
    desk.narrow("[limits]\ncalls_per_run = 100")
    assert desk.load().limits.calls_per_run == 100
    desk.user("[limits]\ncalls_per_run = 100")
    desk.narrow("[limits]\ncalls_per_run = 0")
    assert "limits.calls_per_run may only be lowered by a project: 0 is more than 100" in desk.problems()[0]


# For every key: some values that files may hold, and what "not looser" means, said independently of the code.
Judge = Callable[[Any, Any], bool]
lower: Judge = lambda before, after: after <= before  # noqa: E731
subset: Judge = lambda before, after: set(after) <= set(before)  # noqa: E731
superset: Judge = lambda before, after: set(after) >= set(before)  # noqa: E731
same: Judge = lambda before, after: after == before  # noqa: E731


def ordered(*loose_to_strict: str) -> Judge:
    return lambda before, after: loose_to_strict.index(after) >= loose_to_strict.index(before)


def fewer_hosts(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Fewer, and not none where there were some: without a list other hosts ask, with one they are denied."""
    return set(after) <= set(before) and bool(after) == bool(before)


def higher(before: bool, after: bool) -> bool:
    return after >= before


def unlimited_lower(before: int, after: int) -> bool:
    return before == 0 or 0 < after <= before


def rates(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return all(
        name in after
        and after[name].max_calls <= rate.max_calls
        and after[name].max_calls / after[name].per_seconds <= rate.max_calls / rate.per_seconds
        for name, rate in before.items()
    )


def switches(before: Mapping[str, Mapping[str, Switch]], after: Mapping[str, Mapping[str, Switch]]) -> bool:
    """Whatever is on now was on already; nothing that was off is unset."""
    on = {(agent, name) for agent, table in after.items() for name in table if table[name].on}
    off = {(agent, name) for agent, table in before.items() for name in table if not table[name].on}
    return all(before[agent][name].on for agent, name in on) and all(not after[agent][name].on for agent, name in off)


def sub_apps(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return before.keys() == after.keys() and all(
        subset(before[name].tool_names, after[name].tool_names) for name in after
    )


SPECS = [
    ToolSpec(name=name, description="", input_schema={}, effect=effect, tags=frozenset(tags))
    for name in ("notes.read", "web.fetch")
    for effect in Effect
    for tags in ((), ("network",), ("dangerous",), ("internal",))
]


def rules(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    return all(Policy(after).decide(spec).verdict >= Policy(before).decide(spec).verdict for spec in SPECS)


COMMANDS = [
    command_target(
        " ".join(words), (Command(words, f"/usr/bin/{words[0]}", f"/usr/bin/{words[0]}", "", Whence.SYSTEM, "/p"),)
    )
    for words in (("git", "status"), ("git", "push"), ("ls",))
]


def command_rules(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    looser, stricter = CommandRules(before), CommandRules(after)
    return all(_verdict(stricter, command) >= _verdict(looser, command) for command in COMMANDS)


def _verdict(rules: CommandRules, command: CommandTarget) -> Verdict:
    decision = decide_commands(rules, [command])
    assert decision is not None
    return decision.verdict


SMALL = st.sampled_from([1, 2, 4, 10, 50, 100])
LARGE = st.sampled_from([1_024, 5_000, 100_000, 500_000])
RULES = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["allow", "ask", "deny", "blocked", "preApproved"])},
    optional={
        "effect": st.sampled_from(["read", "write"]),
        "tags": st.sampled_from([[], ["network"], ["dangerous"]]),
    },
).flatmap(lambda rule: st.sampled_from(["notes.*", "**", "web.fetch"]).map(lambda tool: {"tool": tool, **rule}))
COMMAND_RULES = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(["git", "git status", "git push", "ls"]),
        "verdict": st.sampled_from(["allow", "ask", "deny"]),
    }
)
MOUNTS = st.dictionaries(
    st.sampled_from(["data", "out"]),
    st.fixed_dictionaries({"path": st.just("/srv"), "access": st.sampled_from(["read", "write"])}),
)
RATE = st.fixed_dictionaries({"max_calls": st.sampled_from([1, 5, 10]), "per_seconds": st.sampled_from([1, 5, 60])})


def some(*values: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), unique=True)


LARGE_KEYS = """
    tools.default_timeout_ms tools.max_timeout_ms tools.stdout_limit_bytes tools.stderr_limit_bytes
    tools.result_limit_chars tools.max_artifact_bytes policy.default_ask_timeout_ms agents.child_timeout_ms
    agents.cancel_timeout_ms
"""
SMALL_KEYS = """
    tools.max_threads limits.max_parallel_reads limits.max_calls_per_turn limits.max_children_per_run
    limits.max_children_per_session limits.max_depth
"""
UNLIMITED_KEYS = """
    limits.calls_per_run limits.calls_per_session limits.seconds_per_run limits.seconds_per_session
    limits.tokens_per_run limits.tokens_per_session limits.money_per_run limits.money_per_session
    limits.loop.same_call limits.loop.warn limits.loop.same_tool limits.loop.oscillation limits.loop.no_progress
"""
RATE_KEYS = "limits.rate limits.agent_rate limits.session_rate"
SWITCHES = st.dictionaries(st.sampled_from(["x", "y.z"]), st.booleans())
SUB_APP = st.fixed_dictionaries({"tool_names": some("x", "y.z")})
HOST_LISTS = st.fixed_dictionaries({"allow_hosts": some("a.example", "b.example")})
KEYS: dict[str, tuple[st.SearchStrategy[Any], Judge]] = {
    **dict.fromkeys(LARGE_KEYS.split(), (LARGE, lower)),
    **dict.fromkeys(SMALL_KEYS.split(), (SMALL, lower)),
    **dict.fromkeys(UNLIMITED_KEYS.split(), (st.sampled_from([0, 2, 100]), unlimited_lower)),
    **dict.fromkeys(RATE_KEYS.split(), (st.dictionaries(st.sampled_from(["web.*", "**"]), RATE), rates)),
    "limits.loop.idle_seconds": (st.sampled_from([1, 60]), same),
    "tools.allowed_write_roots": (some("/a", "/b", "/a/c"), subset),
    "tools.sensitive_paths": (some("vault", "deploy/*.conf"), superset),
    "tools.protected_paths": (some("notes.md", "*.lock"), superset),
    "tools.allow_tmp_writes": (st.booleans(), lower),
    "tools.env_allowlist": (some("PATH", "HOME", "TOKEN"), subset),
    "tools.packages": (some("notes", "acme:tools"), subset),
    "tools.watch": (st.booleans(), lower),
    "tools.schema_profile": (st.sampled_from(["full", "core"]), ordered("full", "core")),
    "tools.sandbox": (st.sampled_from(["off", "auto", "require"]), ordered("off", "auto", "require")),
    "tools.sandbox_read_roots": (some("/a", "/b", "/a/c"), subset),
    "toolsets": (some("code", "workspace", "shell"), subset),
    "approvals.expires_seconds": (SMALL, lower),
    "approvals.bell": (st.booleans(), same),
    "approvals.command": (some("notify-send", "hello"), same),
    "approvals.webhook": (st.sampled_from(["", "https://a.example/x"]), same),
    "approvals.notify_timeout_ms": (SMALL, lower),
    "modes.plan_tools": (some("code.*", "checklist.read", "web.*"), subset),
    "modes.allow_bypass": (st.booleans(), lower),
    "workspace.mounts": (MOUNTS, same),
    "discovery.mode": (st.sampled_from(["auto", "append", "replace", "eager"]), same),
    "discovery.eager_tokens": (SMALL, same),
    "discovery.ceiling": (SMALL, lower),
    "discovery.pinned": (some("notes.*", "code.read_file"), subset),
    "discovery.listing_tokens": (SMALL, lower),
    "discovery.meaning": (st.booleans(), same),
    "discovery.usage_memory": (st.booleans(), lower),
    "apis": (st.dictionaries(st.sampled_from(["a", "b"]), st.just({"document": "x.json"}), max_size=1), same),
    "policy.commands": (st.lists(COMMAND_RULES, max_size=3), command_rules),
    "policy.rules": (st.lists(RULES, max_size=3), rules),
    "dynamic.creators": (some("main", "orchestrator", "sub"), subset),
    "self_evolution.repository": (st.sampled_from(["", "/a"]), same),
    "self_evolution.allowed_paths": (some("src/**", "*.md"), same),
    "self_evolution.checks": (st.lists(st.just(["make", "test"]), max_size=1), same),
    "self_evolution.branch_prefix": (st.sampled_from(["evolve/", "bot/"]), same),
    "self_evolution.push_to": (st.sampled_from(["", "/far", "https://git.example/x"]), same),
    "store.path": (st.sampled_from(["toolcrib.db", "/x.db"]), same),
    "store.durability": (st.sampled_from(["normal", "full"]), ordered("normal", "full")),
    "store.busy_timeout_ms": (SMALL, same),
    "store.retention_days": (st.sampled_from([0, 1, 30]), same),
    "store.lease_seconds": (st.sampled_from([1, 30]), same),
    "guard.enforcement": (st.sampled_from(["off", "observe", "enforce"]), ordered("off", "observe", "enforce")),
    "guard.topology": (st.sampled_from(["off", "observe", "enforce"]), ordered("off", "observe", "enforce")),
    "redaction.values_from_env": (some("TOKEN", "KEY"), superset),
    "redaction.extra_patterns": (some("a+", "b+"), superset),
    "network.allow_hosts": (some("a.example", "*.b.example"), fewer_hosts),
    "network.unlisted": (st.sampled_from(["auto", "ask", "deny"]), ordered("ask", "auto", "deny")),
    "network.schemes": (some("https", "http", "ftp"), subset),
    "network.deny_private": (st.booleans(), higher),
    "network.allow_private": (some("10.0.0.0/8", "192.168.1.7"), subset),
    "network.tools": (st.dictionaries(st.sampled_from(["web.*", "mcp.x.**"]), HOST_LISTS), same),
    "network.deny_hosts": (some("a.example", "*.b.example"), superset),
    "tools_config": (st.dictionaries(st.sampled_from(["main", "sub"]), SWITCHES), switches),
    "sub_apps": (st.dictionaries(st.sampled_from(["a", "b"]), SUB_APP), sub_apps),
}


def documents(most: int) -> st.SearchStrategy[dict[str, Any]]:
    """A few keys with values, by dotted name."""
    return st.lists(st.sampled_from(sorted(KEYS)), max_size=most, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: KEYS[name][0] for name in names})
    )


def test_every_key_is_judged(desk):
    assert KEYS.keys() == {row.key for row in desk.load().describe()}


@settings(max_examples=300, deadline=None)
@given(documents(12), documents(3))
def test_no_project_file_that_is_accepted_loosens_any_key(user, project):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "config.toml", user)
        alone = load(home, None, None, {})
        _write(home / "toolcrib.toml", project)
        try:
            narrowed = load(home, home, None, {})
        except InvalidConfig:
            event("refused")
            return
    event("accepted")
    for name, (_, judge) in KEYS.items():
        before, after = _look(alone, name), _look(narrowed, name)
        assert judge(before, after), f"{name} went from {before} to {after}"


def _write(path: Path, values: Mapping[str, Any]) -> None:
    path.write_text("# generated\n" + "".join(f"{name} = {toml(value)}\n" for name, value in values.items()))


def _look(config: Config, name: str) -> Any:
    found: Any = config
    for part in name.split("."):
        found = getattr(found, part)
    return found
