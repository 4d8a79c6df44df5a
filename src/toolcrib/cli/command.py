"""Commands and groups with the options that all of them share, accepted anywhere on the line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolcrib.values.noun import frozen

if TYPE_CHECKING:
    from toolcrib.config import Config


F = TypeVar("F", bound=Callable[..., object])


NOWHERE: Mapping[str, str] = {}


class Form(StrEnum):
    """How results are printed."""

    TEXT = "text"
    JSON = "json"


@frozen
class Choices:
    """What the options shared by all commands say."""

    home: Path | None = None
    project: Path | None = None
    form: Form = Form.TEXT

    def load(self) -> Config:
        """The configuration in force here."""
        from toolcrib.config import load

        return load(self.home, self.project, None, os.environ)


class Command(click.Command):
    """A command with the shared options. `json` documents what `--json` prints."""

    def __init__(self, *arguments: Any, json: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.json = json
        self.params += _shared_options(hidden=True)


class Group(click.Group):
    """A group of commands with the shared options."""

    command_class = Command

    def __init__(self, *arguments: Any, places: Mapping[str, str] = NOWHERE, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.places = places
        self.params += _shared_options(hidden=True)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported when it is named if `places` (`module:attribute` by name) says where it is."""
        if cmd_name not in self.places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.places[cmd_name].partition(":")
        return getattr(import_module(module), attribute)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(_no_command(name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


class OpenGroup(Group):
    """A group that shows the shared options itself."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for option in self.params:
            if isinstance(option, click.Option):
                option.hidden = False


def module_option(command: F) -> F:
    """The option that says where tools come from."""
    return click.option(
        "--module", "-m", "modules", multiple=True, metavar="PLACE",
        help="A Python file or module with tools; may be repeated. Its code is run.",
    )(command)  # fmt: skip


def mode_option(command: F) -> F:
    """The option that says in which mode to look."""
    return click.option("--mode", metavar="MODE", help="As in a run in this mode: plan, accept_edits, dont_ask.")(
        command
    )


def examples(*lines: str) -> str:
    """The end of a help text: commands to copy."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def _shared_options(*, hidden: bool) -> list[click.Parameter]:
    folder = click.Path(path_type=Path)
    return [
        click.Option(
            ["--home"], type=folder, metavar="FOLDER", expose_value=False, callback=_set_home, hidden=hidden,
            help="Toolcrib's folder, instead of TOOLCRIB_HOME or ~/.toolcrib.",
        ),
        click.Option(
            ["--project"], type=folder, metavar="FOLDER", expose_value=False, callback=_set_project, hidden=hidden,
            help="A project whose toolcrib.toml narrows the configuration.",
        ),
        click.Option(
            ["--json"], is_flag=True, expose_value=False, callback=_set_form,
            help="Print JSON for programs instead of text for people.",
        ),
    ]  # fmt: skip


def _set_home(ctx: click.Context, option: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.obj = replace(ctx.obj, home=value)


def _set_project(ctx: click.Context, option: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.obj = replace(ctx.obj, project=value)


def _set_form(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        ctx.obj = replace(ctx.obj, form=Form.JSON)


def _no_command(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    would_work = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"there is no command {name[:60]!r}; {would_work}"
