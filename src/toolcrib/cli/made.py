"""Tools that agents made, as commands that only look see them: from the store where there is one, never run."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import cast

from toolcrib.assemble.crib import SystemClock, open_store
from toolcrib.assemble.dynamic import dynamic_services, is_approved, stored_tools
from toolcrib.assemble.hands import Hands, NothingKept
from toolcrib.catalog.contract import Difference, differences
from toolcrib.cli.records import has_records
from toolcrib.config import Config
from toolcrib.engine.redact import Redactor
from toolcrib.ports import Documents
from toolcrib.toolsets.dynamic import load_definition
from toolcrib.toolsets.dynamic.building import unapproved
from toolcrib.values.identity import Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.tool import Tool

WITHHELD = "withheld"
"""Where the metadata of a tool says why no run has it."""


def made_tools(config: Config) -> list[Tool]:
    """The latest version of each, with the reason why it is not for use where nobody approved it."""
    return asyncio.run(_made(config)) if has_records(config) else []


async def made_changes(documents: Documents, tool: Tool, before: JsonObject | None) -> list[Difference]:
    """What a tool does beside what it did as it was approved, in full: a person approves what they can read."""
    after = await _implementation(documents, tool.name, tool.spec.source.version)
    source = None if before is None else cast("JsonObject", before["contract"]).get("source")
    if not isinstance(source, list) or not source:
        return differences({}, after)
    return differences(await _implementation(documents, tool.name, str(source[-1])), after)


async def _implementation(documents: Documents, name: str, version: str) -> JsonObject:
    definition = await load_definition(documents.load, name, int(version))
    return {"contract": {"implementation": definition.implementation}}


async def _made(config: Config) -> list[Tool]:
    store = open_store(config, SystemClock())
    hands = Hands(config, NothingKept(), Redactor(), approved=partial(is_approved, store))
    try:
        tools = await stored_tools(store, dynamic_services(config, hands))
        here = Surface.RUNTIME
        return [tool if await hands.approved(here, tool.name, tool.fingerprint) else _withheld(tool) for tool in tools]
    finally:
        await hands.close()
        await store.close()


def _withheld(tool: Tool) -> Tool:
    reason = unapproved(tool.name, int(tool.spec.source.version), tool.fingerprint, Surface.RUNTIME)
    return replace(tool, spec=replace(tool.spec, metadata={**tool.spec.metadata, WITHHELD: reason}))
