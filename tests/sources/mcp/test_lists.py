"""Lists of tools that are too long, go round in circles or change all the time."""

from __future__ import annotations

import pytest
from servers_at_hand import Open, hostile

pytestmark = pytest.mark.anyio


async def test_a_list_without_end_is_read_up_to_a_limit(crib_with: Open) -> None:
    async with crib_with(bad=hostile("many"), good=hostile()) as crib, crib.run() as run:
        assert crib.servers is not None
        assert sum(name.startswith("mcp.bad.") for name in run.tools) == 1_000
        assert "1,000 tools" in crib.servers.set_aside["bad"]["(the rest)"]
        assert (await run.call("mcp.bad.tool_999", {"text": "x"})).ok
        assert (await run.call("mcp.good.echo", {"text": "here"})).text == "here"


async def test_of_tools_that_are_called_the_same_none_is_used(crib_with: Open) -> None:
    async with crib_with(bad=hostile("twins")) as crib, crib.run() as run:
        assert crib.servers is not None
        names = {name for name in run.tools if name.startswith("mcp.bad.")}
        assert names == {"mcp.bad.echo", "mcp.bad.misbehave", "mcp.bad.same"}
        assert set(crib.servers.set_aside["bad"]) == {"one", "Two", "two", "a b", "a-b"}


async def test_a_list_that_goes_round_in_a_circle_ends(crib_with: Open) -> None:
    async with crib_with(bad=hostile("circle")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "here"})).text == "here"
        said = [str(event.payload) async for event in crib.events("mcp", follow_on=False)]
    assert any("circle" in words for words in said)


async def test_a_storm_of_changes_is_a_few_changes(crib_with: Open) -> None:
    """The server is busy while it storms: what it was asked meanwhile it answers afterwards."""
    async with crib_with(bad=hostile("storm")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).ok
        again = await run.call("mcp.bad.misbehave")
        assert int(again.text) <= 10
