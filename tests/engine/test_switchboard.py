"""Switches, toolkits and sub-apps as a run meets them."""

from pathlib import Path

import pytest

from toolcrib import ConfigError, Toolcrib, tool
from toolcrib.catalog.toolkit import Toolkit, members
from toolcrib.engine.switchboard import Switchboard
from toolcrib.policy.switches import Switch
from toolcrib.testing import make_run
from toolcrib.toolkits import memory
from toolcrib.values.identity import Role
from toolcrib.values.refusal import RegistrationError

pytestmark = pytest.mark.anyio


@tool.read(name="internal.recall_memory")
async def recall() -> str:
    """Recall."""
    return "nothing"


@tool(name="memory.store", tags={"internal"})
async def store() -> str:
    """Store."""
    return "stored"


@tool.read(name="notes.read")
async def read() -> str:
    """Read."""
    return "text"


@tool.read(name="board.read", tags={"sub_app"})
async def board() -> str:
    """Read the board."""
    return "board"


async def test_a_tool_that_is_switched_off_is_out_with_the_reason_and_its_place(tmp_path: Path):
    (tmp_path / "config.toml").write_text('toolsets = []\n[tools_config.main]\n"notes.read" = false\n')
    async with make_run(read, home=tmp_path) as run:
        place = tmp_path / "config.toml"
        assert run.tools.why("notes.read") == f"off: it is switched off for agent main in {place}:3"
        result = await run.call("notes.read")
        assert result.error is not None
        assert result.error.code == "tool_not_available"
        assert f"{place}:3" in result.error.message


async def test_memory_is_recalled_but_not_stored_unless_the_operator_says_so():
    async with make_run(recall, store) as run:
        assert "internal.recall_memory" in run.tools
        assert run.tools.why("memory.store") == "off: toolkit memory has to be switched on for agent main first"
        assert "memory.store" not in run.guidance.split("## Not available")[0]
        assert "- Memory, in part: memory.store." in run.guidance


@pytest.mark.parametrize(
    ("switches", "tools"),
    [
        ({"memory": True}, {"internal.recall_memory", "memory.store"}),
        ({"memory": True, "memory.store": False}, {"internal.recall_memory"}),
        ({"memory.store": True}, {"internal.recall_memory"}),
        ({"memory": False, "memory.store": True}, set()),
    ],
)
async def test_the_memory_switch(switches, tools):
    async with make_run(recall, store, config={"tools_config": {"main": switches}}) as run:
        assert set(run.tools) == tools


@pytest.mark.parametrize("role", [Role.SUB, Role.FORK, Role.WORKER])
def test_memory_is_never_for_helpers(role):
    board = Switchboard((memory.TOOLKIT,), {"main": {"memory": Switch(True)}})
    for name in memory.TOOLKIT.names:
        assert board.state(name, "main").on
        assert not board.state(name, "main", role).on
        assert "is never for agents of role" in board.state(name, "main", role).because


async def test_switches_are_those_of_the_agent(tmp_path: Path):
    config = {"toolsets": [], "tools_config": {"writer": {"notes.read": False}}}
    async with Toolcrib.open(home=tmp_path, config=config, tools=[read]) as crib:
        async with crib.run(agent="main") as run:
            assert "notes.read" in run.tools
        async with crib.run(agent="writer") as run:
            assert "notes.read" not in run.tools


async def test_what_a_switch_names_must_exist(tmp_path: Path):
    config = {
        "toolsets": [],
        "tools_config": {"main": {"notes.raed": False, "mcp.github.create_issue": False, "memory": True}},
        "sub_apps": {"journal": {"tool_names": ["diary.write"]}},
    }
    with pytest.raises(ConfigError) as caught:
        async with Toolcrib.open(home=tmp_path, config=config, tools=[read]):
            pass
    assert str(caught.value).splitlines() == [
        "config argument: tools_config.main names 'notes.raed', which is not a toolkit or a tool here; "
        "did you mean 'notes.read'?",
        "config argument: sub_apps.journal.tool_names names 'diary.write', which is not a tool here; "
        "load what brings it, or take the entry out",
    ]


@pytest.mark.parametrize(
    ("sub_apps", "agent", "there"),
    [
        ({}, "main", False),
        ({"kanban": {"tool_names": ["board.read"]}}, "main", True),
        ({"kanban": {"tool_names": ["board.read"]}}, "writer", False),
        ({"kanban": {"tool_names": ["board.read"], "agents": ["writer"]}}, "writer", True),
        ({"kanban": {"tool_names": ["board.read"], "agents": ["writer"]}}, "main", False),
        ({"other": {"tool_names": ["notes.read"]}}, "main", False),
    ],
)
async def test_a_sub_app_tool_is_there_for_the_agents_that_a_sub_app_binds_it_to(tmp_path, sub_apps, agent, there):
    config = {"toolsets": [], "sub_apps": sub_apps}
    async with (
        Toolcrib.open(home=tmp_path, config=config, tools=[read, board]) as crib,
        crib.run(agent=agent) as run,
    ):
        assert ("board.read" in run.tools) is there
        assert "notes.read" in run.tools
        if not there:
            assert run.tools.why("board.read") == (
                f"off: it belongs to sub-apps, and no sub-app of agent {agent} names it"
            )


def test_two_toolkits_cannot_share_a_key():
    kit = Toolkit(key="notes", label="Notes", description="", members=members(["notes.read"]))
    with pytest.raises(RegistrationError, match="two toolkits with the key 'notes'"):
        Switchboard((kit, kit))
