"""Tools of MCP servers, as commands that only look see them: the servers are started, asked, and ended again."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from toolcrib.assemble.servers import Shelf
from toolcrib.catalog.registry import Registry
from toolcrib.cli.ending import hint
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.sources.mcp.entry import Entry
    from toolcrib.values.tool import Tool


def served_tools(config: Config, name: str | None = None) -> list[Tool]:
    """What the servers list now, or the one server that has a tool of this name; one that is down is said to be."""
    if not config.names_servers or not (name is None or name.startswith("mcp.")):
        return []
    from toolcrib.assemble.server_files import find_servers  # only where there is a file to read

    wanted = None if name is None else name.split(".")[1]
    entries = [each for each in find_servers(config).entries if not each.disabled and wanted in (None, each.name)]
    return asyncio.run(_listed(config, entries)) if entries else []


async def _listed(config: Config, entries: list[Entry]) -> list[Tool]:
    try:
        from toolcrib.sources.mcp.source import McpSource
    except ImportError as error:
        raise ConfigError("there are MCP servers; install what speaks to them: pip install 'toolcrib[mcp]'") from error
    from toolcrib.executors.tree import family

    registry = Registry(config.tools.schema_profile)
    source = McpSource(entries, os.environ, Shelf(registry).publish_gently, _unheard, family)
    try:
        await source.ready()
        for entry in entries:
            if (why := source.absence(f"mcp.{entry.name}.")) is not None:
                hint(f"toolcrib: {why}")
        return list(registry.snapshot.values())
    finally:
        await source.close()


def _unheard(server: str, kind: str, words: str) -> None:
    """Looking leaves no record; `mcp-servers test` tells what a server says."""
