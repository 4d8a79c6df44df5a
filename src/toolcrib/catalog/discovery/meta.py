"""The meta-tools as a model sees them: the one that finds tools, and the envelope in which found ones are called."""

from __future__ import annotations

from dataclasses import replace

from toolcrib.catalog.discovery.listing import Level, Listing
from toolcrib.values.name import ENVELOPE
from toolcrib.values.spec import Effect, ToolSpec, ToolType

CALL = ToolSpec(
    name=ENVELOPE,
    description="Call a tool found by tools.search.",
    input_schema={
        "type": "object",
        "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
        "required": ["name", "arguments"],
    },
    effect=Effect.WRITE,
    tool_type=ToolType.BUILTIN,
)
"""How the envelope is advertised. No registry holds it: what is called is the tool inside."""
INTRODUCTIONS = {
    Level.LINES: "All tools:",
    Level.NAMES: "All tools by group:",
    Level.GROUPS: "Groups (category):",
}


def introduced(search: ToolSpec, listing: Listing) -> ToolSpec:
    """The search tool with what there is to find."""
    if not listing.text:
        return search
    return replace(search, description=f"{search.description}\n{INTRODUCTIONS[listing.level]}\n{listing.text}")
