"""tools: finding tools. `tools.search` answers from what its caller may use, and makes what it found active."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from toolcrib.catalog.toolset import Toolset
from toolcrib.values.context import ToolContext
from toolcrib.values.json import JsonObject, canonical
from toolcrib.values.name import SEARCH
from toolcrib.values.noun import frozen
from toolcrib.values.result import Text, ToolReturn
from toolcrib.values.spec import Effect, ToolSpec, ToolType
from toolcrib.values.tool import Arguments, Tool

if TYPE_CHECKING:
    from toolcrib.catalog.discovery.finding import Answer, Wanted

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "exact name: full definition"},
        "server": {"type": "string"},
        "category": {"type": "string"},
        "query": {"type": "string", "description": "what to do, in words"},
    },
    "additionalProperties": False,
}
SPEC = ToolSpec(
    name=SEARCH,
    title="Find tools",
    description="Find tools by one of these; results can be called at once.",
    help=(
        "Give one of: `tool`, an exact name or alias, for the whole definition; `server`, for the tools of one server; "
        "`category`, for the tools of one group; `query`, what you want to do, in words. If several are given, the "
        "first in this order counts. What is found becomes active. Nothing is run."
    ),
    input_schema=SCHEMA,
    effect=Effect.READ,
    category="Search",
    tool_type=ToolType.BUILTIN,
    aliases=("ToolSearch", "tool_search", "find_tools"),
)


class Shelf(Protocol):
    """Where one run's tools are found."""

    async def find(self, wanted: Wanted) -> Answer: ...


@frozen
class ToolsServices:
    """`shelf` gives that of the run which a call belongs to."""

    shelf: Callable[[ToolContext], Shelf]


def toolset(services: ToolsServices) -> Toolset:
    """tools.search."""
    return Toolset("tools", (Tool(SPEC, partial(_search, services)),))


async def _search(services: ToolsServices, context: ToolContext, arguments: Arguments) -> ToolReturn:
    from toolcrib.catalog.discovery.finding import Wanted  # most runs show everything and never search

    wanted = Wanted.of(arguments)
    answer = await services.shelf(context).find(wanted)
    return ToolReturn((Text(text_of(answer)),), {"found": [found.name for found in answer.found]})


def text_of(answer: Answer) -> str:
    """An answer as a model reads it: one line per tool, or the whole definition of the one it named."""
    from toolcrib.catalog.discovery.finding import lines  # as above

    if answer.definition is not None:
        return canonical(answer.definition)
    more = f"{answer.more} more; say in a query what you want to do" if answer.more else ""
    return "\n".join(filter(None, (answer.note, lines(answer.found), more)))
