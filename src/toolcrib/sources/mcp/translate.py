"""A server's tools and answers in our nouns. What a server says of its tools loosens nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import orjson
from mcp_types import BlobResourceContents, TextResourceContents
from mcp_types import Tool as Listed

from toolcrib.sources.mcp.entry import Entry, Override
from toolcrib.values.json import Json
from toolcrib.values.refusal import InvalidName, Reason, Refusal
from toolcrib.values.result import Block, Image, JsonBlock, Text, ToolError, ToolReturn, picture
from toolcrib.values.spec import NOTHING, Effect, Source, ToolSpec, ToolType

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_DOTS = re.compile(r"\.{2,}|\.(?=[^A-Za-z0-9]|$)")
_NO_OVERRIDE = Override()


def spec_of(tool: Listed, entry: Entry, version: str) -> ToolSpec:
    """A listed tool as a specification: write and network until the operator says otherwise."""
    said = said_of(entry, tool.name)
    annotations = tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True) if tool.annotations else {}
    return ToolSpec(
        name=f"mcp.{entry.name}.{safe_name(tool.name)}",
        title=tool.title or "",
        description=tool.description or tool.title or tool.name,
        input_schema=cast("Mapping[str, Json]", tool.input_schema),
        output_schema=cast("Mapping[str, Json] | None", tool.output_schema),
        effect=said.effect or Effect.WRITE,
        tags=tags_of(entry, said),
        tool_type=ToolType.MCP,
        timeout=entry.timeout,
        source=Source("mcp", entry.identity, version),
        annotations=cast("Mapping[str, Json]", annotations) or NOTHING,
        metadata={"raw_name": tool.name, "server": entry.name, "untrusted": True},
    )


def said_of(entry: Entry, raw_name: str) -> Override:
    """What the operator says of a tool, or of what stands beside the tools."""
    return entry.tools.get(raw_name, _NO_OVERRIDE)


def tags_of(entry: Entry, said: Override) -> frozenset[str]:
    tags = {"mcp"}
    if said.network if said.network is not None else entry.network:
        tags.add("network")
    if said.dangerous:
        tags.add("dangerous")
    return frozenset(tags)


def safe_name(raw: str) -> str:
    """A server's name for a tool as the last part of ours; one outside ASCII is refused: it may be a look-alike."""
    if not raw.isascii():
        raise InvalidName(f"{raw[:80]!r} has characters outside ASCII")
    safe = _DOTS.sub("-", _UNSAFE.sub("-", raw)).strip("-._")
    if not safe:
        raise InvalidName(f"{raw[:80]!r} has no letter or digit")
    return safe


def returned(result: Mapping[str, Any]) -> ToolReturn:
    """An answer as blocks; structured content is the data, and its text double is not said twice."""
    if result.get("resultType", "complete") != "complete":
        raise Refusal(Reason.PROVIDER_ERROR, "the server asks for more input before it answers; nobody can give it")
    blocks = [_block(block) for block in result["content"]]
    structured = cast("Json", result.get("structuredContent"))
    if structured is not None:
        blocks = [block for block in blocks if not isinstance(block, Text) or not _says_same(block.text, structured)]
        blocks.insert(0, JsonBlock(structured))
    if not result.get("isError", False):
        return ToolReturn(tuple(blocks))
    message = "\n".join(block.text for block in blocks if isinstance(block, Text)) or "the server reported an error"
    return ToolReturn(tuple(blocks), error=ToolError(Reason.PROVIDER_ERROR, message[:10_000]))


def _block(block: Mapping[str, Any]) -> Block:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "data": str(data), "mimeType": str(kind)}:
            return picture(kind, data)
        case {"type": "audio", "data": str(data), "mimeType": str(kind)}:
            return Text(f"[audio {kind}, {len(data)} characters of base64]")
        case {"type": "resource_link", "uri": str(uri), "name": str(name)}:
            return Text(f"[resource {uri}] {block.get('description') or name}")
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return Text(text)
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob), **rest}}:
            return Text(_blob_text(rest.get("mimeType"), uri, len(blob)))
        case _:
            return Text(repr(block)[:10_000])


def content_text(content: Mapping[str, Any]) -> str:
    """One block of a prompt as text."""
    block = _block(content)
    if isinstance(block, Image):
        return f"[image {block.mime_type}, {len(block.data)} characters of base64]"
    return block.text if isinstance(block, Text) else repr(content)[:10_000]


def _blob_text(kind: object, uri: str, length: int) -> str:
    return f"[{kind or 'binary'} resource {uri}, {length} characters of base64]"


def resource_text(resource: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(resource, TextResourceContents):
        return resource.text
    return _blob_text(resource.mime_type, resource.uri, len(resource.blob))


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
