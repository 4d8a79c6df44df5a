"""Which rules apply to a call, and which of them decides."""

from __future__ import annotations

import pytest

from toolcrib.policy.examples import Example
from toolcrib.policy.predicates import Operation, Predicate
from toolcrib.policy.rules import Facts, Layer, Policy, Rule, Situation
from toolcrib.policy.touching import Touching
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.json import JsonObject
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.target import Target, TargetKind

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
PATH, HOST, AGENT, RESOURCE = TargetKind.PATH, TargetKind.HOST, TargetKind.AGENT, TargetKind.RESOURCE


def spec(name: str = "notes.add", effect: Effect = Effect.WRITE, tags: str = "", **more: object) -> ToolSpec:
    words = frozenset(tags.split())
    return ToolSpec(name=name, description="d", input_schema={}, effect=effect, tags=words, **more)  # type: ignore[arg-type]


def decide(
    *rules: Rule,
    tool: ToolSpec | None = None,
    targets: tuple[Target, ...] = (),
    arguments: JsonObject | None = None,
    marks: frozenset[str] = frozenset(),
    situation: Situation | None = None,
) -> Decision:
    ruling = Policy(rules).ruling(tool or spec(), situation or Situation())
    return ruling.decide(arguments or {}, targets, marks)


def paths(*values: str, marks: str = "") -> tuple[Target, ...]:
    return tuple(Target(PATH, value, value, frozenset(marks.split())) for value in values)


NAMES = [
    ("notes.add", "notes.add", True),
    ("notes.add", "notes.addition", False),
    ("notes.*", "notes.add", True),
    ("notes.*", "notes.old.add", False),
    ("notes.**", "notes.old.add", True),
    ("*", "notes", True),
    ("*", "notes.add", False),
    ("notes.a?d", "notes.add", True),
    ("notes?add", "notes.add", False),
]


@pytest.mark.parametrize(("pattern", "name", "fits"), NAMES)
def test_a_name_is_exact_unless_a_glob_is_written_and_a_glob_stays_between_dots(pattern, name, fits):
    assert (decide(Rule(DENY, pattern), tool=spec(name)).verdict is DENY) is fits


def test_a_rule_may_name_several_tools():
    rule = Rule(DENY, ("notes.add", "mail.*"))
    assert [decide(rule, tool=spec(name)).verdict for name in ("notes.add", "mail.send", "notes.read")] == [
        DENY, DENY, ASK,
    ]  # fmt: skip


FACTS = [
    (Facts(category=("FileSystem",)), spec(category="FileSystem"), Situation(), True),
    (Facts(category=("Network",)), spec(category="FileSystem"), Situation(), False),
    (Facts(tool_type=("mcp",)), spec(tool_type=ToolType.MCP), Situation(), True),
    (Facts(tool_type=("mcp",)), spec(), Situation(), False),
    (Facts(source=("mcp",)), spec(source=Source("mcp", "github")), Situation(), True),
    (Facts(source=("mcp:git*",)), spec(source=Source("mcp", "github")), Situation(), True),
    (Facts(server=("github",)), spec(source=Source("mcp", "github")), Situation(), True),
    (Facts(server=("github",)), spec(source=Source("python", "github")), Situation(), False),
    (Facts(agent=("writer",)), spec(), Situation(agent="writer"), True),
    (Facts(agent=("writer",)), spec(), Situation(agent="main"), False),
    (Facts(role=("sub", "fork")), spec(), Situation(role="fork"), True),
    (Facts(mode=("plan",)), spec(), Situation(mode="default"), False),
]


@pytest.mark.parametrize(("facts", "tool", "situation", "fits"), FACTS)
def test_a_rule_may_be_about_kinds_of_tools_and_about_who_calls(facts, tool, situation, fits):
    found = decide(Rule(DENY, facts=facts), tool=tool, situation=situation)
    assert (found.verdict is DENY) is fits


