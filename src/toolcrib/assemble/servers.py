"""The MCP servers of a crib: read from the home's `mcp.json`, published into the registry, recorded in the journal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.catalog.registry import Registry
from toolcrib.executors.tree import descendants
from toolcrib.ports import Journal, Unit
from toolcrib.values.event import Draft, Level
from toolcrib.values.refusal import ConfigError, ToolcribError
from toolcrib.values.tool import Tool

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.runtime import Runtime
    from toolcrib.sources.mcp.source import McpSource

SESSION = "mcp"
"""What happens to servers belongs to no agent's session; it is recorded in one of its own."""
_SAID_LIMIT = 1_000


@dataclass(slots=True)
class Shelf:
    """The registry's part for servers: each has the tools it listed last, and no others."""

    registry: Registry
    held: dict[str, dict[str, Tool]] = field(default_factory=dict[str, dict[str, Tool]])

    def publish(self, server: str, tools: list[Tool]) -> Mapping[str, str]:
        """Put these in the place of what the server had; returns what could not be registered, with reasons."""
        held = self.held.setdefault(server, {})
        wanted = {tool.name: tool for tool in tools}
        for name in [name for name in held if name not in wanted]:
            self.registry.remove(name)
            del held[name]
        refused: dict[str, str] = {}
        for name, tool in wanted.items():
            before = held.get(name)
            if before is not None and before.fingerprint == tool.fingerprint:
                continue
            try:
                self.registry.add([tool]) if before is None else self.registry.replace(tool)
                held[name] = tool
            except ToolcribError as error:
                refused[name] = str(error)
        return refused


@dataclass(slots=True)
class Log:
    """What servers do and say, on record; what they say is bounded, because a server may say it for ever."""

    journal: Journal
    said: dict[str, int] = field(default_factory=dict[str, int])

    def note(self, server: str, kind: str, words: str) -> None:
        count = self.said[server] = self.said.get(server, 0) + 1
        if count > _SAID_LIMIT:
            return
        text = "it says too much to record the rest" if count == _SAID_LIMIT else words
        level = Level.WARNING if kind in ("mcp_server_down", "tool_set_aside") else Level.INFO
        name = kind if kind.startswith("mcp_server_") else f"mcp_server_{kind}"
        self.journal.queue(Unit((Draft(name, SESSION, level=level, payload={"server": server, "text": text}),)))


def open_servers(settings: Config, runtime: Runtime) -> McpSource | None:
    """The servers of the home, none of them started yet; None when there are none."""
    file = settings.home.root / "mcp.json"
    if not file.is_file():
        return None
    from toolcrib.sources.mcp.entry import read_entries

    entries = read_entries(file.read_text(encoding="utf-8"), str(file))
    if not any(not entry.disabled for entry in entries):
        return None
    try:
        from toolcrib.sources.mcp.source import McpSource
    except ImportError as error:
        raise ConfigError(
            f"{file} names MCP servers; install what speaks to them: pip install 'toolcrib[mcp]'"
        ) from error
    shelf, log = Shelf(runtime.registry), Log(runtime.store)
    source = McpSource(entries, os.environ, shelf.publish, log.note, descendants)
    runtime.registry.absence = source.absence
    return source
