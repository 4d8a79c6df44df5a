"""`toolcrib tools add-command` and `validate`: commands of the home as tools, written and checked."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Command, Form, examples
from toolcrib.cli.ending import NotSo, hint
from toolcrib.cli.output import print_json, print_table

if TYPE_CHECKING:
    from pathlib import Path

    from toolcrib.sources.declarative import Definition
    from toolcrib.values.json import Json
    from toolcrib.values.tool import Tool


@click.command(
    "add-command",
    cls=Command,
    epilog=examples(
        "toolcrib tools add-command text.count --read -- wc -w -- '{{args.file}}'",
        "toolcrib tools add-command repo.grep --read --arg 'pattern:string:What to look for' -- "
        "git grep -n -e '{{args.pattern}}'",
        "toolcrib tools add-command site.build --shell 'npm run build 2>&1 | tail -n 20'",
    ),
    json="`{name, file, definition}`: what was written.",
)
@click.argument("name")
@click.argument("command", nargs=-1)
@click.option("--arg", "arguments", multiple=True, metavar="NAME:TYPE[:MEANING]", help="An argument that is not text.")
@click.option("--description", default="", metavar="TEXT", help="What the tool does, for the model.")
@click.option("--read", is_flag=True, help="It only reads: it runs without a question.")
@click.option("--shell", "line", default="", metavar="LINE", help="A shell line instead of a COMMAND; it always asks.")
@click.option("--result", is_flag=True, help="It prints a result as JSON, not plain text.")
@click.option("--replace", is_flag=True, help="Put it in the place of a definition that is there.")
@click.pass_obj
def add_command(
    choices: Choices,
    name: str,
    command: tuple[str, ...],
    arguments: tuple[str, ...],
    description: str,
    read: bool,
    line: str,
    result: bool,
    replace: bool,
) -> None:
    """Make a tool of an example command line.

    Write {{args.name}} where an argument belongs; each is one word, whatever a model sends. Nothing is run: the
    definition is checked and written to the home's tools folder.
    """
    from toolcrib.assemble.declared import bounds_of
    from toolcrib.config.editing import rewrite
    from toolcrib.sources.declarative import read_definition
    from toolcrib.sources.declarative.writing import Argument, Example, as_line, shell_words, unguarded, written
    from toolcrib.values.json import parse_json

    if bool(command) == bool(line):
        raise click.UsageError("give either a COMMAND after --, or a line with --shell")
    text = written(
        Example(
            name=name, description=description or f"Run {line or ' '.join(command)}", command=command,
            arguments=tuple(map(Argument.of, arguments)), permission="readonly" if read else "write",
            output="result" if result else "text", shell=line,
        )
    )  # fmt: skip
    config = choices.load()
    file = config.home.tools / f"{name}.json"
    definition = read_definition(text, str(file), bounds_of(config))
    if file.exists() and not replace:
        raise NotSo(f"{file} is there already; --replace puts this one in its place")
    rewrite(file, lambda _: text)
    _told(choices, definition, file, parse_json(text))
    for argument in unguarded(command) if command else ():
        hint(f"toolcrib: values of {argument} that begin with - will be refused; put -- before it to take them")
    if words := shell_words(command):
        line = shlex.quote(as_line(command))
        hint(f"toolcrib: no shell reads this command: {command[0]} gets {' '.join(words)} as it is written")
        hint(f"toolcrib: if a shell should: toolcrib tools add-command {name} --replace --shell {line}")


@click.command(
    cls=Command,
    epilog=examples("toolcrib tools validate", "toolcrib tools validate --json"),
    json="An array of `{place, ok, name, problem}`, one for each file that tools come from.",
)
@click.pass_obj
def validate(choices: Choices) -> None:
    """Check declared commands, modules and OpenAPI documents.

    The modules are loaded, which runs their code; no tool is called. Ends with exit code 1 when anything is wrong.
    """
    from toolcrib.assemble.agents import load_agents
    from toolcrib.assemble.kits import switchboard_of
    from toolcrib.assemble.outside import outside_to_show
    from toolcrib.catalog.registry import Registry

    config = choices.load()
    registry = Registry(config.tools.schema_profile)
    agents = load_agents(config, switchboard_of(config))
    outside = outside_to_show(config, agents, registry)
    good = [(_place(tool), tool.name) for tool in registry.snapshot.values()]
    bad = {} if outside is None else outside.aside
    if choices.form is Form.JSON:
        rows = [{"place": place, "ok": True, "name": name, "problem": None} for place, name in good]
        print_json([*rows, *({"place": at, "ok": False, "name": None, "problem": why} for at, why in bad.items())])
    else:
        print_table(("tool", "from"), [(name, place) for place, name in good])
        for why in bad.values():
            hint(f"toolcrib: {why}")
        if not good and not bad:
            hint(f"toolcrib: {config.home.tools} declares no command, and no agent brings a module")
        if agents.waiting:
            hint(f"toolcrib: not loaded: {agents.waiting}")
    if bad:
        raise NotSo(f"{len(bad)} of {len(bad) + len(good)} cannot be used")


def from_outside(choices: Choices) -> list[Tool]:
    """Every tool that is declared, or comes from a module or package."""
    from toolcrib.assemble.agents import load_agents
    from toolcrib.assemble.kits import switchboard_of
    from toolcrib.assemble.outside import outside_to_show
    from toolcrib.catalog.registry import Registry

    config = choices.load()
    registry = Registry(config.tools.schema_profile)
    outside_to_show(config, load_agents(config, switchboard_of(config)), registry)
    return list(registry.snapshot.values())


def _told(choices: Choices, definition: Definition, file: Path, written: Json) -> None:
    if choices.form is Form.JSON:
        print_json({"name": definition.name, "file": str(file), "definition": written})
        return
    click.echo(f"{definition.name} was written to {file}.")
    words = " ".join(f"{name}=…" for name in definition.properties)
    click.echo(f"Try it with: toolcrib tools call {definition.name} {words}".rstrip())
    if definition.line is None and shutil.which(definition.command) is None:
        hint(f"toolcrib: there is no program {definition.command!r} on the search path yet")


def _place(tool: Tool) -> str:
    return str(tool.spec.metadata.get("place") or tool.spec.source.name)
