"""`toolcrib toolkits`: one switch for a bundle of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import hint
from toolcrib.cli.output import print_heading, print_json, print_table
from toolcrib.cli.tools import module_option

if TYPE_CHECKING:
    from toolcrib.cli.switching import Kit

KIT_SHAPE = (
    "{key, label, description, switch, place, roles, on, members}`, each member "
    "`{name, title, description, effect, start, exists, on, because}"
)


@click.group(cls=Group)
def toolkits() -> None:
    """Look at toolkits, and switch them or single tools on and off."""


@toolkits.command(
    "list",
    epilog=examples("toolcrib toolkits list", "toolcrib toolkits list --agent writer --json"),
    json=f"`{{agent, toolkits, sub_apps}}`; each toolkit is `{KIT_SHAPE}`. `switch` is true, false or null where none "
    "is set, `on` counts the members that are. Each sub-app is `{id, agents, tools}`. There is no code in it, so that "
    "any client can draw the switches.",
)
@click.argument("key", default="")
@click.option("--agent", default="main", show_default=True, metavar="NAME", help="Whose switches.")
@module_option
@click.pass_obj
def list_toolkits(choices: Choices, key: str, agent: str, modules: tuple[str, ...]) -> None:
    """List toolkits, and which of their tools are on.

    KEY shows the tools of one toolkit, each with the reason why it is on or off.
    """
    from toolcrib.cli.switching import catalog_json, find_kits

    found = find_kits(choices.load(), modules, agent, key)
    if choices.form is Form.JSON:
        print_json(catalog_json(choices.load(), agent, found))
    elif key:
        _print_members(found[0])
    else:
        print_table(("toolkit", "switch", "tools on", "what it is for"), [_line(kit) for kit in found])


@toolkits.command(
    epilog=examples("toolcrib toolkits on memory", "toolcrib toolkits on code.write_file --agent writer"),
    json="`{agent, name, switch, was, place, on, off, missing}`: `on` and `off` are arrays of `{name, because}`, the "
    "tools that it is about as they now are; `missing` names those that do not exist.",
)
@click.argument("name")
@click.option("--agent", default="main", show_default=True, metavar="NAME", help="For whom.")
@module_option
@click.pass_obj
def on(choices: Choices, name: str, agent: str, modules: tuple[str, ...]) -> None:
    """Switch a toolkit, or a single tool, on for an agent.

    Writes the switch into config.toml and leaves everything else in that file as it is.
    """
    _switch(choices, modules, name, agent, True)


@toolkits.command(
    epilog=examples("toolcrib toolkits off memory"),
    json="As `toolkits on`.",
)
@click.argument("name")
@click.option("--agent", default="main", show_default=True, metavar="NAME", help="For whom.")
@module_option
@click.pass_obj
def off(choices: Choices, name: str, agent: str, modules: tuple[str, ...]) -> None:
    """Switch a toolkit, or a single tool, off for an agent."""
    _switch(choices, modules, name, agent, False)


def _switch(choices: Choices, modules: tuple[str, ...], name: str, agent: str, value: bool) -> None:
    from toolcrib.cli.switching import changed_json, switch

    changed = switch(choices, modules, name, agent, value)
    if choices.form is Form.JSON:
        print_json(changed_json(changed))
        return
    was = "not set" if changed.was is None else "on" if changed.was else "off"
    click.echo(f"{name} is switched {'on' if value else 'off'} for agent {agent} in {changed.place} (was {was})")
    rows = [(each, "on" if state.on else "off", state.because) for each, state in changed.states.items()]
    if rows:
        print_table(("tool", "now", "because"), rows)
    if changed.missing:
        names = ", ".join(changed.missing)
        hint(f"toolcrib: not there at present: {names}; the switch holds as soon as a program or module brings them")


def _line(kit: Kit) -> tuple[str, str, str, str]:
    switch = kit.switch
    word = "-" if switch is None else "on" if switch.on else "off"
    present = [member for member in kit.members if member.exists]
    return kit.toolkit.key, word, f"{sum(member.state.on for member in present)} of {len(kit.members)}", kit.label


def _print_members(kit: Kit) -> None:
    click.echo(f"{kit.toolkit.label}: {kit.toolkit.description}")
    print_heading("Tools")
    rows = [(member.name, member.word, member.because) for member in kit.members]
    print_table(("tool", "now", "because"), rows)
