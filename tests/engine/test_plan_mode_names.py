"""Plan mode by whatever name, form or way a tool is called: nothing that writes runs, and only listed reads do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib import Tool, Toolcrib
from toolcrib.testing import ScriptedAsker
from toolcrib.values.spec import Effect, ToolSpec, ToolType

pytestmark = pytest.mark.anyio
METHODS = {"type": "object", "properties": {"method": {"enum": ["GET", "POST"]}}, "required": ["method"]}
READING = {"type": "object", "properties": {"method": {"enum": ["GET"]}}, "required": ["method"]}
TOOLS: dict[str, dict[str, Any]] = {
    "notes.read": {"effect": Effect.READ},
    "notes.add": {},
    "http.call": {"input_schema": METHODS, "read_form": READING},
    "mcp.s.get": {"effect": Effect.READ, "tool_type": ToolType.MCP},
    "dynamic.mine": {"effect": Effect.READ, "tool_type": ToolType.DYNAMIC},
    "ask": {"effect": Effect.READ},
    "code.format": {},
    "code.deep.read": {"effect": Effect.READ},
    "workspacex.read": {"effect": Effect.READ},
    "checklist.read": {"effect": Effect.READ},
    "checklist.update": {"tags": frozenset({"internal"})},
}
FILE = {"path": "a.txt", "content": "after"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("notes.read", {}), ("http.call", {"method": "GET"}), ("mcp.s.get", {}), ("mcp__s__get", {}), ("dynamic.mine", {}),
    ("ask", {}), ("checklist.read", {}), ("code.deep.read", {}), ("workspacex.read", {}),
    ("notes.add", {}), ("http.call", {"method": "POST"}), ("http__call", {"method": "POST"}), ("code.format", {}),
    ("checklist.update", {}), ("checklist__update", {}), ("FileWrite", FILE), ("workspace_write", FILE),
    ("Workspace.Write", FILE), ("tools.create", {"name": "x"}), ("shell.run", {"command": "true"}),
    ("code.run_command", {"argv": ["true"]}), ("tools.call", {"name": "notes.add", "arguments": {}}),
    ("tools.call", {"name": "http.call", "arguments": {"method": "POST"}}),
    ("tools.call", {"name": "workspace.write", "arguments": FILE}),
    ("tools__call", {"name": "tools.call", "arguments": {"name": "notes.add", "arguments": {}}}),
]  # fmt: skip
ALWAYS = ["ask", "checklist.read"]
LISTED = ["notes.read", "http.call", "mcp.s.get", "mcp.s.get", "dynamic.mine", *ALWAYS]


def made(ran: list[str]) -> list[Tool]:
    def tool(name: str, facts: dict[str, Any]) -> Tool:
        async def handler(context, arguments) -> str:
            ran.append(name)
            return "done"

        return Tool(
            ToolSpec(**{"name": name, "description": name, "input_schema": {"type": "object"}, **facts}), handler
        )

    return [tool(name, {"effect": Effect.WRITE, **facts}) for name, facts in TOOLS.items()]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([], ALWAYS),
        (["notes.*", "http.*", "mcp.s.*", "dynamic.*"], LISTED),
        (["mcp.*"], ALWAYS),
        (["**"], [*LISTED, "code.deep.read", "workspacex.read"]),
    ],
    ids=["as shipped", "globs", "a glob does not cross a dot", "everything"],
)
@pytest.mark.parametrize("below", ["the run", "a child"])
async def test_only_listed_reads_run(listed: list[str], expected: list[str], below: str, tmp_path: Path) -> None:
    ran: list[str] = []
    (tmp_path / "a.txt").write_text("before")
    config = {"modes": {"plan_tools": listed}} if listed else {}
    asker = ScriptedAsker.always("allow_for_session")
    async with (
        Toolcrib.open(home=tmp_path / "home", project=tmp_path, config=config, tools=made(ran), asker=asker) as crib,
        crib.run(mode="plan") as parent,
        parent.child("sub") as child,
    ):
        for name, arguments in CALLS:
            await parent.user_message("go on")
            await (parent if below == "the run" else child).call(name, arguments)
    assert (ran, asker.requests) == (expected, [])
    assert (tmp_path / "a.txt").read_text() == "before"
