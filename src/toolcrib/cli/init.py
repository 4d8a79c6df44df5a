"""`toolcrib init`: a home to start with."""

from __future__ import annotations

import os

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.output import print_json


@click.command(
    cls=Command,
    epilog=examples("toolcrib init", "toolcrib init --home /srv/agents/toolcrib"),
    json="`{home, made}`: the folder, and the paths that were made; empty when all was there.",
)
@click.pass_obj
def init(choices: Choices) -> None:
    """Make Toolcrib's folder, with a commented config.toml in it.

    Makes what is missing, for you alone to read; never changes what is there.
    """
    from toolcrib.config.home import Home, find_root
    from toolcrib.config.starter import init_home

    root = find_root(choices.home, os.environ)
    made = init_home(root)
    if choices.form is Form.JSON:
        print_json({"home": str(root), "made": [str(path) for path in made]})
        return
    for path in made:
        click.echo(f"made {path}")
    if not made:
        click.echo(f"{root} is complete; nothing was changed.")
    else:
        click.echo(f"Settings are in {Home.at(root).config}; `toolcrib doctor` checks them.")
