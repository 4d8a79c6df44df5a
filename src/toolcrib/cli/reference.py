"""The reference of every command, written from the commands themselves.

    python -m toolcrib.cli.reference docs/reference/cli.md

Without a path it is printed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from toolcrib.cli.command import Command
from toolcrib.cli.program import program

_OPENING = """\
# Command line reference

This page is generated from the code: `python -m toolcrib.cli.reference docs/reference/cli.md`.

Three options work on every command, before or after its name:

| Option | Meaning |
|---|---|
| `--home FOLDER` | Toolcrib's folder, instead of the environment variable `TOOLCRIB_HOME` or `~/.toolcrib`. |
| `--project FOLDER` | A project whose `toolcrib.toml` narrows the configuration. |
| `--json` | Print JSON for programs instead of text for people. |

Results go to standard output, everything else to standard error. Tables are drawn for a terminal when `rich` is
installed and are plain aligned text otherwise; a pipe never gets colour codes. On a terminal, characters that a tool
or a model could use to hide or reorder text are shown as escapes.

| Exit code | Meaning |
|---|---|
| 0 | Done. |
| 1 | The thing asked about is not so: it does not exist, does not hold, or did not work. |
| 2 | Wrong usage: arguments, configuration or tools cannot be used as given. |
| 3 | Denied, by a rule or by a person. |
| 130 | Interrupted with Ctrl-C. |

An error is one line on standard error: `toolcrib: what happened; what would work`. `toolcrib --version` prints the
version.
"""


def main() -> None:
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(reference_text(), encoding="utf-8")
    else:
        sys.stdout.write(reference_text())


def reference_text() -> str:
    """The whole page."""
    return "\n".join([_OPENING, *_pages(program, None)])


def _pages(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    """A command and everything below it, in the order in which help lists them."""
    name = command.name if parent else "toolcrib"
    with click.Context(command, parent=parent, info_name=name, **command.context_settings) as context:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                if (inner := command.get_command(context, name)) is not None:
                    yield from _pages(inner, context)
        else:
            yield from _page(command, context)


def _page(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"## {context.command_path}\n\n```\n{usage}\n```\n"
    yield f"{inspect.cleandoc(command.help or '')}\n"
    own = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    if own := [each for each in own if each.name != "json"]:
        yield "| Option | Meaning |\n|---|---|"
        yield from (_option(option) for option in own)
        yield ""
    if isinstance(command, Command):
        yield f"With `--json`: {command.json}\n"
    if command.epilog:
        lines = command.epilog.removeprefix("\b\nExample:\n").splitlines()
        yield "\n".join(["```sh", *(line.strip() for line in lines), "```", ""])


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    value = "" if option.is_flag else f" `{option.metavar or option.type.name.upper()}`"
    default = f" Default: {option.default}." if option.show_default else ""
    return f"| {names}{value} | {option.help}{default} |"


if __name__ == "__main__":
    main()
