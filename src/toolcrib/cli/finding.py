"""Searches and sums over tools at the command line, without opening a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from toolcrib.assemble.agents import load_agents
from toolcrib.assemble.discovery import agent_entries, meaning_of, showing_of
from toolcrib.assemble.kits import find_toolkits, switchboard_of
from toolcrib.catalog.discovery.cost import CatalogCost, ToolCost, catalog_cost
from toolcrib.catalog.discovery.finding import LISTED, NAMED, Answer, Catalog, Wanted
from toolcrib.catalog.discovery.showing import ANSWERS
from toolcrib.catalog.index import Entry, ToolIndex, UsageMemory
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.cli.catalogue import Viewpoint, effective_set
from toolcrib.cli.command import Choices
from toolcrib.cli.ending import NO_TOOLS, NotSo
from toolcrib.cli.modules import load_tools
from toolcrib.cli.records import has_records, records
from toolcrib.cli.serving import served_tools
from toolcrib.cli.tools import built_in
from toolcrib.config import Config
from toolcrib.engine.calibrate import estimator_for
from toolcrib.engine.discovery import closed, pinned_by
from toolcrib.engine.effective import EffectiveSet
from toolcrib.engine.usage import Memories
from toolcrib.policy.roles import CHILDREN
from toolcrib.toolsets.tools import SPEC
from toolcrib.values.spec import ToolSpec


def answer(choices: Choices, modules: Sequence[str], agent: str | None, wanted: Wanted, limit: int | None) -> Answer:
    """What the caller finds among the tools and agents that are there for it."""
    every = _set(choices, modules, agent)
    unusable = closed(every.specs, every)
    specs = [spec for spec in every.specs if spec.name not in unusable]
    if not specs:
        raise NotSo(NO_TOOLS)
    config = choices.load()
    by_name = {spec.name: spec for spec in specs}
    agents = {entry.name: entry for entry in _startable(config, agent) if entry.name not in by_name}
    index = ToolIndex.build([*agents.values(), *specs], meaning=meaning_of(config))
    usage = asyncio.run(_memory(choices, agent)) if agent is not None else None
    most = (limit, limit, limit) if limit else (ANSWERS, LISTED, NAMED)
    catalog = Catalog(by_name, agents, lambda text, count: index.search(text, count, usage=usage), *most)
    return catalog.answer(wanted)


def costs(
    choices: Choices, modules: Sequence[str], agent: str, calls: int, model: str | None
) -> tuple[list[ToolSpec], CatalogCost]:
    """What an agent's tools cost, and the tools."""
    specs = sorted(_set(choices, modules, agent).specs, key=lambda spec: spec.name)
    estimator = TokenEstimator() if model is None else asyncio.run(_estimator(choices, model))
    showing = showing_of(choices.load())
    pinned = pinned_by(showing.pinned, (spec.name for spec in specs))
    return specs, catalog_cost(specs, SPEC, showing, estimator, calls, pinned)


def by_toolkit(costs: Iterable[ToolCost]) -> dict[str, int]:
    """Tokens of definitions per toolkit that has some of these tools."""
    tokens = {cost.name: cost.definition for cost in costs}
    sums = {kit.key: sum(tokens.get(member.name, 0) for member in kit.members) for kit in find_toolkits()}
    return {key: spent for key, spent in sums.items() if spent}


def _set(choices: Choices, modules: Sequence[str], agent: str | None) -> EffectiveSet:
    config = choices.load()
    return effective_set(config, [*built_in(config), *load_tools(modules), *served_tools(config)], Viewpoint(agent))


def _startable(config: Config, agent: str | None) -> list[Entry]:
    """The agents that an agent may start; all of them for a person."""
    agents = load_agents(config, switchboard_of(config))
    every = agent_entries(agents)
    if agent is None or not every:
        return every
    terms = agents.terms(agent)
    if terms.role in CHILDREN:
        return []
    return [entry for entry in every if terms.sub_agents is None or entry.name in terms.sub_agents]


async def _memory(choices: Choices, agent: str) -> UsageMemory | None:
    config = choices.load()
    if not config.discovery.usage_memory or not has_records(config):
        return None
    async with records(choices) as store:
        return await Memories(store, str(config.project or "")).of(agent)


async def _estimator(choices: Choices, model: str) -> TokenEstimator:
    if not has_records(choices.load()):
        return TokenEstimator()
    async with records(choices) as store:
        return await estimator_for(store, model)
