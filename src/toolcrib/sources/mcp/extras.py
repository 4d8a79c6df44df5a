"""A server's resources and prompts as tools, under the same policy as everything else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, NamedTuple, cast

from mcp import Client, MCPError

from toolcrib.sources.mcp.entry import Entry
from toolcrib.sources.mcp.keeper import Keeper, ServerDown
from toolcrib.sources.mcp.translate import content_text, resource_text, said_of, tags_of
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Arguments, Tool

_WAIT_SECONDS = 15.0
_TEXT: JsonObject = {"type": "string"}
_URI: JsonObject = {"type": "string", "description": "The resource's address, as listed or made from a template."}
_PROMPT: JsonObject = {"type": "string", "description": "The prompt's name, as listed."}
_FILL: JsonObject = {"type": "object", "additionalProperties": _TEXT, "description": "What to fill into the prompt."}


class Extra(NamedTuple):
    """One thing a server offers beside its tools."""

    name: str
    description: str
    properties: JsonObject
    required: list[str]
    ask: Callable[[Client, Arguments], Coroutine[Any, Any, Json]]


def extra_tools(entry: Entry, keeper: Keeper, client: Client, version: str) -> Iterator[Tool]:
    """The tools for what this server says it has, as far as the operator hides none of them."""
    capabilities = client.server_capabilities
    offered = (*RESOURCES,) if capabilities.resources is not None else ()
    offered += PROMPTS if capabilities.prompts is not None else ()
    for extra in offered:
        said = said_of(entry, extra.name)
        if said.hidden:
            continue
        schema: JsonObject = {
            "type": "object",
            "properties": extra.properties,
            "required": cast("list[Json]", extra.required),
            "additionalProperties": False,
        }
        spec = ToolSpec(
            name=f"mcp.{entry.name}.{extra.name}",
            description=extra.description.format(server=entry.name),
            input_schema=schema,
            effect=said.effect or Effect.READ,
            tags=tags_of(entry, said),
            tool_type=ToolType.MCP,
            timeout=entry.timeout,
            source=Source("mcp", entry.identity, version),
            metadata={"server": entry.name, "untrusted": True},
        )
        yield Tool(spec, partial(_ask, keeper, extra))


async def _ask(keeper: Keeper, extra: Extra, context: ToolContext, arguments: Arguments) -> Json:
    try:
        return await keeper.ask(lambda client: extra.ask(client, arguments), _WAIT_SECONDS)
    except (ServerDown, MCPError) as error:
        said = error.message if isinstance(error, MCPError) else str(error)
        raise Refusal(Reason.PROVIDER_ERROR, f"{context.name}: {said}"[:2_000]) from error


async def _list_resources(client: Client, arguments: Arguments) -> Json:
    page = await client.list_resources(cursor=cast("str | None", arguments.get("cursor")))
    listed: list[Json] = [
        {"uri": str(resource.uri), "name": resource.name, "description": resource.description or ""}
        for resource in page.resources
    ]
    return {"resources": listed, "next_cursor": page.next_cursor}


async def _list_templates(client: Client, arguments: Arguments) -> Json:
    page = await client.list_resource_templates(cursor=cast("str | None", arguments.get("cursor")))
    listed: list[Json] = [
        {"uri_template": template.uri_template, "name": template.name, "description": template.description or ""}
        for template in page.resource_templates
    ]
    return {"templates": listed, "next_cursor": page.next_cursor}


async def _read_resource(client: Client, arguments: Arguments) -> Json:
    result = await client.read_resource(cast("str", arguments["uri"]))
    return "\n".join(resource_text(content) for content in result.contents)


async def _list_prompts(client: Client, arguments: Arguments) -> Json:
    page = await client.list_prompts(cursor=cast("str | None", arguments.get("cursor")))
    listed: list[Json] = [
        {
            "name": prompt.name,
            "description": prompt.description or "",
            "arguments": [argument.name for argument in prompt.arguments or ()],
        }
        for prompt in page.prompts
    ]
    return {"prompts": listed, "next_cursor": page.next_cursor}


async def _get_prompt(client: Client, arguments: Arguments) -> Json:
    fill = cast("dict[str, str]", dict(cast("JsonObject", arguments.get("arguments", {}))))
    result = await client.get_prompt(cast("str", arguments["name"]), fill)
    messages: list[Json] = [
        {"role": message.role, "text": content_text(message.content.model_dump(mode="json", by_alias=True))}
        for message in result.messages
    ]
    return {"messages": messages}


_CURSOR: JsonObject = {"cursor": {"type": "string", "description": "Where a longer list goes on."}}
RESOURCES = (
    Extra("resource_list", "List the resources of the MCP server {server}.", _CURSOR, [], _list_resources),
    Extra("resource_template_list", "List patterns of {server}'s resource addresses.", _CURSOR, [], _list_templates),
    Extra("resource_read", "Read a resource of the MCP server {server}.", {"uri": _URI}, ["uri"], _read_resource),
)
PROMPTS = (
    Extra("prompt_list", "List the prompts of the MCP server {server}.", _CURSOR, [], _list_prompts),
    Extra("prompt_get", "Fill in a prompt of {server}.", {"name": _PROMPT, "arguments": _FILL}, ["name"], _get_prompt),
)
EXTRAS = frozenset(extra.name for extra in (*RESOURCES, *PROMPTS))
