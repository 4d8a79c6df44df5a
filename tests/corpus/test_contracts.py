"""Contracts that change, as data: each case through the real counter, on a real store."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib
from toolcrib.assemble.watching import look, state_of
from toolcrib.ports import Asker
from toolcrib.values.contract import Basis
from toolcrib.values.identity import Principal, Standing, Surface
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.refusal import Reason
from toolcrib.values.spec import Effect, Source, ToolSpec, ToolType
from toolcrib.values.tool import Tool

pytestmark = pytest.mark.anyio
CASES = [json.loads(line) for line in (Path(__file__).parent / "contract_drift.jsonl").open()]
LISTED = [case for case in CASES if case["action"]["tool"].startswith("mcp.")]
OWN = [case for case in CASES if case not in LISTED]
ALICE = Principal("alice", Standing.OPERATOR)
NOTE: dict[str, Any] = {
    "name": "send_note",
    "description": "Send a note to the team list.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": False},
}


def listed(contract: dict[str, Any], ran: list[str], effect: Effect = Effect.WRITE) -> Tool:
    """A tool as a server lists it, under the name that ours has."""

    async def handler(context: Any, arguments: Any) -> str:
        ran.append(context.name)
        return "sent"

    spec = ToolSpec(
        name="mcp.team.send_note",
        title=contract.get("title", ""),
        description=contract["description"],
        input_schema=contract["inputSchema"],
        annotations=contract["annotations"],
        effect=effect,
        tags=frozenset({"mcp", "network"}),
        tool_type=ToolType.MCP,
        source=Source("mcp", "team", "1"),
        metadata={"untrusted": True},
    )
    return Tool(spec, handler)


def now(approved: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The contract after a change: what it names is merged into what was approved."""
    if "key_order" in change:
        return json.loads(json.dumps(approved), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    merged = {**approved}
    for key, value in change.items():
        merged[key] = now(approved[key], value) if isinstance(value, dict) and key in approved else value
    return merged


async def allow(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")


@asynccontextmanager
async def crib_of(
    home: Path, tools: list[Tool], enforcement: str, asker: Asker = allow
) -> AsyncGenerator[Toolcrib, None]:
    config = {"toolsets": [], "guard": {"enforcement": enforcement}}
    async with Toolcrib.open(home=home, config=config, tools=tools, asker=asker) as crib:
        yield crib


async def approve(crib: Toolcrib) -> None:
    names = list(crib.runtime.registry.snapshot)
    await crib.runtime.contracts.approve(Surface.RUNTIME, names, Basis.SNAPSHOT, ALICE, "looked at")


async def prepare(case: dict[str, Any], home: Path, ran: list[str]) -> Tool:
    """Approve what the case says was approved; returns the tool as it is now."""
    (first, *rest) = case["setup"]
    approved = first.get("approved_contract")
    if approved is None:
        async with crib_of(home, [], "enforce") as crib:
            await approve(crib)
        return listed(NOTE, ran)
    later = {**approved, "description": "Send a note to everybody."}
    versions = [approved, later] if rest and "steps" in rest[0] else [approved]
    for version in versions:
        async with crib_of(home, [listed(version, ran)], "enforce") as crib:
            await approve(crib)
    return listed(approved if len(versions) > 1 else now(approved, rest[0]["contract_now"]), ran)


@pytest.mark.parametrize("case", LISTED, ids=[case["id"] for case in LISTED])
@pytest.mark.parametrize("enforcement", ["enforce", "observe"])
async def test_a_listed_tool_that_is_not_the_approved_one_neither_runs_nor_is_shown(
    case: dict[str, Any], enforcement: str, tmp_path: Path
) -> None:
    ran: list[str] = []
    tool = await prepare(case, tmp_path / "home", ran)
    lenient = enforcement == "observe" and "baseline" in case["setup"][0]
    expected = None if case["expected"] == "allow" or lenient else Reason.CONTRACT_DRIFT
    async with crib_of(tmp_path / "home", [tool], enforcement) as crib, crib.run() as run:
        result = await run.call(case["action"]["tool"], case["action"]["args"])
        assert result.reason is expected
        shown = json.dumps(run.advertise("openai"))
        assert ("send_note" in shown) is (expected is None)
    assert ran == ([] if expected else ["mcp.team.send_note"])


def test_every_case_has_a_driver() -> None:
    """DRFT-040 is the script below; the others are the two files of the module."""
    assert {case["id"] for case in OWN} == {"DRFT-040", "DRFT-041", "DRFT-042"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tools.py", "import helper\n\ndef fib(n: int) -> int:\n    return helper.fib(n) + 1\n"),
        ("helper.py", "def fib(n: int) -> int:\n    return 666\n"),
        ("deep/below.py", "STEP = 2\n"),
        ("deep/__init__.py", "LATE = 1\n"),
    ],
)
async def test_an_edit_of_a_module_or_of_a_file_that_it_imports_needs_a_new_approval(
    file: str, text: str, tmp_path: Path
) -> None:
    """DRFT-041 and DRFT-042, with the crib open and after it was opened again."""
    home = tmp_path / "home"
    written = {
        "maker.yaml": "toolsets:\n  custom: {module: ./tools.py, tools: [fib], approval: preApproved}\n",
        "tools.py": "import helper\n\ndef fib(n: int) -> int:\n    return helper.fib(n)\n",
        "helper.py": "def fib(n: int) -> int:\n    from deep.below import STEP\n    return n + STEP\n",
        "deep/__init__.py": "",
        "deep/below.py": "STEP = 1\n",
    }
    for name, body in written.items():
        (home / "agents" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "agents" / name).write_text(body)
    config = {"toolsets": [], "guard": {"enforcement": "enforce"}}
    async with Toolcrib.open(home=home, config=config, asker=allow) as crib:
        await approve(crib)
        assert crib.outside is not None
        seen = state_of(crib.config, crib.outside.agents)
        async with crib.run(agent="maker") as run:
            assert (await run.call("custom.fib", {"n": 1})).text == "2"
            (home / "agents" / file).write_text(text)
            look(crib.outside, seen, crib.runtime.store)
            assert (await run.call("custom.fib", {"n": 1})).reason is Reason.CONTRACT_DRIFT
    async with Toolcrib.open(home=home, config=config, asker=allow) as crib, crib.run(agent="maker") as run:
        assert (await run.call("custom.fib", {"n": 1})).reason is Reason.CONTRACT_DRIFT


async def test_code_that_changed_under_the_same_contract_does_not_run_without_a_word(tmp_path: Path) -> None:
    """Hot reload and a changed script: the code behind a tool is part of what was approved."""

    def made(code: str, ran: list[str]) -> Tool:
        async def handler(context: Any, arguments: Any) -> str:
            ran.append(code)
            return "1"

        spec = ToolSpec(name="custom.fib", description="Compute.", input_schema={"type": "object"})
        return Tool(spec, handler, implementation=lambda: code)

    ran: list[str] = []
    async with crib_of(tmp_path / "home", [made("one", ran)], "enforce") as crib:
        await approve(crib)
        async with crib.run() as run:
            assert (await run.call("custom.fib")).ok
            crib.runtime.registry.replace(made("two", ran))
            assert (await run.call("custom.fib")).reason is Reason.CONTRACT_DRIFT
        async with crib.run() as run:
            assert (await run.call("custom.fib")).reason is Reason.CONTRACT_DRIFT
        await crib.runtime.contracts.approve(Surface.RUNTIME, ["custom.fib"], Basis.APPROVED, ALICE, "reviewed")
        async with crib.run() as run:
            assert (await run.call("custom.fib")).ok
    assert ran == ["one", "two"]
