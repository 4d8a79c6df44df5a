"""Rules that deny look through everything: wrappers, shells within shells, programs spelt as patterns."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from toolcrib.policy.commands.command import (
    NEVER,
    SHELLS,
    WRAPPERS,
    CommandTarget,
    names_of,
    program_name,
    runs_its_input,
)
from toolcrib.policy.commands.rules import CommandRule
from toolcrib.policy.commands.words import loose_words, read_line

MAX_DEPTH = 4
MAX_WORDS = 500
"""Words of one command that are looked at one by one; in a longer one the denied words may stand anywhere."""
RUNNING_WORDS = {
    "docker": frozenset({"exec", "run"}),
    "podman": frozenset({"exec", "run"}),
    "kubectl": frozenset({"exec", "run"}),
    "git": frozenset({"foreach", "run", "-x", "--exec"}),
}
"""Subcommands after which, somewhere, the words of another command begin."""
RUNNING_FLAGS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"})


def is_denied(target: CommandTarget, rule: CommandRule) -> bool:
    """Whether a command line holds, anywhere in it, what the rule denies; what cannot be read counts against it."""
    if any(_holds(command.words, names_of(command), rule.words, 0) for command in target.commands):
        return True
    feeds_a_shell = len(target.commands) > 1 and any(
        names_of(command) & SHELLS and runs_its_input(command) for command in target.commands
    )
    return bool(target.trouble or feeds_a_shell) and _occurs(loose_words(target.value), rule.words)


def starts_another(names: frozenset[str], words: tuple[str, ...]) -> bool:
    """Whether a program is told, by a subcommand, to run another one."""
    return any(name in RUNNING_WORDS and not RUNNING_WORDS[name].isdisjoint(words) for name in names)


def runs_never(target: CommandTarget) -> bool:
    """Whether a command line runs, behind whatever wrappers and shells, a program that must ask every time."""
    return any(_holds(command.words, names_of(command), (name,), 0) for command in target.commands for name in NEVER)


def _holds(words: tuple[str, ...], names: frozenset[str], denied: tuple[str, ...], depth: int) -> bool:
    """Whether the words are, or would run, the denied command."""
    if depth > MAX_DEPTH:
        return True
    if len(words) > MAX_WORDS and _looks_through(words, names):
        return _occurs(loose_words(" ".join(words)), denied)
    if _is_named(names, denied[0]) and _follows(words[1:], denied[1:]):
        return True
    if names & SHELLS:
        return any(_line_holds(word, denied, depth) for word in words[1:])
    return any(_holds_inside(inner, denied, depth) for inner in _inner(words, names))


def _looks_through(words: tuple[str, ...], names: frozenset[str]) -> bool:
    return bool(names & (SHELLS | WRAPPERS)) or not RUNNING_FLAGS.isdisjoint(words) or starts_another(names, words)


def _inner(words: tuple[str, ...], names: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """What a wrapper could run: every tail of its words, since where its own options end only it knows."""
    if names & WRAPPERS:
        first = 1
        yield from ((word[2:],) for word in words if word.startswith("-S") and len(word) > 2)
    else:
        begins = frozenset[str]().union(*(RUNNING_WORDS.get(name, ()) for name in names))
        first = next((index + 1 for index, word in enumerate(words) if word in begins), len(words))
        yield from (words[index + 1 :] for index, word in enumerate(words[:first]) if word in RUNNING_FLAGS)
    for start in range(first, len(words)):
        yield words[start:]


def _holds_inside(words: tuple[str, ...], denied: tuple[str, ...], depth: int) -> bool:
    if not words:
        return False
    name = frozenset({program_name(words[0])})
    if _is_named(name, denied[0]) and _follows(words[1:], denied[1:]):
        return True
    if name & SHELLS or any(char.isspace() for char in words[0]):
        return any(_line_holds(word, denied, depth) for word in words)
    return False


def _line_holds(text: str, denied: tuple[str, ...], depth: int) -> bool:
    line = read_line(text)
    if line.trouble and _occurs(loose_words(text), denied):
        return True
    return any(
        _holds(segment.words, frozenset({program_name(segment.words[0])}), denied, depth + 1)
        for segment in line.segments
    )


def _is_named(names: frozenset[str], denied: str) -> bool:
    wanted = program_name(denied)
    return wanted in names or any(
        name == wanted or (set("*?[") & set(name) and fnmatchcase(wanted, name)) for name in names
    )


def _follows(words: tuple[str, ...], denied: tuple[str, ...]) -> bool:
    """Whether the denied words come next, perhaps after flags of the program itself and their values."""
    for start in range(len(words) + 1):
        if words[start : start + len(denied)] == denied:
            return True
        if start < len(words) and not words[start].startswith("-") and not (start and words[start - 1].startswith("-")):
            return False
    return False


def _occurs(words: list[str], denied: tuple[str, ...]) -> bool:
    """Whether the denied words occur in this order anywhere."""
    position = 0
    for word in words:
        if (program_name(word) == program_name(denied[0])) if position == 0 else word == denied[position]:
            position += 1
            if position == len(denied):
                return True
    return False
