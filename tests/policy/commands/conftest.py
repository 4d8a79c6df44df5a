"""Commands as if every program were installed in /usr/bin."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolcrib.policy.commands import Command, CommandTarget, Whence, command_target, read_line


def command(words: tuple[str, ...], globs: frozenset[int] = frozenset()) -> Command:
    """A command found where its first word says; what lies below /p lies in the workspace."""
    usual = f"/usr/bin/{words[0].rsplit('/', 1)[-1]}"
    found = usual if "/" not in words[0] else words[0].replace("./", "/p/")
    whence = Whence.WORKSPACE if found.startswith("/p/") else Whence.SYSTEM
    return Command(words, found, usual, found, whence, "/p", globs)


@pytest.fixture
def target() -> Callable[[str], CommandTarget]:
    """A command line as a target."""

    def declare(text: str) -> CommandTarget:
        line = read_line(text)
        commands = tuple(command(segment.words, segment.globs) for segment in line.segments)
        return command_target(text, commands, line.trouble)

    return declare
