"""What a caller would find in the crib: the effective set, and what policy says of each tool, without opening a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from toolcrib.assemble.agents import load_agents
from toolcrib.assemble.judging import Lists
from toolcrib.assemble.kits import switchboard_of
from toolcrib.assemble.opening import opening_mode
from toolcrib.assemble.outside import outside_to_show
from toolcrib.catalog.registry import Registry
from toolcrib.cli.listing import Entry, entry_json
from toolcrib.config import Config
from toolcrib.config.policies import Policies, read_policies
from toolcrib.engine.effective import EffectiveSet, Rates, Terms, near_names
from toolcrib.engine.wish import Wish, screens_of
from toolcrib.policy.modes import Mode, unasked, under_mode
from toolcrib.policy.rules import Policy, Situation
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Hook
from toolcrib.values.identity import Role
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.spec import Exposure, ToolSpec, ToolType
from toolcrib.values.tool import Tool


@frozen
class Loaded(Entry):
    """An entry whose tool itself is at hand."""

    tool: Tool


@frozen
class Viewpoint:
    """Who looks: an agent's model, or a person where no agent is named; in a mode and a role where one is given."""

    agent: str | None = None
    mode: str | None = None
    role: Role | None = None


@frozen
class Catalogue:
    """Every tool by name, whether it is in or out; `aside` says what could not be loaded, by file, and why."""

    entries: list[Loaded]
    aside: Mapping[str, str]


def catalogue(config: Config, tools: Iterable[Tool], viewpoint: Viewpoint) -> Catalogue:
    """Everything there is from this viewpoint: these tools, and those from outside the program."""
    effective, aside = _looked_at(config, tools, viewpoint, None)
    return Catalogue(entries_of(effective), aside)


def entries_of(effective: EffectiveSet) -> list[Loaded]:
    """Every tool by name, whether it is in or out of a set."""
    terms = effective.terms
    offered = {spec.name: spec for spec in effective.specs}
    return [
        Loaded(spec, _decided(terms.policy, spec, terms.situation), effective.why(name), tool)
        for name, tool in sorted(effective.snapshot.items())
        for spec in (offered.get(name, tool.spec),)
    ]


def entries(config: Config, tools: Iterable[Tool], viewpoint: Viewpoint) -> list[Loaded]:
    """Every tool by name, whether it is in or out from this viewpoint."""
    return catalogue(config, tools, viewpoint).entries


def effective_set(
    config: Config, tools: Iterable[Tool], viewpoint: Viewpoint, policies: Policies | None = None
) -> EffectiveSet:
    """The tools that a run would have, with the rules that would hold in it."""
    return _looked_at(config, tools, viewpoint, policies)[0]


def _looked_at(
    config: Config, tools: Iterable[Tool], viewpoint: Viewpoint, policies: Policies | None
) -> tuple[EffectiveSet, Mapping[str, str]]:
    registry = Registry(config.tools.schema_profile)
    registry.add(tools)
    policies = policies or read_policies(config, os.environ)
    agents = load_agents(config, switchboard_of(config))
    outside = outside_to_show(config, agents, registry)
    brought = () if outside is None else outside.rules
    snapshot, board = registry.snapshot, agents.switched()
    board.check(snapshot)
    known = (agents.terms if outside is None else outside.terms(agents.terms))(viewpoint.agent or "main")
    caller = Exposure.MANUAL if viewpoint.agent is None else Exposure.MODEL
    role = viewpoint.role or known.role or Role.MAIN
    wish = Wish(known, opening_mode(known, viewpoint.mode, config.modes), caller, role=role)
    limits = config.tools
    terms = Terms(
        Policy((*policies.rules, *brought)), _hooks(config),
        limits.default_timeout_ms / 1000, limits.max_timeout_ms / 1000,
        judge=Lists(config, (*policies.commands, *known.commands)),
        situation=Situation(known.agent_id, wish.role, wish.mode),
        rates=Rates(config.limits.rate, config.limits.agent_rate, config.limits.session_rate),
    )  # fmt: skip
    screens = screens_of(wish, frozenset(), config.modes.plan_tools, board.screen(known.agent_id, wish.role))
    effective = EffectiveSet.compile(registry, snapshot, screens, terms)
    for name, tool in snapshot.items():
        if tool.spec.tool_type is ToolType.DYNAMIC and (reason := tool.spec.metadata.get("withheld")) is not None:
            effective.reconsider(name, str(reason))
    return effective, {} if outside is None else outside.aside


def _hooks(config: Config) -> tuple[Hook, ...]:
    if not os.path.lexists(config.home.hooks):
        return ()
    from toolcrib.assemble.hooks import hooks_to_show  # a home without hooks need not load them

    return hooks_to_show(config)


def _decided(policy: Policy, spec: ToolSpec, situation: Situation) -> Decision:
    """What rules and mode say of a tool as it is offered, as far as that is known before a call."""
    mode = Mode(situation.mode)
    decision = under_mode(mode, policy.decide(spec, situation), spec, spec.effect)
    return unasked(decision) if mode is Mode.DONT_ASK and decision.verdict is Verdict.ASK else decision


def no_such_tool(name: str, known: Iterable[str]) -> str:
    """What to say of a name that no tool has."""
    near = near_names(name, known)
    would_work = f"did you mean {' or '.join(near)}?" if near else "`toolcrib tools list --all` names what there is"
    return f"there is no tool {name[:80]!r}; {would_work}"


def contract_json(entry: Loaded) -> dict[str, Json]:
    """A tool as `--json` shows it alone: everything that is known of it."""
    tool, spec = entry.tool, entry.spec
    return {
        **entry_json(entry),
        "help": spec.help,
        "aliases": list(spec.aliases),
        "capabilities": sorted(spec.capabilities),
        "timeout": spec.timeout,
        "source": {"kind": spec.source.kind, "name": spec.source.name, "version": spec.source.version},
        "runs": tool.runs.value,
        "transactional": tool.transactional,
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
        "read_form": spec.read_form,
        "annotations": spec.annotations,
        "metadata": spec.metadata,
        "fingerprint": tool.fingerprint,
    }
