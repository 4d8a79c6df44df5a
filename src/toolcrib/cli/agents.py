"""`toolcrib agents`: who is defined, and what each definition says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from toolcrib.cli.command import Choices, Form, Group, examples
from toolcrib.cli.ending import NotSo, hint
from toolcrib.cli.output import print_fields, print_heading, print_json, print_table

if TYPE_CHECKING:
    from toolcrib.agent.definitions import AgentDefinition
    from toolcrib.assemble.agents import Agents
    from toolcrib.values.json import Json

SHAPE = "{id, name, description, mode, model, toolsets, place}"


@click.group(cls=Group)
def agents() -> None:
    """Look at agents and their definitions."""


@agents.command(
    "list",
    epilog=examples("toolcrib agents list", "toolcrib agents list --project ."),
    json=f"`{{agents, waiting}}`: agents as an array by id (`{SHAPE}`), and why definitions of the project are not "
    "among them, or null.",
)
@click.pass_obj
def list_agents(choices: Choices) -> None:
    """List the agents that there are, and what each is for.

    Definitions lie in the home's agents folder. Those of a project count once it is trusted.
    """
    from toolcrib.policy.roles import BUILT_IN

    found = _load(choices)
    every = [*(_built_in(name) for name in BUILT_IN if name not in found.definitions), *found.definitions.values()]
    if choices.form is Form.JSON:
        print_json({"agents": [_row(each) for each in every], "waiting": found.waiting or None})
        return
    rows = [(each.id, each.mode or "default", each.description.partition("\n")[0], each.place) for each in every]
    print_table(("agent", "mode", "description", "defined in"), rows)
    if found.waiting:
        hint(f"toolcrib: not loaded: {found.waiting}")


@agents.command(
    epilog=examples("toolcrib agents show reviewer"),
    json=f"As in `agents list` (`{SHAPE}`), and `{{tools, allowed_tools, suggested_tools, sub_agents, switches, "
    "limits, commands, instructions}`; `tools` are name patterns.",
)
@click.argument("agent_id", metavar="ID")
@click.pass_obj
def show(choices: Choices, agent_id: str) -> None:
    """Show one agent: what its definition lets it have."""
    from toolcrib.policy.roles import BUILT_IN

    found = _load(choices)
    definition = found.definitions.get(agent_id) or (_built_in(agent_id) if agent_id in BUILT_IN else None)
    if definition is None:
        raise NotSo(found.unknown(agent_id))
    if choices.form is Form.JSON:
        print_json(_whole(definition))
    else:
        _print(definition)
        if empty := _empty_toolsets(choices, definition):
            hint(f"toolcrib: no tool here belongs to {', '.join(empty)}; programs, packages and servers may bring some")


def _empty_toolsets(choices: Choices, definition: AgentDefinition) -> list[str]:
    """The toolsets of a definition that nothing here brings tools for: often they are misspelt."""
    from toolcrib.agent.toolsets import Toolsets
    from toolcrib.assemble.hands import tools_to_show
    from toolcrib.policy.names import compile_pattern

    names = [tool.name for tool in tools_to_show(choices.load())]

    def brings_tools(toolset: str) -> bool:
        patterns = map(compile_pattern, Toolsets({toolset: ()}).patterns)
        return any(pattern.fullmatch(name) for pattern in patterns for name in names)

    return [each for each in definition.toolsets.listed if not brings_tools(each)]


def _load(choices: Choices) -> Agents:
    from toolcrib.assemble.agents import load_agents
    from toolcrib.assemble.kits import switchboard_of

    config = choices.load()
    return load_agents(config, switchboard_of(config))


def _built_in(name: str) -> AgentDefinition:
    from toolcrib.agent.definitions import AgentDefinition

    told = {
        "main": "Whom a person talks to.",
        "orchestrator": "Divides work and starts others.",
        "sub": "Does one piece of work for another agent.",
        "fork": "Does one piece of work, knowing what its parent knows.",
        "default_worker_agent": "Claims steps of tasks; reads files, and writes only if its dispatcher asks for it.",
    }
    return AgentDefinition(id=name, description=told[name], place="built in")


def _row(definition: AgentDefinition) -> dict[str, Json]:
    return {
        "id": definition.id,
        "name": definition.name,
        "description": definition.description,
        "mode": definition.mode,
        "model": definition.model,
        "toolsets": sorted(definition.toolsets.listed),
        "place": definition.place,
    }


def _whole(definition: AgentDefinition) -> dict[str, Json]:
    sub_agents, allowed = definition.sub_agents, definition.allowed_tools
    return {
        **_row(definition),
        "tools": list(definition.toolsets.patterns),
        "allowed_tools": None if allowed is None else sorted(allowed),
        "suggested_tools": list(definition.suggested_tools),
        "sub_agents": None if sub_agents is None else sorted(sub_agents),
        "switches": dict(definition.switches),
        "limits": dict(definition.limits),
        "commands": [[rule.pattern, rule.verdict.name.lower()] for rule in definition.toolsets.commands],
        "instructions": definition.instructions,
    }


def _print(definition: AgentDefinition) -> None:
    toolsets, sub_agents, allowed = definition.toolsets, definition.sub_agents, definition.allowed_tools
    built_in = definition.place == "built in"
    print_fields(
        [
            ("agent", definition.id),
            ("name", definition.name),
            ("description", definition.description),
            ("defined in", definition.place),
            ("model", definition.model),
            ("mode", definition.mode or "default"),
            ("tools", "all that its role may have" if built_in else ", ".join(toolsets.patterns) or "none"),
            ("held to", "" if allowed is None else ", ".join(sorted(allowed)) or "none"),
            ("prefers", ", ".join(definition.suggested_tools)),
            ("may start", "" if sub_agents is None else ", ".join(sorted(sub_agents)) or "no other agent"),
            ("switches", ", ".join(f"{name} {'on' if on else 'off'}" for name, on in definition.switches.items())),
            ("limits", ", ".join(f"{name} {count}" for name, count in definition.limits.items())),
            ("custom", ", ".join(f"{each.module} ({', '.join(each.tools)})" for each in toolsets.custom)),
            ("external", ", ".join(f"{each.package}:{each.imported}" for each in toolsets.external)),
        ]
    )
    if toolsets.commands:
        print_heading("Commands")
        rows = [(rule.pattern.strip(), rule.verdict.name.lower(), rule.place) for rule in toolsets.commands]
        print_table(("begins with", "call", "where"), rows)
    if definition.instructions:
        print_heading("Instructions")
        print_fields([("", definition.instructions)])
