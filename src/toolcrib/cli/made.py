"""Tools that agents made, as commands that only look see them: from the store where there is one, never run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from toolcrib.assemble.crib import SystemClock, open_store
from toolcrib.assemble.dynamic import dynamic_services, is_approved, stored_tools
from toolcrib.assemble.hands import Hands, NothingKept
from toolcrib.cli.records import has_records
from toolcrib.config import Config
from toolcrib.engine.redact import Redactor
from toolcrib.toolsets.dynamic.building import unapproved
from toolcrib.values.tool import Tool

WITHHELD = "withheld"
"""Where the metadata of a tool says why no run has it."""


def made_tools(config: Config) -> list[Tool]:
    """The latest version of each, with the reason why it is not for use where nobody approved it."""
    return asyncio.run(_made(config)) if has_records(config) else []


async def _made(config: Config) -> list[Tool]:
    store = open_store(config, SystemClock())
    hands = Hands(config, NothingKept(), Redactor(), approved=partial(is_approved, store))
    try:
        tools = await stored_tools(store, dynamic_services(config, hands))
        return [tool if await hands.approved(tool.name, tool.fingerprint) else _withheld(tool) for tool in tools]
    finally:
        await hands.close()
        await store.close()


def _withheld(tool: Tool) -> Tool:
    reason = unapproved(tool.name, int(tool.spec.source.version))
    return replace(tool, spec=replace(tool.spec, metadata={**tool.spec.metadata, WITHHELD: reason}))
