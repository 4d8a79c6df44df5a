"""Nothing executes without a permit, and only the gate makes one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import toolcrib
from toolcrib import PermissionDecision, PermissionRequest, ToolCall, tool
from toolcrib.testing import ScriptedAsker, make_run

pytestmark = pytest.mark.anyio
SOURCE = Path(toolcrib.__file__).parent
ran: list[str] = []


@tool(name="act.mark")
async def mark(word: str) -> str:
    """Leave a mark that a test can see."""
    ran.append(word)
    return word


@pytest.fixture(autouse=True)
def _clean() -> None:
    ran.clear()


def test_only_the_gate_makes_permits() -> None:
    makers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Permit"
    }
    assert makers == {"engine/gate.py"}


def test_only_settle_asks_an_executor_to_execute() -> None:
    callers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "execute"
        and isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "executor"
    }  # fmt: skip
    assert callers == {"engine/settle.py"}


async def test_a_write_without_an_asker_does_not_run() -> None:
    async with make_run(mark) as run:
        result = await run.call("act.mark", {"word": "a"})
    assert result.reason == "permission_denied"
    assert ran == []


async def hang(request: PermissionRequest) -> PermissionDecision:
    import asyncio

    await asyncio.Event().wait()
    raise AssertionError


async def wrong_type(request: PermissionRequest) -> PermissionDecision:
    return "allow_once"  # type: ignore[return-value]


async def nothing(request: PermissionRequest) -> PermissionDecision:
    return None  # type: ignore[return-value]


@pytest.mark.parametrize(
    "asker",
    [hang, wrong_type, nothing, ScriptedAsker([RuntimeError("boom")]), ScriptedAsker(["deny"]), ScriptedAsker([])],
    ids=["hangs", "wrong type", "none", "raises", "denies", "unscripted"],
)
async def test_every_failure_of_the_asker_is_a_denial_without_effect(asker: object) -> None:
    config = {"policy": {"default_ask_timeout_ms": 100}}
    async with make_run(mark, asker=asker, config=config) as run:  # type: ignore[arg-type]
        result = await run.call("act.mark", {"word": "a"})
    assert result.reason == "permission_denied"
    assert ran == []


@pytest.mark.parametrize(
    ("rule", "answer", "runs"),
    [
        ({"tool": "act.*", "verdict": "allow"}, None, True),
        ({"tool": "act.*", "verdict": "preApproved"}, None, True),
        ({"tool": "act.*", "verdict": "deny"}, "allow_once", False),
        ({"tool": "act.*", "verdict": "blocked"}, "allow_for_session", False),
        ({"tool": "act", "verdict": "allow"}, None, False),
        ({"tool": "act.mark", "tags": ["missing"], "verdict": "allow"}, None, False),
        ({"tool": "**", "verdict": "ask"}, "allow_once", True),
    ],
)
async def test_rules_decide_by_pattern_and_tags(rule: dict[str, object], answer: str | None, runs: bool) -> None:
    asker = ScriptedAsker([answer]) if answer else None
    async with make_run(mark, asker=asker, config={"policy": {"rules": [rule]}}) as run:  # type: ignore[dict-item]
        await run.call("act.mark", {"word": "a"})
    assert ran == (["a"] if runs else [])


async def test_the_strictest_rule_wins_whatever_their_order() -> None:
    rules = [{"tool": "act.mark", "verdict": "allow"}, {"tool": "act.*", "verdict": "deny", "because": "not today"}]
    for order in (rules, rules[::-1]):
        async with make_run(mark, config={"policy": {"rules": order}}) as run:  # type: ignore[dict-item]
            result = await run.call("act.mark", {"word": "a"})
        assert result.reason == "permission_denied"
        assert "not today" in result.text
    assert ran == []


async def test_an_answer_for_the_session_covers_the_same_arguments_and_nothing_else() -> None:
    asker = ScriptedAsker(["allow_for_session", "deny"])
    async with make_run(mark, asker=asker) as run:
        await run.call("act.mark", {"word": "a"})
        await run.call("act.mark", {"word": "a"})
        other = await run.call("act.mark", {"word": "b"})
    assert ran == ["a", "a"]
    assert other.reason == "permission_denied"
    assert len(asker.requests) == 2


async def test_the_questions_of_one_batch_are_asked_one_after_the_other() -> None:
    open_questions = 0
    most = 0

    @tool.read(name="net.get", tags={"network"})
    async def get(n: int) -> int:
        """Reach out."""
        return n

    async def ask(request: PermissionRequest) -> PermissionDecision:
        nonlocal open_questions, most
        import asyncio

        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0.001)
        open_questions -= 1
        return PermissionDecision("allow_once")

    async with make_run(get, asker=ask) as run:
        results = await run.turn([ToolCall("net.get", {"n": n}) for n in range(5)])
    assert all(result.ok for result in results)
    assert most == 1
