"""Finding tools, put together: the search tool over the crib's own registry and store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.catalog.discovery.showing import Mode, Showing
from toolcrib.engine.discovery import Discovery
from toolcrib.toolsets.tools import ToolsServices, toolset

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.runtime import Runtime


def open_discovery(settings: Config, runtime: Runtime) -> None:
    """Register the search tool, unless everything is always shown; each run decides whether it has a use for it."""
    if settings.discovery.mode is Mode.EAGER:
        return
    remembering = str(settings.project or "") if settings.discovery.usage_memory else None
    discovery = Discovery(runtime.registry, runtime.store, showing_of(settings), remembering)
    runtime.discovery = discovery
    runtime.farewells.append(discovery.end_run)
    runtime.registry.add(toolset(ToolsServices(discovery.shelf)).tools)


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
