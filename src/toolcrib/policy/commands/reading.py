"""A command read with its profile: which paths it would touch, and what about it nobody has declared harmless."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from toolcrib.policy.commands.command import Command
from toolcrib.policy.commands.profile import Depth, Descent, Dots, Links, Operands, Parsed, Profile, Style, Tier, Value
from toolcrib.policy.commands.profiles import PROFILES
from toolcrib.values.noun import frozen

GENERIC = Profile(MappingProxyType({}), Operands.READS)
NO_FLAGS: Mapping[str, Value] = MappingProxyType({})
LONGEST_SUBCOMMAND = 3
_EXPRESSION = frozenset({"(", ")", "!", ","})


@frozen
class Reading:
    """What a command would do as far as its profile knows.

    `beyond` is the subcommand that only a rule naming it covers; `unknown` says that the program has no profile.
    `descent` says of which folders it would show all that is below; `inside` are files that it would write if what it
    writes to is a folder.
    """

    trouble: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    unknown: bool = False
    descent: Descent | None = None
    inside: tuple[str, ...] = ()


def read_command(command: Command, named: tuple[str, ...] = (), more: Mapping[str, Value] = NO_FLAGS) -> Reading:
    """Read a command; `named` are the words after the program that a rule spells out, `more` the flags it adds."""
    profile = PROFILES.get(command.program)
    if profile is None and not named and not more:
        return Reading(f"there is no profile for {command.program}", command.words[1:], unknown=True)
    return _Reader(command, len(named) + 1, more, command.program).read(profile or GENERIC)


@dataclass(slots=True)
class _Reader:
    command: Command
    spelled_out: int
    """How many words, the program included, the rule spells out."""
    more: Mapping[str, Value]
    label: str
    trouble: str = ""
    dashed: bool = False
    beyond: tuple[str, ...] = ()
    operands: list[str] = field(default_factory=list[str])
    values: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    reads: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    inside: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])

    def read(self, profile: Profile) -> Reading:
        position, words = 1, self.command.words
        while position < len(words):
            if (length := self._subcommand(profile, position)) > 0:
                profile = self._enter(profile, position, length)
                position += length
            elif position < self.spelled_out:
                profile = GENERIC if profile.subcommands and words[position][:1] != "-" else profile
                position += 1
            else:
                profile, position = self._word(profile, position)
        self._sort_operands(profile)
        self._check(profile)
        descent = None if profile.depth is None else self._descent(profile.depth)
        reads, writes = tuple(dict.fromkeys(self.reads)), tuple(dict.fromkeys(self.writes))
        inside = tuple(dict.fromkeys(self.inside))
        return Reading(self.trouble, reads, writes, self.beyond, descent=descent, inside=inside)

    def _subcommand(self, profile: Profile, position: int) -> int:
        """How many words of a subcommand's name stand here."""
        if not profile.subcommands or self.operands or self.dashed:
            return 0
        words = self.command.words
        for length in range(LONGEST_SUBCOMMAND, 0, -1):
            if position + length <= len(words) and " ".join(words[position : position + length]) in profile.subcommands:
                return length
        return 0

    def _enter(self, profile: Profile, position: int, length: int) -> Profile:
        name = " ".join(self.command.words[position : position + length])
        inner = profile.subcommands[name]
        self.label = f"{self.label} {name}"
        if inner.tier is Tier.NAMED and position + length > self.spelled_out:
            self.beyond = tuple(self.label.split()[1:])
        return inner

    def _word(self, profile: Profile, position: int) -> tuple[Profile, int]:
        word = self.command.words[position]
        if word == "--" and not self.dashed:
            self.dashed = True
            return profile, len(self.command.words) if profile.passes else position + 1
        if word[:1] == "-" and word != "-" and not self.dashed:
            read_flag = self._predicate if profile.style is Style.WORDS else self._flag
            return profile, read_flag(profile, word, position)
        if profile.style is Style.WORDS and word in _EXPRESSION:
            return profile, position + 1
        if position in self.command.globs and word[0] in "*?[" and not (profile.any_flag or self.dashed):
            self._note(f"the pattern {word} could stand for a file that is named like a flag; write ./{word}")
        self.operands.append(word)
        if profile.subcommands and profile.operands is Operands.NOTHING:
            self._note(f"{self.label} {word} is not known to be harmless")
            return GENERIC, position + 1
        return profile, position + 1

    def _flag(self, profile: Profile, word: str, position: int) -> int:
        """Read the flag or cluster of flags at a position; gives the position of what follows it."""
        if position in self.command.globs:
            self._note(f"the flag {word} holds a pattern")
        if word.startswith("--"):
            name, glued, value = word.partition("=")
            return self._take(profile, name, value if glued else None, position)
        if self._known(profile, word) is not None:
            return self._take(profile, word, None, position)
        if word[1:].isdigit() and self._known(profile, "-#") is not None:
            return position + 1
        for index in range(1, len(word)):
            name = f"-{word[index]}"
            kind = self._known(profile, name)
            if kind is None:
                self._harm(profile, name)
                return position + 1
            if kind is not Value.NONE:
                return self._take(profile, name, word[index + 1 :] or None, position)
        return position + 1

    def _predicate(self, profile: Profile, word: str, position: int) -> int:
        return self._take(profile, word, None, position)

    def _take(self, profile: Profile, name: str, glued: str | None, position: int) -> int:
        kind = self._known(profile, name)
        if kind is None:
            self._harm(profile, name)
            return position + 1
        if kind is Value.NONE:
            if glued is not None:
                self._note(f"{self.label} {name} takes no value")
            return position + 1
        if glued is not None:
            self._value(name, kind, glued)
            return position + 1
        if kind is Value.OPTIONAL:
            return position + 1
        if kind is Value.PAIR:
            return position + 3
        if position + 1 < len(self.command.words):
            self._value(name, kind, self.command.words[position + 1])
        return position + 2

    def _value(self, name: str, kind: Value, value: str) -> None:
        self.values.append((name, value))
        if kind is Value.READ:
            self.reads.append(value)
        elif kind is Value.WRITE:
            self.writes.append(value)

    def _sort_operands(self, profile: Profile) -> None:
        operands = self.operands
        match profile.operands:
            case Operands.READS:
                self.reads += operands
            case Operands.WRITES:
                self.writes += operands
            case Operands.TEXT_THEN_READS:
                self.reads += operands if profile.instead & self.seen else operands[1:]
            case Operands.READS_THEN_WRITE:
                self.reads += operands[:-1]
                self.writes += operands[-1:]
                self.inside = [f"{operands[-1]}/{name.rstrip('/').rsplit('/', 1)[-1]}" for name in operands[:-1]]
            case Operands.NOTHING:
                if operands:
                    self._note(f"{self.label} with {operands[0]!r} is not known to be harmless")
            case Operands.TEXT:
                pass

    def _descent(self, depth: Depth) -> Descent | None:
        """What is read to the bottom: the paths that are named, or where the command runs when none is."""
        if depth.flags and not self.seen & depth.flags:
            return None
        only = tuple(value for name, value in self.values if name in depth.only and not value.startswith("!"))
        dots = Dots.SHOWN if only or depth.dots is None or self.seen & depth.dots else Dots.PASSED
        links = Links.FOLLOWED if depth.links is None or self.seen & depth.links else Links.LEFT
        return Descent(tuple(dict.fromkeys(self.reads)) or (".",), dots, links, only)

    def _check(self, profile: Profile) -> None:
        if profile.check is not None and not self.trouble:
            found = profile.check(Parsed(tuple(self.operands), tuple(self.values)))
            if found is not None:
                self._note(f"{self.label}: {found}")

    def _known(self, profile: Profile, name: str) -> Value | None:
        self.seen.add(name)
        kind = profile.flags.get(name)
        return self.more.get(name) if kind is None else kind

    def _harm(self, profile: Profile, name: str) -> None:
        self._note(f"{self.label} {name} {profile.hazards.get(name, 'is not a flag known to be harmless')}")

    def _note(self, trouble: str) -> None:
        self.trouble = self.trouble or trouble
