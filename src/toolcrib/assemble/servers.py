"""The MCP servers of a crib: found in its files, published into the registry, recorded in the journal."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.catalog.registry import Registry
from toolcrib.executors.tree import family
from toolcrib.ports import Journal, Unit
from toolcrib.values.event import Draft, Level
from toolcrib.values.references import secrets_in
from toolcrib.values.refusal import ConfigError, ToolcribError
from toolcrib.values.tool import Tool
from toolcrib.values.turn import Turn

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.redact import Redactor
    from toolcrib.engine.runtime import Runtime
    from toolcrib.sources.mcp.source import McpSource

SESSION = "mcp"
"""What happens to servers belongs to no agent's session; it is recorded in one of its own."""
_BURST, _PER_SECOND = 200, 2.0
"""How much servers may say at once, and how soon they may say more."""


@dataclass(slots=True)
class Shelf:
    """The registry's part for sources: each has the tools it listed last, and no others."""

    registry: Registry
    held: dict[str, dict[str, Tool]] = field(default_factory=dict[str, dict[str, Tool]])

    def publish(self, source: str, tools: list[Tool]) -> Mapping[str, str]:
        """Put these in the place of what the source had; returns what could not be registered, with reasons."""
        change = Change(self.held.get(source, {}), self.registry)
        for tool in tools:
            change.take(tool)
        return self._put(source, change)

    async def publish_gently(self, source: str, tools: list[Tool], turn: Turn) -> Mapping[str, str]:
        """The same for any number of tools, without keeping everybody else from their turn."""
        change = Change(self.held.get(source, {}), self.registry)
        for tool in tools:
            change.take(tool)
            await turn.pass_on()
        return self._put(source, change)

    def _put(self, source: str, change: Change) -> Mapping[str, str]:
        held = self.held.get(source, {})
        gone = [name for name in held if name not in change.kept and name not in change.admitted]
        refused = self.registry.exchange(held.keys(), gone, change.admitted)
        held = change.kept | change.listed
        for name in refused:
            held.pop(name, None)
        self.held[source] = held
        return change.refused | refused


class Change:
    """What a source lists now, beside what it has: kept as it is, fresh and admitted, or refused."""

    def __init__(self, held: Mapping[str, Tool], registry: Registry) -> None:
        self.kept: dict[str, Tool] = {}
        self.listed: dict[str, Tool] = {}
        self.admitted: dict[str, Tool] = {}
        """What `listed` becomes in the registry."""
        self.refused: dict[str, str] = {}
        self._held = held
        self._registry = registry

    def take(self, tool: Tool) -> None:
        """Tell where one that is listed belongs."""
        name = tool.name
        before = self._held.get(name)
        if before is not None and before.fingerprint == tool.fingerprint:
            self.kept[name] = before
            return
        try:
            self.admitted[name] = self._registry.admitted(tool)
            self.listed[name] = tool
        except ToolcribError as error:
            self.refused[name] = str(error)


@dataclass(slots=True)
class Log:
    """What servers do and say, on record; what they say is bounded, because a server may say it for ever."""

    journal: Journal
    redactor: Redactor
    room: dict[tuple[str, str], Room] = field(default_factory=dict[tuple[str, str], "Room"])

    def note(self, server: str, kind: str, words: str) -> None:
        room = self.room.setdefault((server, kind), Room())
        if not room.take(time.monotonic()):
            return
        if left_out := room.left_out:
            room.left_out = 0
            self._queue(server, kind, f"it said too much: {left_out} of these are not on record")
        self._queue(server, kind, self.redactor.text(words)[0])

    def _queue(self, server: str, kind: str, text: str) -> None:
        level = Level.WARNING if kind in ("mcp_server_down", "tool_set_aside", "waiting") else Level.INFO
        name = kind if kind.startswith("mcp_server_") else f"mcp_server_{kind}"
        self.journal.queue(Unit((Draft(name, SESSION, level=level, payload={"server": server, "text": text}),)))


@dataclass(slots=True)
class Room:
    """How many more events of one kind a server has; what was used comes back with time."""

    left: float = _BURST
    at: float = 0.0
    left_out: int = 0

    def take(self, now: float) -> bool:
        self.left = min(self.left + (now - self.at) * _PER_SECOND, _BURST)
        self.at = now
        if self.left < 1:
            self.left_out += 1
            return False
        self.left -= 1
        return True


def open_servers(settings: Config, runtime: Runtime) -> McpSource | None:
    """The servers of the home and of a trusted project, none of them started yet; None when there are none."""
    if not settings.names_servers:
        return None
    from toolcrib.assemble.server_files import PROJECT_FILE, find_servers

    found = find_servers(settings)
    log = Log(runtime.store, runtime.redactor)
    if found.waiting:
        log.note(PROJECT_FILE, "waiting", found.waiting)
    if not any(not entry.disabled for entry in found.entries):
        return None
    from toolcrib.assemble.judging import network_rules
    from toolcrib.network import Reach

    try:
        from toolcrib.sources.mcp.source import McpSource
    except ImportError as error:
        raise ConfigError("there are MCP servers; install what speaks to them: pip install 'toolcrib[mcp]'") from error
    reach = Reach(network_rules(settings))
    source = McpSource(found.entries, os.environ, Shelf(runtime.registry).publish_gently, log.note, family, reach)
    runtime.registry.absence = source.absence
    return source


def server_secrets(settings: Config) -> list[str]:
    """The values that servers, and interfaces of the network, are given by reference."""
    entries = settings.apis.values()
    texts = (text for entry in entries for text in (*entry.headers.values(), *entry.query.values()))
    found = secrets_in(texts, os.environ)
    if not settings.names_servers:
        return found
    from toolcrib.assemble.server_files import find_servers, secret_values

    return [*found, *secret_values(find_servers(settings).entries, os.environ)]
