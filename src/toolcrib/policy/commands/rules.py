"""Rules about commands: token prefixes with a verdict, checked by their own examples when they are loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from toolcrib.policy.commands.command import (
    INTERPRETERS,
    NEVER,
    SHELLS,
    WRAPPERS,
    Command,
    Whence,
    names_of,
    program_name,
    runs_its_input,
)
from toolcrib.policy.commands.profile import Value
from toolcrib.policy.commands.profiles import PROFILES
from toolcrib.policy.commands.reading import read_command
from toolcrib.policy.commands.words import hidden_character, read_line
from toolcrib.policy.layers import Layer
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

_RUNS_ANYTHING = SHELLS | INTERPRETERS | WRAPPERS


@frozen
class CommandRule:
    """A rule for commands that begin with these words: `git`, `git push`, `python -m pytest`.

    Words are compared whole. `flags` are further flags that the operator knows to be harmless (`--json`, or `--out=`
    with a value). `match` and `not_match` are commands that the rule must and must not cover; a rule that fails them
    is refused.
    """

    verdict: Verdict
    pattern: str
    flags: tuple[str, ...] = ()
    because: str = ""
    deny_message: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    layer: Layer = Layer.USER
    place: str = ""
    words: tuple[str, ...] = field(init=False, default_factory=tuple[str, ...])
    said: Decision = field(init=False, repr=False, compare=False)
    more: Mapping[str, Value] = field(init=False, repr=False, compare=False, default_factory=dict[str, Value])

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", pattern_words(self.pattern))
        object.__setattr__(self, "said", self._decision())
        object.__setattr__(self, "more", {_flag(flag): _value(flag) for flag in self.flags})
        for example in self.match:
            if not self._covers_example(example):
                raise ConfigError(f"the command rule {self.pattern!r} does not cover its own example {example!r}")
        for example in self.not_match:
            if self._covers_example(example):
                raise ConfigError(f"the command rule {self.pattern!r} covers {example!r}, which it must not")

    def names(self, command: Command) -> bool:
        """Whether the command's words begin with the rule's, by the program's exact name."""
        words, first, name = self.words, self.words[0], command.words[0]
        if len(words) > 1 and command.words[1 : len(words)] != words[1:]:
            return False
        if first.startswith("/"):
            return command.executable == first
        return (name.rsplit("/", 1)[-1] if "/" in name else name) == first

    def objection(self, command: Command) -> str | None:
        """Why a command that this rule names is still not covered by it; None when it is."""
        if names_of(command) & NEVER:
            return f"{command.program} is never pre-approved"
        if runs_its_input(command):
            return f"{command.program} alone runs what comes on its input; name what it is to run in the rule"
        if (objection := self._program_objection(command)) is not None:
            return objection
        if command.words[1:] == self.words[1:] and not command.globs and not names_of(command) & WRAPPERS:
            return None
        if len(self.words) == 1 and not self.flags and command.program not in PROFILES:
            return f"nothing is known about {command.program}; name the whole command in the rule"
        reading = read_command(command, self.words[1:], self.more)
        if reading.beyond:
            return f"the rule {self.pattern!r} does not name {' '.join((command.program, *reading.beyond))}"
        return reading.trouble or None

    def decision(self) -> Decision:
        return self.said

    def _decision(self) -> Decision:
        because = (
            self.because
            or f"a rule for commands that begin with {self.pattern.strip()!r} says {self.verdict.name.lower()}"
        )
        place = self.place or f"command rule {self.pattern.strip()!r}"
        return Decision(self.verdict, place, self.layer.name.lower(), because, self.deny_message)

    def _program_objection(self, command: Command) -> str | None:
        if self.words[0].startswith("/"):
            return None
        if command.whence is Whence.WORKSPACE:
            return f"{command.executable} lies in the workspace; name it by its whole path in the rule"
        if command.executable != command.usual:
            return f"{command.executable} is not the {command.program} of the search path"
        return None

    def _covers_example(self, example: str) -> bool:
        line = read_line(example)
        if line.trouble or len(line.segments) != 1:
            return False
        segment = line.segments[0]
        found = f"/usr/bin/{segment.words[0]}" if "/" not in segment.words[0] else segment.words[0]
        usual = f"/usr/bin/{segment.words[0].rsplit('/', 1)[-1]}"
        command = Command(segment.words, found, usual, found, Whence.SYSTEM, "/", segment.globs)
        if not self.names(command):
            return False
        return self.verdict is not Verdict.ALLOW or self.objection(command) is None


