"""The reference page is what the commands say of themselves, and every command says enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from toolcrib.cli.command import Command
from toolcrib.cli.program import program
from toolcrib.cli.reference import reference_text

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command, info_name=path)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, f"{path} {name}")


COMMANDS = dict(commands(program, "toolcrib"))


def test_the_reference_page_is_current() -> None:
    assert PAGE.read_text() == reference_text(), "run: python -m toolcrib.cli.reference docs/reference/cli.md"


def test_these_are_the_commands() -> None:
    assert list(COMMANDS) == [
        "toolcrib tools list",
        "toolcrib tools show",
        "toolcrib tools call",
        "toolcrib tools search",
        "toolcrib tools cost",
        "toolcrib tools forget",
        "toolcrib tools add-command",
        "toolcrib tools validate",
        "toolcrib toolkits list",
        "toolcrib toolkits on",
        "toolcrib toolkits off",
        "toolcrib agents list",
        "toolcrib agents show",
        "toolcrib trust add",
        "toolcrib trust list",
        "toolcrib trust revoke",
        "toolcrib policy explain",
        "toolcrib policy test",
        "toolcrib policy check",
        "toolcrib policy suggest",
        "toolcrib mcp-servers list",
        "toolcrib mcp-servers add",
        "toolcrib mcp-servers import",
        "toolcrib mcp-servers test",
        "toolcrib guard tools",
        "toolcrib guard mismatches",
        "toolcrib guard diff",
        "toolcrib guard snapshot",
        "toolcrib guard approve-contract",
        "toolcrib guard topology",
        "toolcrib guard approve-edge",
        "toolcrib guard lock",
        "toolcrib guard unlock",
        "toolcrib sessions list",
        "toolcrib sessions show",
        "toolcrib sessions undo",
        "toolcrib sessions verify",
        "toolcrib sessions purge",
        "toolcrib events",
        "toolcrib artifacts show",
        "toolcrib approvals list",
        "toolcrib approvals show",
        "toolcrib approvals approve",
        "toolcrib approvals deny",
        "toolcrib hooks list",
        "toolcrib hooks test",
        "toolcrib config show",
        "toolcrib config path",
        "toolcrib init",
        "toolcrib doctor",
        "toolcrib bench",
        "toolcrib completion",
    ]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_an_example_a_documented_json_form_and_the_shared_options(path: str) -> None:
    command = COMMANDS[path]
    assert isinstance(command, Command)
    assert "toolcrib " in (command.epilog or "")
    assert command.json.endswith(".")
    assert {"home", "project", "json"} <= {parameter.name for parameter in command.params}


@pytest.mark.parametrize("path", COMMANDS)
def test_what_a_command_is_for_fits_beside_its_name(path: str) -> None:
    assert not COMMANDS[path].get_short_help_str(limit=60).endswith("...")


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_says_what_it_does(path: str) -> None:
    options = [parameter for parameter in COMMANDS[path].params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []
