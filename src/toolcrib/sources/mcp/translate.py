"""A server's tools and answers in our nouns. What a server says of its tools loosens nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

import orjson
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mcp_types import Tool as Listed

from toolcrib.sources.mcp.entry import Entry, Override
from toolcrib.values.json import Json
from toolcrib.values.refusal import InvalidName, Reason
from toolcrib.values.result import Block, Image, JsonBlock, Text, ToolError, ToolReturn
from toolcrib.values.spec import NOTHING, Effect, Source, ToolSpec, ToolType

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_DOTS = re.compile(r"\.{2,}|\.(?=[^A-Za-z0-9]|$)")
_NO_OVERRIDE = Override()


def spec_of(tool: Listed, entry: Entry, version: str) -> ToolSpec:
    """A listed tool as a specification: write and network until the operator says otherwise."""
    said = entry.tools.get(tool.name, _NO_OVERRIDE)
    tags = {"mcp"}
    if said.network if said.network is not None else entry.network:
        tags.add("network")
    if said.dangerous:
        tags.add("dangerous")
    annotations = tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True) if tool.annotations else {}
    return ToolSpec(
        name=f"mcp.{entry.name}.{safe_name(tool.name)}",
        title=tool.title or "",
        description=tool.description or tool.title or tool.name,
        input_schema=cast("Mapping[str, Json]", tool.input_schema),
        output_schema=cast("Mapping[str, Json] | None", tool.output_schema),
        effect=said.effect or Effect.WRITE,
        tags=frozenset(tags),
        tool_type=ToolType.MCP,
        timeout=entry.timeout,
        source=Source("mcp", entry.identity, version),
        annotations=cast("Mapping[str, Json]", annotations) or NOTHING,
        metadata={"raw_name": tool.name, "server": entry.name, "untrusted": True},
    )


def safe_name(raw: str) -> str:
    """A server's name for a tool as the last part of ours; one outside ASCII is refused: it may be a look-alike."""
    if not raw.isascii():
        raise InvalidName(f"{raw[:80]!r} has characters outside ASCII")
    safe = _DOTS.sub("-", _UNSAFE.sub("-", raw)).strip("-._")
    if not safe:
        raise InvalidName(f"{raw[:80]!r} has no letter or digit")
    return safe


def returned(result: CallToolResult) -> ToolReturn:
    """An answer as blocks; structured content is the data, and its text double is not said twice."""
    blocks = [_block(block) for block in result.content]
    structured = result.structured_content
    if structured is not None:
        blocks = [block for block in blocks if not isinstance(block, Text) or not _says_same(block.text, structured)]
        blocks.insert(0, JsonBlock(structured))
    if not result.is_error:
        return ToolReturn(tuple(blocks))
    message = "\n".join(block.text for block in blocks if isinstance(block, Text)) or "the server reported an error"
    return ToolReturn(tuple(blocks), error=ToolError(Reason.PROVIDER_ERROR, message[:10_000]))


def _block(block: ContentBlock) -> Block:
    match block:
        case TextContent():
            return Text(block.text)
        case ImageContent():
            return Image(block.mime_type, block.data)
        case AudioContent():
            return Text(f"[audio {block.mime_type}, {len(block.data)} characters of base64]")
        case ResourceLink():
            return Text(f"[resource {block.uri}] {block.description or block.name}")
        case EmbeddedResource():
            return Text(resource_text(block.resource))


def resource_text(resource: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(resource, TextResourceContents):
        return resource.text
    return f"[{resource.mime_type or 'binary'} resource {resource.uri}, {len(resource.blob)} characters of base64]"


def _says_same(text: str, structured: Json) -> bool:
    """Whether a text is only the structured content once more, whole or as the one value that was wrapped."""
    wrapped = structured.get("result") if isinstance(structured, dict) and len(structured) == 1 else structured
    if text == wrapped:
        return True
    try:
        said = orjson.loads(text)
    except ValueError:
        return False
    return said in (structured, wrapped)
