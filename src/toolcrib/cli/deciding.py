"""What `toolcrib policy` finds out: decisions without calls, tests, doubts about rules, habits in the journal."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from toolcrib.cli.catalogue import Viewpoint, effective_set, no_such_tool
from toolcrib.cli.command import Choices
from toolcrib.cli.ending import NotSo
from toolcrib.cli.modules import load_tools
from toolcrib.cli.output import counted
from toolcrib.cli.parameters import read_arguments
from toolcrib.cli.serving import served_tools
from toolcrib.cli.tools import built_in
from toolcrib.config import Config
from toolcrib.config.policies import Policies, PolicyFile, read_policies
from toolcrib.config.policy_tests import PolicyTest, read_policy_tests
from toolcrib.config.problems import Problem
from toolcrib.engine.effective import EffectiveSet
from toolcrib.engine.envelope import opened
from toolcrib.engine.explain import explain
from toolcrib.policy.lint import Finding, lint
from toolcrib.policy.suggest import Answered, Suggestion, suggest
from toolcrib.policy.trace import Trace
from toolcrib.values.call import ToolCall
from toolcrib.values.event import EventType
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.spec import NOTHING
from toolcrib.values.tool import Tool


@frozen
class Asked:
    """The call that is asked about, by whom and after what."""

    name: str
    text: str | None
    pairs: tuple[str, ...]
    viewpoint: Viewpoint
    marks: frozenset[str]


def traced(choices: Choices, modules: tuple[str, ...], asked: Asked) -> Trace:
    """How the call would be decided."""
    config = choices.load()
    effective = effective_set(config, _tools(config, modules, asked.name), asked.viewpoint)
    known = effective.snapshot
    schema = known[asked.name].spec.input_schema if asked.name in known else NOTHING
    call = opened(ToolCall(asked.name, read_arguments(asked.text, asked.pairs, schema)))
    if call.name not in known:
        raise NotSo(no_such_tool(call.name, known))
    return explain(effective, call, asked.marks)


@frozen
class Tested:
    """One test and what came of it."""

    test: PolicyTest
    trace: Trace | None

    @property
    def ok(self) -> bool:
        wanted = self.test.expect.name.lower()
        return self.trace is not None and self.trace.verdict == wanted and self.test.rule in self.trace.rule

    @property
    def place(self) -> str:
        return self.test.place

    @property
    def told(self) -> str:
        wanted = self.test.expect.name.lower() + (f" by {self.test.rule}" if self.test.rule else "")
        if self.trace is None:
            return f"there is no tool {self.test.tool}; expected {wanted}"
        got = f"{self.trace.verdict} by {self.trace.rule}, because {self.trace.because}"
        return f"{self.test.tool}: expected {wanted}, got {got}"

    def as_json(self) -> JsonObject:
        trace = self.trace
        return {
            "place": self.place,
            "tool": self.test.tool,
            "expected": self.test.expect.name.lower(),
            "got": None if trace is None else trace.verdict,
            "rule": None if trace is None else trace.rule,
            "ok": self.ok,
            "because": self.test.because,
        }


def broken_files(choices: Choices) -> tuple[Problem, ...]:
    """What is wrong with files of rules; their examples are checked when they are read."""
    return read_policies(choices.load(), os.environ).problems


def count_examples(choices: Choices) -> int:
    """How many examples the rules in force hold; they were tried when the rules were read."""
    policies = read_policies(choices.load(), os.environ)
    return sum(len(rule.match) + len(rule.not_match) for rule in (*policies.rules, *policies.commands))


def run_tests(choices: Choices, modules: tuple[str, ...]) -> list[Tested]:
    """Decide every call of the files of tests, each from its own viewpoint."""
    config = choices.load()
    tests = read_policy_tests(config, os.environ)
    tools = _tools(config, modules, *(test.tool for test in tests))
    policies = read_policies(config, os.environ)
    sets: dict[Viewpoint, EffectiveSet] = {}
    results: list[Tested] = []
    for test in tests:
        viewpoint = Viewpoint(test.agent, test.mode, test.role)
        if viewpoint not in sets:
            sets[viewpoint] = effective_set(config, tools, viewpoint, policies)
        effective, call = sets[viewpoint], opened(ToolCall(test.tool, test.arguments))
        trace = explain(effective, call, test.run_marks) if call.name in effective.snapshot else None
        results.append(Tested(test, trace))
    return results


@frozen
class Checked:
    """The files of rules, and what is doubtful about the rules."""

    files: tuple[PolicyFile, ...]
    findings: tuple[Finding, ...]
    total: int

    def as_json(self) -> JsonObject:
        return {
            "ok": not any(file.problems for file in self.files),
            "files": [
                {
                    "path": str(file.path),
                    "layer": file.level.value,
                    "rules": len(file.rules),
                    "commands": len(file.commands),
                    "problems": [str(problem) for problem in file.problems],
                }
                for file in self.files
            ],
            "findings": [
                {"place": finding.place, "kind": finding.kind, "message": finding.message} for finding in self.findings
            ],
        }


def checked(choices: Choices, modules: tuple[str, ...]) -> Checked:
    """Every rule in force, looked at beside the others and beside the tools there are."""
    config = choices.load()
    policies = read_policies(config, os.environ)
    names = [tool.name for tool in _tools(config, modules)]
    written = [rule for rule in policies.rules if not _is_denying(rule.place, policies)]
    findings = [*lint(written, names), *_about_commands(policies)]
    return Checked(policies.files, tuple(findings), len(written) + len(policies.commands))


def _is_denying(place: str, policies: Policies) -> bool:
    return any(problem.place == place for problem in policies.problems)


def _about_commands(policies: Policies) -> list[Finding]:
    if not policies.commands:
        return []
    from toolcrib.policy.commands import CommandRules

    return [
        Finding(rule.place or rule.pattern, "narrow", warning.partition(": ")[2])
        for rule in policies.commands
        for warning in CommandRules((rule,)).warnings
    ]


async def suggestions(choices: Choices, times: int) -> list[Suggestion]:
    """What the journal says about people's habits."""
    from toolcrib.cli.records import all_events, records

    asked: dict[str, JsonObject] = {}
    answered: list[Answered] = []
    async with records(choices) as store:
        async for event in all_events(store, None):
            payload = event.payload or {}
            request_id = str(payload.get("request_id", ""))
            if event.type == EventType.PERMISSION_ASKED:
                asked[request_id] = payload
            elif event.type == EventType.PERMISSION_ANSWERED and request_id in asked:
                answer = str(payload.get("answer", "deny"))
                answered.append(Answered(asked.pop(request_id), answer, event.session_id, event.created_at))
    return suggest(answered, times)


def suggestion_text(found: Suggestion) -> str:
    """A rule to copy, with what speaks for it as a comment."""
    habit = found.habit
    sessions = counted(len(habit.sessions), "session")
    evidence = f"# approved {habit.allowed} times in {sessions}, {_day(habit.first)} to {_day(habit.last)}"
    return f"{evidence}\n# {', '.join(habit.requests[:3])}{' …' if len(habit.requests) > 3 else ''}\n{found.rule}"


def suggestion_json(found: Suggestion) -> JsonObject:
    habit = found.habit
    return {
        "rule": found.rule,
        "tool": habit.tool,
        "targets": [list(each) for each in habit.targets],
        "allowed": habit.allowed,
        "sessions": len(habit.sessions),
        "first": habit.first,
        "last": habit.last,
        "requests": habit.requests,
    }


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))


def _tools(config: Config, modules: tuple[str, ...], *names: str) -> Sequence[Tool]:
    """Tools to decide about; only servers that these names are of are started for it."""
    servers = {name.split(".")[1]: name for name in names if name.startswith("mcp.")}
    served = [tool for name in servers.values() for tool in served_tools(config, name)]
    return [*built_in(config), *load_tools(modules), *served]