TARGETS = [
    (ALLOW, Touching(path=("docs/**",)), paths("/workspace/docs/a.md"), True),
    (ALLOW, Touching(path=("docs/**",)), paths("/workspace/docs/a.md", "/workspace/src/a.py"), False),
    (ALLOW, Touching(path=("docs/**",)), (), False),
    (ALLOW, Touching(path=("docs/*",)), paths("/workspace/docs/deep/a.md"), False),
    (ALLOW, Touching(path=("docs/**/a.md",)), paths("/workspace/docs/a.md"), True),
    (ALLOW, Touching(path=("/srv/data/**",)), paths("/srv/database/x"), False),
    (ALLOW, Touching(path=("**/*.md",)), paths("/elsewhere/x.md"), True),
    (ALLOW, Touching(path=("Docs/**",)), paths("/workspace/docs/a.md"), False),
    (DENY, Touching(path=("Docs/**",)), paths("/workspace/docs/a.md"), True),
    (DENY, Touching(path=("docs/**",)), paths("/workspace/src/a.py", "/workspace/docs/a.md"), True),
    (DENY, Touching(path=("docs/**",)), paths("/workspace/src/a.py"), False),
    (DENY, Touching(path=("docs/**",)), paths("/workspace/docs"), True),
    (DENY, Touching(marks=frozenset({"sensitive"})), paths("/x/.env", marks="sensitive"), True),
    (DENY, Touching(marks=frozenset({"sensitive"})), paths("/x/a"), False),
    (DENY, Touching(path=("/x/**",), marks=frozenset({"outside"})), paths("/x/a"), False),
    (ALLOW, Touching(host=("api.example.com",)), (Target(HOST, "api.example.com:443"),), True),
    (ALLOW, Touching(host=("api.example.com",)), (Target(HOST, "api.example.com:8443"),), False),
    (ALLOW, Touching(host=("api.example.com:8443",)), (Target(HOST, "api.example.com:8443"),), True),
    (ALLOW, Touching(host=("*.example.com",)), (Target(HOST, "a.b.example.com"),), True),
    (ALLOW, Touching(host=("*.example.com",)), (Target(HOST, "example.com"),), False),
    (ALLOW, Touching(host=("*.example.com",)), (Target(HOST, "evilexample.com"),), False),
    (DENY, Touching(host=("example.com",)), (Target(HOST, "EXAMPLE.com.:8080"),), True),
    (DENY, Touching(agent=("writer-*",)), (Target(AGENT, "writer-1"),), True),
    (ALLOW, Touching(resource=("ticket 4*",)), (Target(RESOURCE, "ticket 42"),), True),
    (DENY, Touching(command=("git push",)), (Target(TargetKind.COMMAND, "cd x && sudo git push origin"),), True),
    (DENY, Touching(command=("git push",)), (Target(TargetKind.COMMAND, "git status"),), False),
    (ALLOW, Touching(command=("git status",)), (Target(TargetKind.COMMAND, "git status"),), False),
]


@pytest.mark.parametrize(("verdict", "touching", "targets", "fits"), TARGETS)
def test_to_allow_every_target_must_fit_and_to_refuse_one_is_enough(verdict, touching, targets, fits):
    found = decide(Rule(verdict, "notes.add", touching=touching, place="here"), targets=targets)
    assert (found.rule == "here") is fits


def test_a_path_fits_by_its_virtual_name_too():
    class Mounted(Target):
        @property
        def also(self) -> str:
            return "/workspace/docs/a.md"

    rule = Rule(ALLOW, "notes.add", touching=Touching(path=("docs/**",)))
    assert decide(rule, targets=(Mounted(PATH, "/home/me/project/docs/a.md"),)).verdict is ALLOW


ARGUMENTS = [
    ("force", Operation.EQUALS, True, {"force": True}, True),
    ("force", Operation.EQUALS, True, {"force": 1}, False),
    ("force", Operation.EQUALS, True, {}, False),
    ("count", Operation.EQUALS, 1, {"count": 1.0}, True),
    ("to.kind", Operation.EQUALS, "all", {"to": {"kind": "all"}}, True),
    ("to.*.name", Operation.EQUALS, "eve", {"to": [{"name": "ann"}, {"name": "eve"}]}, True),
    ("to.0", Operation.EQUALS, "ann", {"to": ["ann", "eve"]}, True),
    ("method", Operation.IN, ["PUT", "DELETE"], {"method": "DELETE"}, True),
    ("method", Operation.IN, ["PUT", "DELETE"], {"method": "GET"}, False),
    ("table", Operation.MATCHES, "prod_.*", {"table": "prod_users"}, True),
    ("table", Operation.MATCHES, "prod", {"table": "prod_users"}, False),
    ("amount", Operation.GREATER, 100, {"amount": 100.5}, True),
    ("amount", Operation.GREATER, 100, {"amount": "1000"}, False),
    ("amount", Operation.LESS, 0, {"amount": -1}, True),
    ("cc", Operation.PRESENT, True, {"cc": None}, True),
    ("cc", Operation.PRESENT, False, {}, True),
    ("to", Operation.LENGTH, {"greater": 2}, {"to": [1, 2, 3]}, True),
    ("to", Operation.LENGTH, 2, {"to": "ab"}, True),
    ("to", Operation.LENGTH, 2, {"to": 12}, False),
]


