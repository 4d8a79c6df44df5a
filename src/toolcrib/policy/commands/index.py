"""Which command rules could be about a command, found by the programs it would run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from toolcrib.policy.commands.command import SHELLS, WRAPPERS, Command, CommandTarget, names_of
from toolcrib.policy.commands.denied import RUNNING_FLAGS, starts_another
from toolcrib.policy.commands.rules import CommandRule, CommandRules
from toolcrib.policy.verdict import Verdict
from toolcrib.values.target import Target

_LOOKS_THROUGH = SHELLS | WRAPPERS
_GLOBS = frozenset("*?[")


def programs_in(target: Target) -> frozenset[str] | None:
    """Every program that a command line could run; None when it could run any, through a shell or in disguise."""
    if not isinstance(target, CommandTarget) or target.trouble:
        return None
    names: frozenset[str] = frozenset()
    for command in target.commands:
        own = names_of(command)
        if not _is_plain(own) or not RUNNING_FLAGS.isdisjoint(command.words) or starts_another(own, command.words):
            return None
        names = names | own if names else own
    return names


def meant(
    rules: CommandRules, verdict: Verdict, target: CommandTarget, names: frozenset[str] | None
) -> Iterable[CommandRule]:
    """The rules with this verdict that could be about a command line with these programs, in order."""
    if names is None:
        return rules.saying(verdict)
    table = rules.programs[verdict]
    found = table.get(next(iter(names)), ()) if len(names) == 1 else _of_all(table, names)
    words = [word for command in target.commands for word in command.words]
    return [rule for rule in found if len(rule.words) == 1 or rule.words[1] in words]


def naming(rules: CommandRules, command: Command) -> list[CommandRule]:
    """The rules that allow commands which begin like this one, the shortest first."""
    table = rules.programs[Verdict.ALLOW]
    named = [rule for name in names_of(command) for rule in table.get(name, ()) if rule.names(command)]
    return sorted(named, key=lambda rule: len(rule.words)) if len(named) > 1 else named


@lru_cache(maxsize=1_024)
def _is_plain(names: frozenset[str]) -> bool:
    """Whether a program of these names runs nothing but itself, and is not spelt as a pattern."""
    return names.isdisjoint(_LOOKS_THROUGH) and _GLOBS.isdisjoint("".join(names))


def _of_all(table: Mapping[str, tuple[CommandRule, ...]], names: frozenset[str]) -> Iterable[CommandRule]:
    return (rule for name in sorted(names) for rule in table.get(name, ()))
