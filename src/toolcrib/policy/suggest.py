"""Rules that would save questions: what people approved again and again, as narrow as they approved it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from toolcrib.policy.names import is_exact
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.target import TargetKind

ENOUGH = 3
Thing = tuple[str, tuple[tuple[str, str], ...]]
"""A tool, and kind and value of everything it would touch."""
_KEYS = {
    TargetKind.PATH.value: "path",
    TargetKind.HOST.value: "host",
    TargetKind.COMMAND.value: "command",
    TargetKind.AGENT.value: "target_agent",
    TargetKind.RESOURCE.value: "resource",
}


@dataclass(slots=True)
class Habit:
    """One thing that was asked about: how often it was allowed and refused, when, and in which sessions."""

    tool: str
    targets: tuple[tuple[str, str], ...]
    allowed: int = 0
    denied: int = 0
    sessions: set[str] = field(default_factory=set[str])
    first: float = 0.0
    last: float = 0.0
    requests: list[str] = field(default_factory=list[str])


@frozen
class Suggestion:
    """A rule as text, and what speaks for it."""

    rule: str
    habit: Habit


@frozen
class Answered:
    """A question from the journal with the answer it got."""

    request: JsonObject
    answer: str
    session_id: str
    at: float


def suggest(answered: Iterable[Answered], enough: int = ENOUGH) -> list[Suggestion]:
    """Narrow rules for what was allowed at least this often and never refused, the most frequent first."""
    exact: dict[Thing, Habit] = {}
    folders: dict[Thing, Habit] = {}
    for each in answered:
        if (thing := _thing(each.request)) is not None:
            _count(exact.setdefault(thing, Habit(*thing)), each)
            if (around := _folder(thing)) is not None:
                _count(folders.setdefault(around, Habit(*around)), each)
    wide = [habit for habit in folders.values() if _is_steady(habit, enough) and _members(habit, exact) > 1]
    covered = {(habit.tool, habit.targets) for habit in wide}
    steady = [habit for thing, habit in exact.items() if _is_steady(habit, enough) and _folder(thing) not in covered]
    found = [Suggestion(rule, habit) for habit in (*wide, *steady) if (rule := rule_text(habit)) is not None]
    return sorted(found, key=lambda each: (-each.habit.allowed, each.habit.tool, each.habit.targets))


def _is_steady(habit: Habit, enough: int) -> bool:
    return habit.allowed >= enough and not habit.denied


def _folder(thing: Thing) -> Thing | None:
    """The same for whatever lies directly in the folder of a path."""
    tool, targets = thing
    if len(targets) != 1 or targets[0][0] != TargetKind.PATH.value:
        return None
    folder = targets[0][1].rpartition("/")[0]
    return (tool, ((TargetKind.PATH.value, f"{folder}/*"),)) if folder.count("/") > 1 else None


def _members(habit: Habit, exact: Mapping[Thing, Habit]) -> int:
    around = (habit.tool, habit.targets)
    return sum(_folder(thing) == around for thing in exact)


def rule_text(habit: Habit) -> str | None:
    """The rule that would have answered; None where no rule should: shells, interpreters, and what names no target."""
    commands = [value for kind, value in habit.targets if kind == TargetKind.COMMAND.value]
    if commands and len(habit.targets) == len(commands):
        patterns = [_command_pattern(command) for command in commands]
        return None if None in patterns or len(patterns) != 1 else _command_rule(str(patterns[0]), habit)
    if commands or not habit.targets or not is_exact(habit.tool):
        return None
    kinds: dict[str, list[str]] = {}
    for kind, value in habit.targets:
        if kind not in _KEYS:
            return None
        kinds.setdefault(_KEYS[kind], []).append(value)
    lines = ["[[rules]]", f"tool = {_quoted(habit.tool)}"]
    lines += [f"{key} = {_listed(values)}" for key, values in kinds.items()]
    return "\n".join([*lines, 'verdict = "allow"', f"because = {_quoted(_because(habit))}"])


def _command_rule(pattern: str, habit: Habit) -> str:
    because = f"because = {_quoted(_because(habit))}"
    return "\n".join(["[[commands]]", f"pattern = {_quoted(pattern)}", 'verdict = "allow"', because])


def _command_pattern(text: str) -> str | None:
    """The whole command as a rule: nothing is left open. None for what must be asked about every time."""
    from toolcrib.policy.commands.rules import CommandRule
    from toolcrib.policy.commands.scope import example_target, scope_of
    from toolcrib.policy.verdict import Verdict
    from toolcrib.values.refusal import ConfigError

    target = example_target(text)
    if not scope_of(target.commands, target.trouble) or len(target.commands) != 1:
        return None
    try:
        return CommandRule(Verdict.ALLOW, text.strip(), match=(text.strip(),)).pattern
    except ConfigError:
        return None


def _thing(request: JsonObject) -> Thing | None:
    """What was asked about: the tool and everything it would touch."""
    tool, targets = request.get("tool"), request.get("targets")
    if not isinstance(tool, str) or not isinstance(targets, Sequence) or isinstance(targets, str):
        return None
    if request.get("grant_scope") is None:
        return None
    found = [_target(each) for each in targets]
    return None if None in found else (tool, tuple(sorted(each for each in found if each is not None)))


def _target(recorded: Json) -> tuple[str, str] | None:
    """Kind and value of a recorded target."""
    if not isinstance(recorded, Sequence) or isinstance(recorded, str) or len(recorded) < 2:
        return None
    if len(recorded) > 3 and recorded[3]:
        return None  # a marked thing is asked about on purpose
    kind, value = recorded[0], recorded[1]
    return (kind, value) if isinstance(kind, str) and isinstance(value, str) else None


def _count(habit: Habit, answered: Answered) -> None:
    if answered.answer == "deny":
        habit.denied += 1
    else:
        habit.allowed += 1
    habit.sessions.add(answered.session_id)
    habit.first = min(habit.first or answered.at, answered.at)
    habit.last = max(habit.last, answered.at)
    if isinstance(request_id := answered.request.get("request_id"), str):
        habit.requests.append(request_id)


def _because(habit: Habit) -> str:
    sessions = f"{len(habit.sessions)} session{'s' if len(habit.sessions) != 1 else ''}"
    return f"approved {habit.allowed} times in {sessions}, never refused"


def _listed(values: list[str]) -> str:
    return _quoted(values[0]) if len(values) == 1 else f"[{', '.join(map(_quoted, values))}]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
