"""What rules say about the commands a call would run."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.policy.commands.command import Command, CommandTarget, Whence
from toolcrib.policy.commands.denied import is_denied
from toolcrib.policy.commands.index import meant, naming, programs_in
from toolcrib.policy.commands.rules import CommandRules
from toolcrib.policy.commands.words import hidden_character
from toolcrib.policy.layers import SHIPPED, Layer
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.target import Target


def decide_commands(rules: CommandRules, targets: Sequence[Target]) -> Decision | None:
    """The decision about every command among the targets; None when a call runs no command.

    It is the whole decision about the command: an ALLOW comes from an operator's rule that names it. What other rules
    and marked targets say is to be combined with it, strictest first.
    """
    found = [_decide(rules, target) for target in targets if isinstance(target, CommandTarget)]
    return max(found, key=lambda decision: decision.verdict) if found else None


def _decide(rules: CommandRules, target: CommandTarget) -> Decision:
    names = programs_in(target)
    for verdict in (Verdict.DENY, Verdict.ASK):
        for rule in meant(rules, verdict, target, names):
            if is_denied(target, rule):
                return rule.decision()
    if target.declared and all(command.whence is not Whence.WORKSPACE for command in target.commands):
        because = "the operator declared this command, as one that only reads"
        return Decision(Verdict.ALLOW, target.declared, Layer.USER.name.lower(), because)
    if target.trouble:
        return _asks(f"the command cannot be checked part by part: {target.trouble}")
    covered = [_covered(rules, command) for command in target.commands]
    doubt = next((decision for decision in covered if decision.verdict is not Verdict.ALLOW), None)
    if doubt is not None or not covered:
        return doubt or _asks("it names no command")
    return next((decision for decision in covered if decision.layer != SHIPPED), covered[0])


def _covered(rules: CommandRules, command: Command) -> Decision:
    """ALLOW by the first rule that covers the command, else ASK with the nearest rule's objection."""
    if hidden := hidden_character(command.words[0]):
        return _asks(f"the name of the program holds the invisible character {hidden}")
    named = naming(rules, command)
    if command.whence is Whence.NOWHERE and named and "/" not in command.words[0]:
        because = f"there is no program {command.words[0]!r}, so nothing can run"
        return Decision(Verdict.ALLOW, "default", "shipped", because)
    objections: list[str] = []
    for rule in named:
        objection = rule.objection(command)
        if objection is None:
            return rule.decision()
        objections.append(objection)
    if command.whence is Whence.SHELL and rules.programs[Verdict.ALLOW]:
        return Decision(
            Verdict.ALLOW, "default", "shipped", f"{command.words[0]} is the shell's own and changes nothing"
        )
    return _asks(objections[-1] if objections else f"no rule covers the command {command.text[:200]!r}")


def _asks(because: str) -> Decision:
    return Decision(Verdict.ASK, "default", "shipped", because)
