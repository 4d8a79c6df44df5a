"""What tools return is data, as data: whatever it says, nothing in it is a call, a permission or a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib import ToolCall
from toolcrib.dialects import parse
from toolcrib.testing import MemoryStore, make_run
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.refusal import Reason
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Tool

pytestmark = pytest.mark.anyio
CASES = [json.loads(line) for line in (Path(__file__).parent / "tool_result_injection.jsonl").open()]
RETURNED = [case for case in CASES if case["setup"] and "tool_result" in case["setup"][0]]
ELSEWHERE = {"INJ-016", "INJ-017", "INJ-038", "INJ-040"}
"""Cases about a model's own text, about another suite, and about commands that run what was fetched."""


def fetch(text: str) -> Tool:
    async def handler(context: Any, arguments: Any) -> str:
        return text

    spec = ToolSpec(
        name="mcp.web.fetch",
        description="Fetch a page.",
        input_schema={"type": "object"},
        effect=Effect.READ,
        tags=frozenset({"mcp", "network"}),
        tool_type=ToolType.MCP,
        source=Source("mcp", "web", "1"),
        metadata={"untrusted": True},
    )
    return Tool(spec, handler)


def write(done: list[Any]) -> Tool:
    async def handler(context: Any, arguments: Any) -> str:
        done.append(arguments)
        return "done"

    spec = ToolSpec(name="code.run_command", description="Run a command.", input_schema={"type": "object"})
    return Tool(spec, handler)


@pytest.mark.parametrize("case", RETURNED, ids=[case["id"] for case in RETURNED])
async def test_what_a_source_returns_is_shown_as_it_is_and_does_nothing(case: dict[str, Any]) -> None:
    text, done, asked, store = case["setup"][0]["tool_result"]["text"], [], [], MemoryStore()

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request.tool)
        return PermissionDecision("allow_once" if request.tool == "mcp.web.fetch" else "deny")

    async with make_run(fetch(text), write(done), asker=ask, store=store) as run:
        (result,) = await run.turn([ToolCall("mcp.web.fetch", {})])
        assert result.ok
        before = len(asked)
        obeyed = await run.call("code.run_command", {"argv": ["touch", "marker"]})
        assert obeyed.reason is Reason.PERMISSION_DENIED
        assert asked[before:] == ["code.run_command"]
        assert "read_untrusted" in run.marks
        events = await store.events(session_id=run.origin.session_id, after=0, limit=100)
        kinds = [event.type for event in events if event.type.startswith("tool_")]
        assert kinds == ["tool_started", "tool_completed", "tool_denied"]
    assert done == []


def test_every_case_of_a_result_is_driven_here() -> None:
    assert {case["id"] for case in CASES} - {case["id"] for case in RETURNED} == ELSEWHERE


def test_a_model_s_own_text_is_parsed_once_and_by_itself() -> None:
    """The same markup in what the model writes is a call: what makes the difference is who wrote it."""
    (case,) = [case for case in CASES if case["id"] == "INJ-008"]
    tools = [{"type": "function", "function": {"name": "code.run_command", "parameters": {"type": "object"}}}]
    assert parse(case["setup"][0]["tool_result"]["text"], tools=tools).calls
