"""Definitions of agents: what they say, and how every mistake is told with its line."""

import pytest

from toolcrib.agent.definitions import AgentDefinition, read_definition, read_definitions
from toolcrib.agent.fields import DuplicateDefinition, InvalidDefinition
from toolcrib.agent.toolsets import Approval, CustomModule, ExternalToolset
from toolcrib.policy.modes import Mode
from toolcrib.policy.verdict import Verdict
from toolcrib.values.refusal import Reason

WHOLE = """---
id: reviewer
name: Reviewer
description: Looks at changes.
model: small
mode: plan
toolsets:
  filesystem: {}
  shell:
    rules:
      - pattern: "git "
        approval: preApproved
      - {pattern: rm, approval: blocked}
  custom:
    module: "./tools.py"
    tools: [fibonacci]
    approval:
      default: ask
      tools:
        fibonacci: preApproved
  external:
    package: some.package
    import: web_tools
    approval: blocked
  checklist:
toolkits: [review]
tools_config:
  "notes.delete": false
suggested_tools: [code.search]
sub_agents: [sub]
limits: {calls: 50, children: 2}
allowed_tools: ["code.*", "workspace.*"]
---

Be kind.
"""


def read(text: str, path: str = "agents/reviewer.md") -> AgentDefinition:
    return read_definition(path, text.encode())


def test_a_whole_definition_is_read_into_typed_values() -> None:
    found = read(WHOLE)
    assert (found.id, found.name, found.model, found.mode) == ("reviewer", "Reviewer", "small", Mode.PLAN)
    assert found.instructions == "Be kind."
    assert [(rule.words, rule.verdict, rule.place) for rule in found.toolsets.commands] == [
        (("git",), Verdict.ALLOW, "agents/reviewer.md:11"),
        (("rm",), Verdict.DENY, "agents/reviewer.md:13"),
    ]
    approval = Approval(Verdict.ASK, {"fibonacci": Verdict.ALLOW})
    assert found.toolsets.custom == (CustomModule("tools.py", ("fibonacci",), approval),)
    assert found.toolsets.external == (ExternalToolset("some.package", "web_tools", Approval(Verdict.DENY)),)
    assert found.switches == {"review": True, "notes.delete": False}
    assert found.sub_agents == {"sub"}
    assert found.limits == {"calls": 50, "children": 2}


def test_yaml_says_the_same_with_the_instructions_as_a_field() -> None:
    fields, _, _ = WHOLE.removeprefix("---\n").partition("---\n")
    same = read(fields + "instructions: Be kind.\n", "agents/reviewer.yaml")
    assert same.toolsets.patterns == read(WHOLE).toolsets.patterns
    assert same.instructions == "Be kind."


def test_a_toolset_that_is_not_listed_is_absent() -> None:
    terms = read("---\ntoolsets: {checklist: {}}\n---\n").terms()
    assert terms.tools == ("checklist", "checklist.**")
    assert read("---\nname: Nobody\n---\n").terms().tools == ()


def test_a_definition_without_an_id_is_named_by_its_file() -> None:
    assert read("---\nname: x\n---\n", "agents/helper.md").id == "helper"


MISTAKES = {
    "---\ntoolset: {}\n---\n": ["2: toolset is not a known field; did you mean toolsets?"],
    "---\nid: a b\n---\n": ["2: id: 'a b' is not an id"],
    "---\nmode: fast\n---\n": ["2: mode: 'fast' is not a mode: use one of default, plan"],
    "---\nmode: bypass\n---\n": ["2: mode: bypass is the operator's to choose"],
    "---\ntoolsets: [shell]\n---\n": [
        "2: toolsets must be a mapping of toolset names to their configuration, not a list"
    ],
    "---\ntoolsets:\n  shell:\n    rule: x\n---\n": [
        "4: toolsets.shell.rule is not a known field; did you mean rules?"
    ],
    "---\ntoolsets:\n  shell:\n    rules:\n    - pattern: ''\n      approval: ask\n---\n": [
        "5: toolsets.shell.rules.pattern: a command pattern must name a program"
    ],
    "---\ntoolsets:\n  shell:\n    rules:\n    - pattern: git *\n      approval: ask\n---\n": [
        "5:",
        "holds a wildcard",
    ],
    "---\ntoolsets:\n  shell:\n    rules:\n    - pattern: git\n      approval: sure\n---\n": [
        "6: toolsets.shell.rules.approval: 'sure' is not a verdict"
    ],
    "---\ntoolsets:\n  filesystem: {tools: [shell.run]}\n---\n": ["3:", "is no tool of the toolset filesystem"],
    "---\ntoolsets:\n  custom: {module: ../x.py, tools: [a]}\n---\n": [
        "3:",
        "must name a Python file below the definition",
    ],
    "---\ntoolsets:\n  custom: {module: x.py}\n---\n": ["3:", "must list the tools that are let in"],
    "---\ntools_config: {a: on}\n---\n": ["2: tools_config.a must be true or false, not text"],
    "---\nlimits: {calls: 0}\n---\n": ["2: limits.calls must be a whole number"],
    "---\nname: &a x\nmodel: *a\n---\n": ["2: uses an anchor or an alias"],
    "---\nname: !!python/object:os.system x\n---\n": ["2: uses a tag"],
    "---\nname: x\nname: y\n---\n": ["3: has the key 'name' twice"],
    "---\nname: [\n---\n": ["is not YAML"],
    "name: x\n": ["1: must begin with fields between two lines of ---"],
    "---\n" + "a: " + "[" * 50 + "\n---\n": ["2: is nested more than 12 levels deep"],
    "---\n- a\n---\n": ["must be a mapping, not a list"],
}


@pytest.mark.parametrize(("text", "told"), MISTAKES.items(), ids=[text[4:40] for text in MISTAKES])
def test_a_mistake_is_told_with_its_line_and_what_would_work(text: str, told: list[str]) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        read(text)
    assert refused.value.reason is Reason.INVALID_AGENT_DEFINITION
    assert all(part in str(refused.value) for part in told), str(refused.value)


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    with pytest.raises(InvalidDefinition) as refused:
        read("---\nid: a b\nmode: fast\nlimit: {}\n---\n")
    assert len(str(refused.value).splitlines()) == 3


@pytest.mark.parametrize("body", [b"\xff\xfe", b"---\nname: \x00\n---\n", b"---\nname: " + b"x" * 600_000 + b"\n---\n"])
def test_a_file_that_is_no_text_or_too_long_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidDefinition):
        read_definition("agents/x.md", body)


def test_two_definitions_of_one_id_are_an_error_that_names_both_files() -> None:
    files = [("a.md", b"---\nid: x\n---\n"), ("b.yaml", b"id: x\n")]
    with pytest.raises(DuplicateDefinition, match=r"b.yaml and a.md both define the agent 'x'") as refused:
        read_definitions(files)
    assert refused.value.reason is Reason.DUPLICATE_AGENT_DEFINITION
