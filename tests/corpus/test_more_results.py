"""More of what a server may answer, as data: it comes back as data, and nothing in it does anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.test_contracts import allow
from tests.corpus.test_more_drift import Server

from toolcrib import Image, Run, Toolcrib
from toolcrib.cli.program import run as run_program
from toolcrib.values.permission import PermissionDecision, PermissionRequest
from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio
CASES = [json.loads(line) for line in (Path(__file__).parent / "more_tool_result_injection.jsonl").open()]
OBJECT = {"type": "object"}
ALLOWED = 'toolsets = []\n[[policy.rules]]\ntool = "mcp.team.*"\nverdict = "allow"\n'
PICTURES = ("INJ-M59", "INJ-M60", "INJ-M61", "INJ-M63")
"""Those that say they are pictures, and are none: no provider would take a talk that holds them."""


@pytest.fixture
def server(tmp_path: Path) -> Server:
    server = Server(tmp_path)
    tools = [{"name": case["id"], "description": "Say it.", "inputSchema": OBJECT} for case in CASES]
    server.lists(tools, answers={case["id"]: case["setup"][0]["tool_result"]["result"] for case in CASES})
    return server


async def test_whatever_is_answered_ends_one_call_and_does_nothing_else(server: Server, tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request.tool)
        return PermissionDecision("allow_once" if request.tool.startswith("mcp.") else "deny")

    project = tmp_path / "project"
    project.mkdir()
    expected = {case["id"]: case["expected"].removeprefix("error:") for case in CASES}
    async with (
        Toolcrib.open(home=server.home, project=project, asker=ask) as crib,
        crib.run(session="s") as run,
    ):
        answers = {each: await run.call(f"mcp.team.{each}") for each in expected}
        assert {each: result.reason or "allow" for each, result in answers.items()} == expected
        obeyed = await run.call("code.run_command", {"argv": ["touch", "marker"]})
        assert (obeyed.reason, asked[-1]) == (Reason.PERMISSION_DENIED, "code.run_command")
        assert "read_untrusted" in run.marks
        kinds = await kinds_of(run)
    assert kinds.count("tool_started") == len(CASES)
    assert kinds.count("tool_denied") == 1
    assert list(project.iterdir()) == []
    assert sorted(server.called) == sorted(expected)
    assert not any(isinstance(block, Image) for each in PICTURES for block in answers[each].content)
    assert "5" in answers["INJ-M49"].text
    assert "3" in answers["INJ-M49"].text


async def kinds_of(run: Run) -> list[str]:
    events = await run.runtime.store.events(session_id=run.origin.session_id, after=0, limit=1_000)
    return [event.type for event in events]


async def test_a_picture_is_one_when_its_kind_and_its_data_are(tmp_path: Path) -> None:
    server, dot = Server(tmp_path), {"type": "image", "data": "iVBO\nRw0KGgo=", "mimeType": "image/png"}
    server.lists(
        [{"name": "draw", "description": "Draw.", "inputSchema": OBJECT}], answers={"draw": {"content": [dot]}}
    )
    async with Toolcrib.open(home=server.home, config={"toolsets": []}, asker=allow) as crib, crib.run() as run:
        assert (await run.call("mcp.team.draw")).content == (Image("image/png", "iVBORw0KGgo="),)


def test_nothing_that_a_server_answers_acts_on_a_terminal(
    server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    (server.home / "config.toml").write_text(ALLOWED)
    for case in ("INJ-M22", "INJ-M26", "INJ-M27", "INJ-M62", "INJ-M75"):
        assert run_program(["tools", "call", f"mcp.team.{case}", "--home", str(server.home)]) == 0
        shown = capsys.readouterr().out
        assert shown.strip()
        assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(shown), case


@pytest.mark.parametrize("data", [{"total": "3"}, {"other": 3}, [3], None], ids=str)
async def test_an_answer_that_is_not_what_the_tool_said_it_would_be_is_an_error(data: Any, tmp_path: Path) -> None:
    server = Server(tmp_path)
    schema = {**OBJECT, "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    tool = {"name": "count", "description": "Count.", "inputSchema": OBJECT, "outputSchema": schema}
    server.lists([tool], answers={"count": {"content": [], **({} if data is None else {"structuredContent": data})}})
    async with Toolcrib.open(home=server.home, config={"toolsets": []}, asker=allow) as crib, crib.run() as run:
        result = await run.call("mcp.team.count")
    assert result.reason in (Reason.INTERNAL_ERROR, Reason.VALIDATION_ERROR, Reason.PROVIDER_ERROR)
