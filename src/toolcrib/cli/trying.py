"""Servers tried out: started, listed, stopped; nothing is called and nothing is recorded."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from toolcrib.assemble.servers import Shelf
from toolcrib.catalog.registry import Registry
from toolcrib.executors.tree import family
from toolcrib.network import Reach
from toolcrib.sources.mcp.entry import Entry
from toolcrib.sources.mcp.keeper import Keeper, ServerDown, State
from toolcrib.sources.mcp.source import McpSource
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolcrib.values.json import JsonObject


@frozen
class Tried:
    """How one server answered."""

    name: str
    ok: bool
    state: str
    why: str
    seconds: float
    tools: tuple[str, ...]
    set_aside: Mapping[str, str]

    @property
    def words(self) -> str:
        return ", ".join(name.rsplit(".", 1)[-1] for name in self.tools) if self.ok else self.why

    def json(self) -> JsonObject:
        return {
            "name": self.name,
            "ok": self.ok,
            "state": self.state,
            "why": self.why,
            "seconds": round(self.seconds, 3),
            "tools": list(self.tools),
            "set_aside": dict(self.set_aside),
        }


async def try_servers(entries: list[Entry], reach: Reach) -> list[Tried]:
    """Each server by itself, so that the time it took is its own."""
    return [await _try(entry, reach) for entry in entries]


async def _try(entry: Entry, reach: Reach) -> Tried:
    shelf = Shelf(Registry())
    began = time.monotonic()
    source = McpSource([entry], os.environ, shelf.publish_gently, _say_nothing, family, reach)
    keeper = source.keepers.get(entry.name)
    if keeper is None:
        return Tried(entry.name, True, "off", "", 0.0, (), {})
    try:
        why = await _reach(keeper, entry)
        seconds = time.monotonic() - began
        tools = tuple(shelf.held.get(entry.name, {}))
        up = keeper.state is State.UP
        return Tried(entry.name, up, keeper.state.value, why, seconds, tools, source.set_aside[entry.name])
    finally:
        await source.close()


def _say_nothing(server: str, kind: str, words: str) -> None:
    """Whoever tries servers sees the outcome; nothing is recorded."""


async def _reach(keeper: Keeper, entry: Entry) -> str:
    try:
        await keeper.ready(entry.connect_timeout)
    except (ServerDown, ConfigError) as error:
        return str(error)
    return ""
