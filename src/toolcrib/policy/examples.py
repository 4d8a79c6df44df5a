"""Examples of a rule: calls that it must and must not cover, checked when the rule is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from toolcrib.policy.names import compile_pattern
from toolcrib.policy.paths import anchored
from toolcrib.values.json import Json, canonical
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError
from toolcrib.values.spec import NOTHING
from toolcrib.values.target import Target, TargetKind

if TYPE_CHECKING:
    from toolcrib.policy.rules import Rule


@frozen
class Example:
    """A call in short. What it leaves out about the tool and the run is as the rule wants it; what it leaves out about
    targets and arguments is not there."""

    tool: str = ""
    arguments: Mapping[str, Json] = field(default=NOTHING, hash=False)
    path: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    resource: tuple[str, ...] = ()
    run_marks: frozenset[str] = frozenset()

    def targets(self) -> Sequence[Target]:
        plain = (
            (TargetKind.PATH, tuple(map(anchored, self.path))),
            (TargetKind.HOST, self.host),
            (TargetKind.AGENT, self.agent),
            (TargetKind.RESOURCE, self.resource),
        )
        found: list[Target] = [Target(kind, value) for kind, values in plain for value in values]
        if self.command:
            from toolcrib.policy.commands.scope import example_target

            found += map(example_target, self.command)
        return found

    def __str__(self) -> str:
        said = {
            "tool": self.tool, "path": self.path, "host": self.host, "command": self.command, "agent": self.agent,
            "resource": self.resource, "arguments": self.arguments, "run_marks": sorted(self.run_marks),
        }  # fmt: skip
        return canonical({name: value for name, value in said.items() if value})


def check_examples(rule: Rule) -> None:
    """Refuse a rule that does not cover what it says it covers, or covers what it says it does not."""
    for example in rule.match:
        if not is_covered(rule, example):
            raise ConfigError(f"the rule does not cover its own example {example}")
    for example in rule.not_match:
        if is_covered(rule, example):
            raise ConfigError(f"the rule covers {example}, which it must not")


def is_covered(rule: Rule, example: Example) -> bool:
    """Whether the rule would apply to the call that an example describes."""
    if example.tool and not any(compile_pattern(name).fullmatch(example.tool) for name in rule.names):
        return False
    marks = rule.run_marks if not example.run_marks else example.run_marks
    return rule.covers(example.arguments, example.targets(), marks)
