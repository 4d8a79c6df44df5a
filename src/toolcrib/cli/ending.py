"""How a command ends: exit codes, and errors that a person can act on."""

from __future__ import annotations

from enum import IntEnum

import click

from toolcrib.values.visible import visible

NO_TOOLS = "no tools are loaded; name a Python file or module that has some, such as --module tools.py"


class Exit(IntEnum):
    """What the exit code of every command means."""

    DONE = 0
    NOT_SO = 1
    USAGE = 2
    DENIED = 3
    INTERRUPTED = 130


class NotSo(click.ClickException):
    """The thing asked about does not exist, does not hold, or did not work."""

    exit_code = Exit.NOT_SO


class Denied(click.ClickException):
    """A person or a rule said no."""

    exit_code = Exit.DENIED


def complain(message: str) -> None:
    """Tell what happened and what would work, each problem on a line of its own."""
    for line in message.splitlines():
        shown = visible(line.removeprefix("- "), keep="\t")
        click.echo(f"toolcrib: {shown}", err=True)


def hint(message: str) -> None:
    """Say something beside the result, where a pipe does not see it."""
    click.echo(message, err=True)