@pytest.mark.parametrize(("path", "operation", "value", "arguments", "fits"), ARGUMENTS)
def test_a_rule_may_ask_about_arguments(path, operation, value, arguments, fits):
    rule = Rule(DENY, arguments=(Predicate(path, operation, value),))
    assert (decide(rule, arguments=arguments).verdict is DENY) is fits


def test_to_allow_all_values_at_a_path_must_fit_and_to_refuse_one_is_enough():
    eve_or_ann: JsonObject = {"to": ["ann", "eve"]}
    friends = Predicate("to.*", Operation.IN, ["ann", "bob"])
    assert decide(Rule(ALLOW, arguments=(friends,)), arguments=eve_or_ann).verdict is ASK
    assert decide(Rule(DENY, arguments=(friends,)), arguments=eve_or_ann).verdict is DENY


WRONG = [
    lambda: Rule(ALLOW, "not a name"),
    lambda: Predicate("a..b", Operation.EQUALS, 1),
    lambda: Predicate("a", Operation.MATCHES, "("),
    lambda: Predicate("a", Operation.MATCHES, "((a{1000}){1000}){1000}"),
    lambda: Predicate("a", Operation.LESS, "3"),
    lambda: Predicate("a", Operation.IN, "abc"),
    lambda: Predicate("a", Operation.PRESENT, 1),
    lambda: Predicate("a", Operation.LENGTH, {"about": 3}),
    lambda: Rule(ALLOW, touching=Touching(path=("../x",))),
    lambda: Rule(ALLOW, touching=Touching(host=("http://x",))),
    lambda: Rule(ALLOW, touching=Touching(path=(".git/**",), marks=frozenset({"protected"}))),
]


@pytest.mark.parametrize("make", WRONG)
def test_what_cannot_be_a_rule_is_refused_when_it_is_made(make):
    with pytest.raises(ConfigError):
        make()


def test_the_strictest_rule_decides_and_the_higher_layer_is_cited_among_equals():
    rules = (
        Rule(ALLOW, "notes.add", place="user allows"),
        Rule(ASK, "notes.*", layer=Layer.PROJECT, place="project asks"),
        Rule(ASK, "**", layer=Layer.MANAGED, place="machine asks"),
    )
    assert decide(*rules).rule == "machine asks"
    assert decide(*rules, Rule(DENY, "notes.add", layer=Layer.AGENT, place="agent denies")).rule == "agent denies"


def test_an_allow_of_a_project_never_counts():
    assert decide(Rule(ALLOW, "notes.add", layer=Layer.PROJECT)).layer == "shipped"


def test_an_allow_of_an_agent_counts_where_no_rule_is_stricter():
    agent = Rule(ALLOW, "notes.add", layer=Layer.AGENT, place="agent")
    assert decide(agent).rule == "agent"
    for layer in (Layer.MANAGED, Layer.USER, Layer.PROJECT):
        assert decide(agent, Rule(ASK, "notes.*", layer=layer)).verdict is ASK


DANGEROUS = spec("disk.wipe", tags="dangerous")
NAMED = Touching(path=("/srv/scratch/**",))


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (Rule(ALLOW, "disk.wipe", touching=NAMED), ALLOW),
        (Rule(ALLOW, "disk.wipe", touching=NAMED, layer=Layer.MANAGED), ALLOW),
        (Rule(ALLOW, "disk.wipe", touching=NAMED, layer=Layer.AGENT), ASK),
        (Rule(ALLOW, "disk.*", touching=NAMED), ASK),
        (Rule(ALLOW, "disk.wipe"), ASK),
        (Rule(ALLOW, "disk.wipe", touching=Touching(path=("**",))), ASK),
        (Rule(ALLOW, "**", tags=frozenset({"dangerous"}), touching=NAMED), ASK),
        (Rule(ALLOW, "disk.wipe", arguments=(Predicate("a", Operation.PRESENT, False),)), ASK),
    ],
)
def test_a_dangerous_tool_runs_unasked_only_by_an_operators_rule_that_names_tool_and_target(rule, verdict):
    assert decide(rule, tool=DANGEROUS, targets=paths("/srv/scratch/x")).verdict is verdict


def test_a_rule_that_names_one_kind_of_target_does_not_cover_a_dangerous_call_that_touches_another():
    targets = (*paths("/srv/scratch/x"), Target(HOST, "evil.test"))
    assert decide(Rule(ALLOW, "disk.wipe", touching=NAMED), tool=DANGEROUS, targets=targets).verdict is ASK