@frozen
class CommandRules:
    """All command rules in force."""

    rules: tuple[CommandRule, ...] = ()
    warnings: tuple[str, ...] = field(init=False, default=())
    """What an operator should know about the rules: such as a rule for an interpreter, which covers next to nothing."""
    programs: Mapping[Verdict, Mapping[str, tuple[CommandRule, ...]]] = field(
        init=False, repr=False, compare=False, default_factory=dict[Verdict, Mapping[str, "tuple[CommandRule, ...]"]]
    )
    """The rules that count, by verdict and by the name of their program, in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "warnings", tuple(_warnings(self.rules)))
        object.__setattr__(self, "programs", {verdict: _by_program(self.saying(verdict)) for verdict in Verdict})

    def saying(self, verdict: Verdict) -> Iterable[CommandRule]:
        """The rules with one verdict; an allow counts only from a layer that may allow."""
        for rule in self.rules:
            if rule.verdict is verdict and (verdict is not Verdict.ALLOW or rule.layer.may_allow):
                yield rule


def _by_program(rules: Iterable[CommandRule]) -> Mapping[str, tuple[CommandRule, ...]]:
    table: dict[str, list[CommandRule]] = {}
    for rule in rules:
        table.setdefault(program_name(rule.words[0]), []).append(rule)
    return {name: tuple(found) for name, found in table.items()}


def pattern_words(pattern: str) -> tuple[str, ...]:
    """The words of a pattern; ConfigError for one that would match everything or that is not plain words."""
    if hidden := hidden_character(pattern):
        raise ConfigError(f"the command pattern {pattern!r} holds the invisible character {hidden}")
    line = read_line(pattern)
    if not pattern.strip() or not line.segments:
        raise ConfigError(
            "a command pattern must name a program, such as 'git' or 'git status'; an empty one would match all"
        )
    words, globs = line.segments[0].words, line.segments[0].globs
    if globs or any(word.endswith(":*") for word in words):
        plain = pattern.strip().removesuffix("*").removesuffix(":").strip()
        hint = f"; write {plain!r}, which covers whatever follows" if plain else ""
        raise ConfigError(f"the command pattern {pattern!r} holds a wildcard, and patterns are plain words{hint}")
    if line.trouble or len(line.segments) > 1:
        raise ConfigError(
            f"the command pattern {pattern!r} must be the plain words that a command begins with: {line.trouble}"
        )
    if not words[0] or ("/" in words[0] and not words[0].startswith("/")):
        raise ConfigError(f"the command pattern {pattern!r} must name a program by its bare name or by its whole path")
    return words


def _flag(written: str) -> str:
    name = written.partition("=")[0]
    if not name.startswith("-") or name.strip("-") == "":
        raise ConfigError(f"{written!r} is not a flag: write '-q', '--json', or '--format=' for one with a value")
    return name


def _value(written: str) -> Value:
    return Value.TEXT if "=" in written else Value.NONE


def _warnings(rules: tuple[CommandRule, ...]) -> Iterable[str]:
    for rule in rules:
        if rule.verdict is not Verdict.ALLOW or len(rule.words) > 1:
            continue
        pattern, name = rule.pattern.strip(), program_name("".join(rule.words))
        if name in _RUNS_ANYTHING:
            yield f"{pattern!r}: {name} runs whatever it is given, so a rule for it alone covers next to nothing"
        elif name in NEVER:
            yield f"{pattern!r}: {name} is never pre-approved"
        elif name not in PROFILES:
            yield f"{pattern!r}: nothing is known about {name}, so the rule covers it only without arguments"
