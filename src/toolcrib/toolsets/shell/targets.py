"""From the arguments of a call to what it would run and touch; looks at files, changes nothing."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from glob import has_magic

from toolcrib.policy.commands import Command, CommandTarget, command_target, read_command, read_line
from toolcrib.toolsets.shell.programs import find_command, line_commands
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import Target, TargetKind
from toolcrib.values.tool import Arguments

MAX_PATTERNS = 100
"""Words with a pattern that are looked up; a command with more could name anything in its folder."""


def argv_targets(services: CommandServices, arguments: Arguments) -> Sequence[Target]:
    """What a call with `argv` would run and touch."""
    words = tuple(str(word) for word in _list(arguments.get("argv")))
    cwd = working_folder(services, arguments.get("cwd"))
    command = find_command(services, words, cwd)
    return _with_places(services, command_target(shlex.join(words), (command,)), cwd)


def line_targets(services: CommandServices, arguments: Arguments) -> Sequence[Target]:
    """What a call with a shell line would run and touch."""
    text = str(arguments.get("command", ""))
    cwd = working_folder(services, arguments.get("cwd"))
    commands, trouble = line_commands(services, read_line(text), cwd)
    return _with_places(services, command_target(text, commands, trouble), cwd)


def command_of(targets: Sequence[Target]) -> CommandTarget:
    """The declared command of a call."""
    found = next((target for target in targets if isinstance(target, CommandTarget)), None)
    if found is None:
        raise Refusal(Reason.INTERNAL_ERROR, "the call declared no command")
    return found


def working_folder(services: CommandServices, given: Json) -> str:
    """The folder a command runs in: the project, or a folder named from there."""
    if given is None or given == "":
        return services.ground().root
    text = str(given)
    if "\0" in text:
        raise Refusal(Reason.VALIDATION_ERROR, "cwd holds a NUL character")
    return os.path.normpath(os.path.join(services.ground().root, text))


def _with_places(services: CommandServices, target: CommandTarget, cwd: str) -> Sequence[Target]:
    found: dict[str, Target] = {}
    if (outside := services.ground().places.working(cwd)) is not None:
        found[outside.value] = outside
    for command in target.commands:
        for place in _places(services, command):
            found.setdefault(place.value, place)
    return (target, *found.values())


def _places(services: CommandServices, command: Command) -> Iterator[Target]:
    """Marked paths that a command names. Where its flags are not understood, every word is looked at for secrets."""
    places, reading = services.ground().places, read_command(command)
    if sum(map(has_magic, command.words)) > MAX_PATTERNS:
        yield Target(TargetKind.PATH, command.cwd, "", frozenset({"sensitive"}))
        return
    inside = [path for path in reading.inside if os.path.isdir(os.path.join(command.cwd, os.path.dirname(path)))]
    for path in (*reading.writes, *inside):
        if (target := places.writing(path, command.cwd)) is not None:
            yield target
    if reading.descent is not None and (target := places.below(reading.descent, command.cwd)) is not None:
        yield target
    if not reading.trouble:
        for path in reading.reads:
            for part in _parts(path):
                if (target := places.reading(part, command.cwd)) is not None:
                    yield target
        return
    for word in command.words[1:]:
        for part in _parts(word):
            target = places.reading(part, command.cwd)
            if target is not None and "sensitive" in target.marks:
                yield target


def _parts(word: str) -> Iterator[str]:
    """What in a word could be a path: all of it, what follows `=`, `@` or `:`, and what is glued to a short flag."""
    if "\0" in word or len(word) > 4_096:
        return
    yield word
    for separator in "=@:":
        if separator in word:
            yield word.split(separator, 1)[1].lstrip("@")
    if len(word) > 2 and word[0] == "-" and word[1] != "-":
        yield word[2:]


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
