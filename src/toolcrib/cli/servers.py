"""`toolcrib mcp-servers`: which MCP servers there are, and whether they answer."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import NotSo, hint
from toolcrib.cli.output import counted, print_json, print_table

if TYPE_CHECKING:
    from toolcrib.sources.mcp.entry import Entry
    from toolcrib.values.json import Json, JsonObject

SHAPE = "{name, transport, reached_by, disabled, network}"


@click.group("mcp-servers", cls=Group)
def servers() -> None:
    """See, add, take over and try MCP servers."""


@servers.command(
    "list",
    epilog=examples("toolcrib mcp-servers list"),
    json=f"An array of `{SHAPE}`; `reached_by` is the command line or the address.",
)
@click.pass_obj
def list_servers(choices: Choices) -> None:
    """List the servers, without starting any."""
    entries = _entries(choices)
    if choices.form is Form.JSON:
        print_json([_json(entry) for entry in entries])
    elif entries:
        rows = [(entry.name, "off" if entry.disabled else _transport(entry), entry.identity) for entry in entries]
        print_table(("server", "transport", "reached by"), rows)
    else:
        hint(f"{_file(choices)} names no server; add one with: toolcrib mcp-servers add NAME -- COMMAND ARGS…")


@servers.command(
    epilog=examples(
        "toolcrib mcp-servers add time -- uvx mcp-server-time",
        "toolcrib mcp-servers add docs --url https://example.org/mcp --header 'Authorization=Bearer ${DOCS_TOKEN}'",
    ),
    json=f"`{SHAPE}`: the server that was added.",
)
@click.argument("name")
@click.argument("command", nargs=-1)
@click.option("--url", default="", help="The address of a server that is reached over HTTP.")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE", help="For its environment; ${X} refers to X.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="For its requests; ${X} refers to X.")
@click.pass_obj
def add(
    choices: Choices,
    name: str,
    command: tuple[str, ...],
    url: str,
    variables: tuple[str, ...],
    headers: tuple[str, ...],
) -> None:
    """Add a server to mcp.json.

    Give a COMMAND to start after --, or an address with --url.
    """
    if bool(command) == bool(url):
        raise click.UsageError("give either a command after -- or an address with --url")
    entry: dict[str, Json] = {"command": command[0], "args": list(command[1:])} if command else {"url": url}
    if variables:
        entry["env"] = dict(map(_pair, variables))
    if headers:
        entry["headers"] = dict(map(_pair, headers))
    _write(choices, {name: entry})
    if choices.form is Form.JSON:
        print_json(_added(choices, [name])[0])
    else:
        click.echo(f"{name} was added to {_file(choices)}; try it with: toolcrib mcp-servers test {name}")
    if command and shutil.which(command[0]) is None:
        hint(f"toolcrib: there is no program {command[0]!r} on the search path yet; install it, or give its whole path")


@servers.command(
    "import",
    epilog=examples(
        "toolcrib mcp-servers import ~/.cursor/mcp.json", "toolcrib mcp-servers import .mcp.json --only git"
    ),
    json=f"An array of `{SHAPE}`: the servers that were added.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="Only this server; may be given several times.")
@click.pass_obj
def take_over(choices: Choices, file: Path, only: tuple[str, ...]) -> None:
    """Take servers over from another client's FILE.

    Secrets are not copied: where one stands, a reference such as ${API_KEY} is written, and you are told to set it.
    """
    from toolcrib.sources.mcp.book import taken_from

    every = taken_from(file.read_text(encoding="utf-8"), str(file))
    wanted = set(only) - {each.original for each in every}
    found = [each for each in every if not only or each.original in only or each.name in wanted]
    if lacking := [name for name in only if not any(name in (each.name, each.original) for each in every)]:
        there = ", ".join(each.original for each in every)
        raise NotSo(f"{file} has no server named {' or '.join(lacking)}; it has {there}")
    for each in found:
        if (twin := next(other for other in found if other.name.lower() == each.name.lower())) is not each:
            raise NotSo(
                f"{twin.original!r} and {each.original!r} would both be named {each.name}; take one with --only"
            )
    _write(choices, {each.name: each.entry for each in found})
    for each in found:
        if each.to_set:
            hint(f"{each.name}: set {', '.join(each.to_set)} in the environment; secrets were not copied")
        if each.left_out:
            hint(f"{each.name}: left out, because it means nothing here: {', '.join(each.left_out)}")
    if choices.form is Form.JSON:
        print_json(_added(choices, [each.name for each in found]))
    else:
        click.echo(f"{counted(len(found), 'server')} added to {_file(choices)}.")


@servers.command(
    epilog=examples("toolcrib mcp-servers test", "toolcrib mcp-servers test time --json"),
    json="An array of `{name, ok, state, why, seconds, tools, set_aside}`; `set_aside` maps tools that cannot be used "
    "to the reason.",
)
@click.argument("names", nargs=-1)
@click.pass_obj
def test(choices: Choices, names: tuple[str, ...]) -> None:
    """Start servers and list their tools.

    Says what cannot be used and why. Calls nothing.
    """
    from toolcrib.assemble.judging import network_rules
    from toolcrib.cli.trying import try_servers
    from toolcrib.network import Reach

    entries = [entry for entry in _entries(choices) if not names or entry.name in names]
    if not entries:
        raise NotSo(f"there is no server named {' or '.join(names)}" if names else f"{_file(choices)} names no server")
    tried = asyncio.run(try_servers(entries, Reach(network_rules(choices.load()))))
    if choices.form is Form.JSON:
        print_json([each.json() for each in tried])
    else:
        rows = [(each.name, "ok" if each.ok else "fails", f"{each.seconds:.1f} s", each.words) for each in tried]
        print_table(("server", "answer", "took", "tools"), rows)
        for each in tried:
            for tool, why in each.set_aside.items():
                hint(f"{each.name}: {tool} was set aside: {why}")
    if not all(each.ok for each in tried):
        raise NotSo("not every server can be used")


def _entries(choices: Choices) -> tuple[Entry, ...]:
    from toolcrib.assemble.server_files import find_servers

    found = find_servers(choices.load())
    if found.waiting:
        hint(f"servers of the project wait: {found.waiting}")
    return found.entries


def _file(choices: Choices) -> Path:
    return choices.load().home.root / "mcp.json"


def _write(choices: Choices, added: dict[str, JsonObject]) -> None:
    from toolcrib.config.editing import rewrite
    from toolcrib.sources.mcp.book import with_entries

    file = _file(choices)
    rewrite(file, lambda text: with_entries(text, added, str(file)))


def _added(choices: Choices, names: list[str]) -> list[JsonObject]:
    return [_json(entry) for entry in _entries(choices) if entry.name in names]


def _transport(entry: Entry) -> str:
    return "http" if entry.remote else "stdio"


def _json(entry: Entry) -> JsonObject:
    return {
        "name": entry.name,
        "transport": _transport(entry),
        "reached_by": entry.identity,
        "disabled": entry.disabled,
        "network": entry.network,
    }


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"{text!r} is not NAME=VALUE")
    return name, value
