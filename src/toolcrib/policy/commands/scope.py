"""What an answer for the session covers: never more than one program in one folder."""

from __future__ import annotations

import shlex

from toolcrib.policy.commands.command import NEVER, Command, CommandTarget, Whence, names_of, runs_others
from toolcrib.policy.commands.reading import read_command
from toolcrib.policy.commands.words import Segment, read_line
from toolcrib.values.target import Target, TargetKind

_UNCHANGED = (Whence.SYSTEM, Whence.SHELL)
"""Where a program lies that no tool can have written."""


def command_target(text: str, commands: tuple[Command, ...], trouble: str = "") -> CommandTarget:
    """Declare a command line as one target, with the scope that an answer for the session would have."""
    return CommandTarget(TargetKind.COMMAND, text, scope_of(commands, trouble), frozenset(), commands, trouble)


def as_command_target(target: Target) -> CommandTarget:
    """A target of the kind command that was declared as mere text, read as a line; its programs are nowhere."""
    if isinstance(target, CommandTarget):
        return target
    line = read_line(target.value)
    commands = tuple(Command(part.words, None, None, None, Whence.NOWHERE, "/", part.globs) for part in line.segments)
    return CommandTarget(target.kind, target.value, "", target.marks, commands, line.trouble)


def example_target(text: str) -> CommandTarget:
    """The target of a command in an example: its programs are taken to be those of the system."""
    line = read_line(text)
    commands = tuple(_system_command(part) for part in line.segments)
    return CommandTarget(TargetKind.COMMAND, text, "", frozenset(), commands, line.trouble)


def scope_of(commands: tuple[Command, ...], trouble: str) -> str:
    """Program and folder, for some also the subcommand or the exact words; empty when nothing must be granted."""
    scopes = [_scope(command) for command in commands if command.whence is not Whence.SHELL or command.executable]
    if trouble or not scopes or not all(scopes):
        return ""
    return " | ".join(dict.fromkeys(scopes))


def _scope(command: Command) -> str:
    if command.whence not in _UNCHANGED or command.executable is None or command.executable != command.usual:
        return ""
    if runs_others(command) or names_of(command) & NEVER:
        return ""
    place = f"exe={command.executable} cwd={command.cwd}"
    reading = read_command(command)
    if reading.unknown:
        return f"{place} args={shlex.join(command.words[1:])}"
    if reading.trouble:
        return ""
    return f"{place} does={' '.join(reading.beyond)}" if reading.beyond else place


def _system_command(segment: Segment) -> Command:
    name = segment.words[0]
    usual = f"/usr/bin/{name.rsplit('/', 1)[-1]}"
    found = name if "/" in name else usual
    return Command(segment.words, found, usual, found, Whence.SYSTEM, "/", segment.globs)
