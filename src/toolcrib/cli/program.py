"""The program: its commands, loaded when they are named, and how it ends."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import click

from toolcrib import __version__
from toolcrib.cli.command import Choices, OpenGroup, examples
from toolcrib.cli.ending import Exit, complain
from toolcrib.values.refusal import StoreError, ToolcribError

COMMANDS = {
    "tools": "toolcrib.cli.tools:tools",
    "toolkits": "toolcrib.cli.toolkits:toolkits",
    "agents": "toolcrib.cli.agents:agents",
    "trust": "toolcrib.cli.trust:trust",
    "policy": "toolcrib.cli.policy:policy",
    "mcp-servers": "toolcrib.cli.servers:servers",
    "guard": "toolcrib.cli.guard:guard",
    "sessions": "toolcrib.cli.sessions:sessions",
    "events": "toolcrib.cli.events:events",
    "artifacts": "toolcrib.cli.artifacts:artifacts",
    "approvals": "toolcrib.cli.approvals:approvals",
    "hooks": "toolcrib.cli.hooks:hooks",
    "config": "toolcrib.cli.config:config",
    "init": "toolcrib.cli.init:init",
    "doctor": "toolcrib.cli.doctor:doctor",
    "bench": "toolcrib.cli.bench:bench",
    "completion": "toolcrib.cli.completion:completion",
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program to its exit code. What a person can put right is told in one line; a bug shows its traceback."""
    _accept_any_text()
    try:
        outcome = program.main(arguments, prog_name="toolcrib", standalone_mode=False, obj=Choices())
        return int(outcome or Exit.DONE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        complain(_words(error))
        return error.exit_code
    except StoreError as error:
        complain(str(error))
        return Exit.NOT_SO
    except ToolcribError as error:
        complain(str(error))
        return Exit.USAGE
    except click.Abort:
        return Exit.INTERRUPTED


@click.group(
    cls=OpenGroup,
    places=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("toolcrib init", "toolcrib tools list", "toolcrib events --follow"),
)
@click.version_option(__version__, message="toolcrib %(version)s")
def program() -> None:
    """Tools for AI agents: kept, issued, checked and signed for.

    Exit codes: 0 done, 1 the thing asked about is not so, 2 wrong usage, 3 denied.
    """


def _words(error: click.ClickException) -> str:
    """A usage error in house style: what happened; what would work."""
    message = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    message = re.sub(
        r"\. \(Did you mean one of: (.*)\?\)", lambda found: f"; did you mean {_either(found[1])}?", message
    )
    if not isinstance(error, click.UsageError):
        return message
    message = message[:1].lower() + message[1:]
    if error.ctx is None or ";" in message:
        return message
    return f"{message}; see {error.ctx.command_path} --help"


def _either(names: str) -> str:
    return " or ".join(names.split(", "))


def _accept_any_text() -> None:
    """A character that the terminal's encoding lacks is shown escaped; it never ends the program."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
