"""Which program each part of a command line is, and in which folder it would run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from toolcrib.policy.commands import Command, Line, Segment, Whence, read_command
from toolcrib.toolsets.shell.services import CommandServices
from toolcrib.values.refusal import Reason, Refusal

IDLE = frozenset({":", "true", "false", "pwd", "echo"})
"""What a shell does itself without touching a file. `printf` is not among them: its -v evaluates what it is given."""
_SURE = frozenset({"&&", "|"})


def line_commands(services: CommandServices, line: Line, cwd: str) -> tuple[tuple[Command, ...], str]:
    """The commands of a line, each in the folder where it would run, and why they cannot be told for certain."""
    return _Walk(services, line, cwd, line.trouble).walk()


def find_command(
    services: CommandServices, words: tuple[str, ...], cwd: str, globs: frozenset[int] = frozenset()
) -> Command:
    """Find the file that the first word stands for, and what its bare name would find."""
    if not words or not words[0] or "\0" in words[0]:
        raise Refusal(Reason.VALIDATION_ERROR, "a command needs the name of a program as its first word")
    first = words[0]
    usual = _search(os.path.basename(first), services.environment.get("PATH", ""))
    found = _exact(os.path.join(cwd, first)) if "/" in first else usual
    if found is None:
        return Command(words, None, usual, None, Whence.NOWHERE, cwd, globs)
    real = os.path.realpath(found)
    inside = services.ground().places.is_workspace(found) or services.ground().places.is_workspace(real)
    return Command(words, found, usual, real, Whence.WORKSPACE if inside else Whence.SYSTEM, cwd, globs)


@dataclass(slots=True)
class _Walk:
    """Goes through a line as the shell would, from folder to folder.

    After a `cd`, only `&&` and pipes leave no doubt about the folder: behind `;` and `||` it may have failed.
    """

    services: CommandServices
    line: Line
    cwd: str
    trouble: str
    moved: bool = False
    sure: bool = True
    commands: list[Command] = field(default_factory=list[Command])

    def walk(self) -> tuple[tuple[Command, ...], str]:
        piped = any(part.before == "|" for part in self.line.segments)
        previous = ""
        for part in self.line.segments:
            command = find_command(self.services, part.words, self.cwd, part.globs)
            if self.moved and not self.sure:
                self._note("where it runs depends on whether `cd` worked; join what follows a `cd` with &&")
            if part.words[0] == "cd" and not self.trouble:
                command = replace(command, whence=Whence.SHELL)
                self._enter(part, previous)
            elif not self.trouble and not piped and _is_idle(command):
                command = replace(command, whence=Whence.SHELL)
            elif command.whence is Whence.NOWHERE:
                self._note(f"there is no program {part.words[0]!r} on the search path")
            self.commands.append(command)
            previous = part.before
            self.sure = self.sure and previous in _SURE
        return tuple(self.commands), self.trouble

    def _enter(self, part: Segment, previous: str) -> None:
        folder = self._folder(part)
        if folder is None:
            self._note("`cd` leads elsewhere than to a folder of the workspace that is named plainly")
        elif not self.sure or "|" in (previous, part.before):
            self._note("whether `cd` counts for what follows is not certain; begin with it and join the rest with &&")
        else:
            self.cwd, self.moved = folder, True

    def _folder(self, part: Segment) -> str | None:
        """Where a `cd` leads: no options, no links, nothing that the environment decides."""
        if (
            len(part.words) != 2
            or part.globs
            or part.words[1][:1] in ("", "-")
            or "CDPATH" in self.services.environment
        ):
            return None
        joined = os.path.join(self.cwd, part.words[1])
        folder = os.path.normpath(joined)
        if os.path.realpath(joined) != folder or not os.path.isdir(folder):
            return None
        return folder if self.services.ground().places.working(folder) is None else None

    def _note(self, trouble: str) -> None:
        self.trouble = self.trouble or trouble


def _is_idle(command: Command) -> bool:
    if command.words[0] not in IDLE or command.globs or command.whence is Whence.WORKSPACE:
        return False
    return command.words == (":",) or not read_command(command).trouble


def _search(name: str, search_path: str) -> str | None:
    for folder in search_path.split(os.pathsep):
        if os.path.isabs(folder) and (found := _exact(os.path.join(folder, name))) is not None:
            return found
    return None


def _exact(path: str) -> str | None:
    """An executable file, with the links in its folder's path resolved and its own name kept."""
    path = os.path.normpath(path)
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return None
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
