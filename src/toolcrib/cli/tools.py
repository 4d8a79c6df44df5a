"""`toolcrib tools`: what there is, what it takes, and a call by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples, mode_option, module_option
from toolcrib.cli.ending import NO_TOOLS, Exit, NotSo, hint
from toolcrib.cli.output import print_fields, print_heading, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolcrib.cli.catalogue import Catalogue, Loaded
    from toolcrib.cli.listing import Entry
    from toolcrib.config import Config
    from toolcrib.values.tool import Tool

ENTRY_SHAPE = "{name, title, description, effect, tags, category, type, exposure, verdict, rule, because, out}"


PLACES = {
    "search": "toolcrib.cli.discovery:search",
    "cost": "toolcrib.cli.discovery:cost",
    "forget": "toolcrib.cli.discovery:forget",
    "add-command": "toolcrib.cli.declaring:add_command",
    "validate": "toolcrib.cli.declaring:validate",
}


@click.group(cls=Group, places=PLACES)
def tools() -> None:
    """Look at tools, and call one by hand."""


@tools.command(
    "list",
    epilog=examples("toolcrib tools list", "toolcrib tools list -m tools.py --agent main --all"),
    json=f"An array by name: `{ENTRY_SHAPE}`; `verdict` is allow, ask or deny, `out` is why the tool is not there, "
    "or null. With `--surface` also `{family, aliases, plan, contract_fingerprint, registered_contract_fingerprint, "
    "contract_status, contract_mismatch}`, as in `guard tools`. Tools that agents made have `version` and `creator`. "
    "With `--watch` JSON Lines, each a row as in `guard tools`.",
)
@module_option
@click.option("--agent", metavar="NAME", help="What this agent's model sees, instead of what you can call.")
@mode_option
@click.option(
    "--surface", type=click.Choice(["runtime", "gateway", "adapter"]), help="With contracts, as approved here."
)
@click.option("--all", "everything", is_flag=True, help="Also tools that are out, and why.")
@click.option("--watch", is_flag=True, help="Print contracts, and go on with what edits of files change.")
@click.pass_obj
def list_tools(
    choices: Choices,
    modules: tuple[str, ...],
    agent: str | None,
    mode: str | None,
    surface: str | None,
    everything: bool,
    watch: bool,
) -> None:
    """List tools, and whether a call would run, ask or be denied.

    These are the toolsets and interfaces that the configuration names, the commands that the home declares, what MCP
    servers list, what the agent's definition brings, and the tools of the modules given here. What cannot be used is
    told with its reason.
    """
    from toolcrib.cli.listing import entry_json, shipped

    if watch:
        _watch(choices, modules, surface)
        return
    if surface is not None:
        from toolcrib.cli.rows import print_rows

        print_rows(choices, modules, agent, mode, surface, everything)
        return
    config = choices.load()
    plain = None if modules or agent or mode else shipped(config)
    whole = None if plain else _catalogue(choices, modules, agent, mode)
    every: Sequence[Entry] = plain or (() if whole is None else whole.entries)
    found = [entry for entry in every if everything or entry.out is None]
    if choices.form is Form.JSON:
        print_json([entry_json(entry) for entry in found])
    elif found:
        print_table(("tool", "effect", "call", "description"), [_line(entry) for entry in found])
    else:
        hint(f"toolcrib: {NO_TOOLS if not every else 'no tool is there for this caller; --all says why'}")
    for why in () if whole is None else whole.aside.values():
        hint(f"toolcrib: set aside: {why}")


@tools.command(
    epilog=examples("toolcrib tools show notes.add --module tools.py"),
    json=f"As in `tools list` (`{ENTRY_SHAPE}`), and `{{help, aliases, capabilities, timeout, source, runs, "
    "transactional, input_schema, output_schema, read_form, annotations, metadata, fingerprint}`.",
)
@click.argument("name")
@module_option
@click.option("--agent", metavar="NAME", help="As this agent's model sees it.")
@mode_option
@click.pass_obj
def show(choices: Choices, name: str, modules: tuple[str, ...], agent: str | None, mode: str | None) -> None:
    """Show one tool: what it does and what it takes."""
    entry = _find(_catalogue(choices, modules, agent, mode, name).entries, name)
    if choices.form is Form.JSON:
        from toolcrib.cli.catalogue import contract_json

        print_json(contract_json(entry))
    else:
        _print_entry(entry)


@tools.command(
    epilog=examples(
        "toolcrib tools call code.read_file path=README.md",
        "toolcrib tools call notes.add title=Monday --module tools.py",
    ),
    json="`{call_id, name, content, reason, error, metadata, session_id}`: the recorded result. `reason` and `error` "
    "are null when it worked; `content` holds blocks with a `type` of text, json, artifact_ref or image.",
)
@click.argument("name")
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--args", "text", metavar="JSON", help="Arguments as one JSON object; - reads it from standard input.")
@module_option
@click.option("--session", metavar="ID", help="Record the call in this session instead of a new one.")
@click.option(
    "--approve", type=click.Choice(["terminal", "inbox", "deny"]), default="terminal", show_default=True,
    help="Who is asked: you, here; whoever answers `toolcrib approvals`; or nobody.",
)  # fmt: skip
@click.option("--agent", default="main", metavar="NAME", help="With the tools and the rules of this agent.")
@mode_option
@click.pass_obj
def call(
    choices: Choices,
    name: str,
    pairs: tuple[str, ...],
    text: str | None,
    modules: tuple[str, ...],
    session: str | None,
    approve: str,
    agent: str,
    mode: str | None,
) -> Exit:
    """Call a tool yourself, through the same counter as agents.

    The call is checked, permitted, limited and recorded like any other.
    What asks for permission asks here, on the terminal; where there is none, it is denied.
    """
    from toolcrib.cli.calling import Asked, call_tool
    from toolcrib.cli.modules import load_tools
    from toolcrib.cli.parameters import read_arguments
    from toolcrib.values.spec import NOTHING

    found = load_tools(modules)
    known = {tool.name: tool for tool in (*built_in(choices.load()), *found)}
    if name not in known:
        from toolcrib.cli.declaring import from_outside

        known.update({tool.name: tool for tool in from_outside(choices)})
    if name not in known and name.startswith("mcp.") and pairs:
        from toolcrib.cli.serving import served_tools

        known.update({tool.name: tool for tool in served_tools(choices.load(), name)})
    if not known and not choices.load().names_servers:
        raise NotSo(NO_TOOLS)
    schema = known[name].spec.input_schema if name in known else NOTHING
    asked = Asked(name, read_arguments(text, pairs, schema), session, approve, mode, agent)
    return call_tool(choices, found, asked)


def _watch(choices: Choices, modules: tuple[str, ...], surface: str | None) -> None:
    import asyncio

    from toolcrib.cli.guarding import Look
    from toolcrib.cli.watching import follow_contracts
    from toolcrib.values.identity import Surface

    asyncio.run(follow_contracts(choices, Look(Surface(surface or "runtime"), modules)))


def _catalogue(
    choices: Choices, modules: tuple[str, ...], agent: str | None, mode: str | None, name: str | None = None
) -> Catalogue:
    """Everything there is; where only one name matters, no other server is started for it."""
    from toolcrib.cli.catalogue import Viewpoint, catalogue
    from toolcrib.cli.modules import load_tools
    from toolcrib.cli.serving import served_tools

    config = choices.load()
    tools = [*built_in(config), *load_tools(modules), *served_tools(config, name)]
    return catalogue(config, tools, Viewpoint(agent, mode))


def built_in(config: Config) -> list[Tool]:
    """The tools of the toolsets that the configuration names, and those that agents made with them."""
    if not config.toolsets and not config.tools_config:
        return []
    from toolcrib.assemble.hands import tools_to_show

    found = tools_to_show(config)
    if "dynamic" in config.toolsets:
        from toolcrib.cli.made import made_tools  # opens the store

        found += made_tools(config)
    return found


def _find(found: list[Loaded], name: str) -> Loaded:
    if not found:
        raise NotSo(NO_TOOLS)
    for entry in found:
        if entry.spec.name == name:
            return entry
    from toolcrib.cli.catalogue import no_such_tool

    raise NotSo(no_such_tool(name, [entry.spec.name for entry in found]))


def _line(entry: Entry) -> tuple[str, str, str, str]:
    spec = entry.spec
    described = spec.description.strip().partition("\n")[0]
    if (creator := spec.metadata.get("creator")) is not None:
        described = f"{described} [version {spec.source.version} by {creator}]"
    verdict = entry.decision.verdict.name.lower()
    if entry.out is not None:
        verdict, described = "out", entry.out
    return spec.name, spec.effect.value, verdict, described


def _print_entry(entry: Loaded) -> None:
    from toolcrib.cli.parameters import parameter_rows

    tool, spec, decision = entry.tool, entry.spec, entry.decision
    print_fields(
        [
            ("tool", spec.name),
            ("title", spec.title),
            ("description", spec.description),
            ("effect", spec.effect.value),
            ("call", f"{decision.verdict.name.lower()}: {decision.because} [{decision.cite}]"),
            ("out", entry.out or ""),
            ("tags", ", ".join(sorted(spec.tags))),
            ("category", spec.category),
            ("needs", ", ".join(sorted(spec.capabilities))),
            ("for", {"model": "models", "manual": "people", "both": "models and people"}[spec.exposure.value]),
            ("timeout", f"{spec.timeout:g} s" if spec.timeout else ""),
            ("source", " ".join(filter(None, (spec.source.kind, spec.source.name, spec.source.version)))),
            ("creator", str(spec.metadata.get("creator", ""))),
            ("fingerprint", tool.fingerprint),
        ]
    )
    if rows := parameter_rows(spec.input_schema):
        print_heading("Parameters")
        print_table(("name", "kind", "given", "meaning"), rows)
