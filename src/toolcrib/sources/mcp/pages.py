"""One page of a server's tools, read tool by tool."""

from __future__ import annotations

from typing import cast

from mcp import Client
from mcp_types import ListToolsRequest, PaginatedRequestParams, Tool
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

from toolcrib.sources.mcp.clean import HELD, Cleaner
from toolcrib.sources.mcp.lane import Raw
from toolcrib.values.json import Json, canonical
from toolcrib.values.spec import normal_schema
from toolcrib.values.turn import Turn


class RawResult(RootModel[Raw]):
    """A result as the server sent it."""


async def listed_page(
    client: Client, cursor: str | None, cleaner: Cleaner, turn: Turn
) -> tuple[list[Tool], str | None]:
    """The tools of one page, and where the next begins.

    The protocol's library reads a page in one piece: a tool that it cannot read costs all the others, and everybody
    waits while it reads a thousand. Only newer protocols need what it remembers of the page.
    """
    cleaner.holds_tools = client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    if not cleaner.holds_tools:
        page = await client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor
    request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
    raw = (await client.session.send_request(request, RawResult)).root
    tools: list[Tool] = []
    for listed in cast("list[Raw]", cleaner.take_held(raw["_meta"][HELD])):
        try:
            if cleaner.is_readable(listed):
                tools.append(Tool.model_validate(listed, by_name=False))
        except ValidationError as error:
            cleaner.put_aside(str(listed["name"])[:80], f"it does not follow the protocol: {_words(error)}")
        await turn.pass_on()
    following = raw.get("nextCursor")
    return tools, following if isinstance(following, str) else None


def is_same(one: Tool, other: Tool) -> bool:
    """Whether a tool is listed as it was, in all that is approved of it; its icons and the server's own marks are not.

    Texts are compared, because to Python 1 and true are the same.
    """
    return canonical(_told(one)) == canonical(_told(other))


def _told(tool: Tool) -> Json:
    annotations = tool.annotations.model_dump(mode="json", exclude_none=True) if tool.annotations else None
    schemas = (normal_schema(tool.input_schema), normal_schema(tool.output_schema))
    return [tool.name, tool.title, tool.description, *schemas, annotations]


def _words(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"[:200]
