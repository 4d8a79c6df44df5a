"""`toolcrib config`: what is set, and where it comes from."""

from __future__ import annotations

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import NotSo, hint
from toolcrib.cli.output import print_fields, print_json, print_table


@click.group(cls=Group)
def config() -> None:
    """Show the configuration in force."""


@config.command(
    epilog=examples("toolcrib config show tools", "toolcrib config show --changed --project ."),
    json="An array of `{key, value, source, default}`; `source` is empty where the default holds.",
)
@click.argument("key", default="")
@click.option("--changed", is_flag=True, help="Only what differs from the defaults.")
@click.pass_obj
def show(choices: Choices, key: str, changed: bool) -> None:
    """List every key with its value and where that comes from.

    KEY narrows the list: a whole key, or a section such as tools.
    """
    from toolcrib.config.rendering import toml

    rows = [row for row in choices.load().describe() if not key or f"{row.key}.".startswith(f"{key.rstrip('.')}.")]
    if not rows:
        raise NotSo(f"there is no key {key!r}; `toolcrib config show` lists all of them")
    rows = [row for row in rows if row.source] if changed else rows
    if not rows:
        hint("toolcrib: nothing is changed; all keys have their defaults")
    if choices.form is Form.JSON:
        print_json([{"key": row.key, "value": row.value, "source": row.source, "default": row.default} for row in rows])
    elif rows:
        print_table(("key", "value", "source"), [(row.key, toml(row.value), row.source or "default") for row in rows])


@config.command(
    epilog=examples("$EDITOR $(toolcrib config path)"),
    json="`{home, config, project, store, artifacts}`: paths, `project` is null without one; none of them need exist.",
)
@click.option("--all", "everything", is_flag=True, help="Also where the store and the artifacts are.")
@click.pass_obj
def path(choices: Choices, everything: bool) -> None:
    """Print where the configuration file is, or would be."""
    import os

    from toolcrib.config.home import Home, find_root

    if choices.form is Form.TEXT and not everything:
        # Without reading it: this is how a person finds the file that has to be mended.
        click.echo(Home.at(find_root(choices.home, os.environ)).config)
        return
    loaded = choices.load()
    home, project = loaded.home, loaded.project
    places = {
        "home": str(home.root),
        "config": str(home.config),
        "project": None if project is None else str(project / "toolcrib.toml"),
        "store": str(home.database),
        "artifacts": str(home.artifacts),
    }
    if choices.form is Form.JSON:
        print_json(places)
    else:
        print_fields((name, place or "none") for name, place in places.items())