def test_marked_targets_ask_although_a_rule_allows_unless_it_says_that_it_knows():
    secret = paths("/workspace/.env.test", marks="sensitive")
    touching = Touching(path=(".env.test",))
    assert decide(Rule(ALLOW, "notes.add", touching=touching), targets=secret).verdict is ASK
    knowing = Touching(path=(".env.test",), marks=frozenset({"sensitive"}))
    assert decide(Rule(ALLOW, "notes.add", touching=knowing), targets=secret).verdict is ALLOW
    assert decide(Rule(ALLOW, "notes.add", touching=knowing, layer=Layer.AGENT), targets=secret).verdict is ASK


AFTER = frozenset({"read_sensitive"})


@pytest.mark.parametrize(
    ("tool", "targets", "verdict"),
    [
        (spec("web.get", Effect.READ, "network"), (Target(HOST, "api.example.com"),), ASK),
        (spec("mail.send"), (), ASK),
        (spec("files.write"), paths("/workspace/a"), ALLOW),
        (spec("files.read", Effect.READ), paths("/workspace/a"), ALLOW),
        (spec("checklist.update", tags="internal"), (), ALLOW),
    ],
)
def test_after_a_sensitive_read_what_could_carry_it_out_asks_although_a_rule_allows(tool, targets, verdict):
    rule = Rule(ALLOW, "**")
    assert decide(rule, tool=tool, targets=targets).verdict is ALLOW
    assert decide(rule, tool=tool, targets=targets, marks=AFTER).verdict is verdict
    assert decide(rule, Rule(ALLOW, "**", run_marks=AFTER), tool=tool, targets=targets, marks=AFTER).verdict is ALLOW


def test_a_rule_may_be_about_what_the_run_has_read():
    rule = Rule(DENY, "mail.*", run_marks=frozenset({"read_untrusted"}))
    assert decide(rule, tool=spec("mail.send")).verdict is ASK
    assert decide(rule, tool=spec("mail.send"), marks=frozenset({"read_untrusted"})).verdict is DENY


SHIPPED = [
    (spec("checklist.update", tags="internal"), ALLOW),
    (spec("agent.task_create", tags="internal agent"), ALLOW),
    (spec("agent.plan_template", tags="internal agent"), ALLOW),
    (spec("worker.update", tags="internal agent"), ALLOW),
    (spec("worker.start", tags="internal agent"), ASK),
    (spec("worker.cancel", tags="internal agent"), ASK),
    (spec("agent.create_sub_agent", Effect.READ, tags="agent"), ASK),
    (spec("agent.spawn_team", tags="internal agent"), ASK),
    (spec("mcp.x.note", tags="internal", tool_type=ToolType.MCP), ASK),
    (spec("files.read", Effect.READ), ALLOW),
    (spec("web.get", Effect.READ, "network"), ASK),
    (spec("files.read", Effect.READ, "dangerous"), ASK),
    (spec("files.write"), ASK),
]


@pytest.mark.parametrize(("tool", "verdict"), SHIPPED)
def test_the_shipped_policy_lets_reads_and_own_records_through_and_asks_about_the_rest(tool, verdict):
    found = decide(tool=tool)
    assert (found.verdict, found.layer) == (verdict, "shipped")


def test_a_rule_is_refused_when_it_does_not_hold_its_own_examples():
    touching = Touching(path=("docs/**",))
    good = Example(tool="notes.add", path=("docs/a.md",))
    Rule(ALLOW, "notes.add", touching=touching, match=(good,), not_match=(Example(path=("src/a",)), Example("mail.x")))
    with pytest.raises(ConfigError, match="does not cover its own example"):
        Rule(ALLOW, "notes.add", touching=touching, match=(Example(path=("src/a",)),))
    with pytest.raises(ConfigError, match="which it must not"):
        Rule(ALLOW, "notes.add", touching=touching, not_match=(good,))


def test_an_example_of_a_command_takes_programs_for_those_of_the_system():
    rule = Touching(command=("git",))
    Rule(ALLOW, "**", touching=rule, match=(Example(command=("git status",)),), not_match=(Example(command=("gitk",)),))


def test_notify_allows_and_leaves_a_notice():
    found = decide(Rule(ALLOW, "notes.add"), Rule(ALLOW, "notes.*", notice="told"))
    assert (found.verdict, found.notice) == (ALLOW, "told")
