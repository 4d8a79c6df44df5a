"""Hook, then permission, then the start on record, then execution; a veto means nobody is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolcrib import HookAnswer, PermissionDecision, PermissionRequest, PostHook, PreHook, Toolcrib, tool
from toolcrib.ports import HookVerdict

pytestmark = pytest.mark.anyio


async def order_of(tmp_path: Path, answer: HookAnswer | None, lenient: bool = False) -> tuple[list[str], str | None]:
    seen: list[str] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        seen.append("execute")
        return "done"

    async def before(invocation: object, origin: object) -> HookAnswer | None:
        seen.append("hook")
        return answer

    async def after(invocation: object, result: object, origin: object) -> None:
        seen.append("after")

    async def ask(request: PermissionRequest) -> PermissionDecision:
        seen.append("ask")
        return PermissionDecision("allow_once")

    hooks = [PreHook(run=before, lenient=lenient), PostHook(run=after)]
    async with Toolcrib.open(home=tmp_path, tools=[act], asker=ask, hooks=hooks) as crib, crib.run() as run:
        result = await run.call("act.now")
        stored = [event.type async for event in crib.events(follow_on=False) if event.call_id]
        seen.extend(stored)
    return seen, result.reason


async def test_hook_permission_start_execution_record_in_this_order(tmp_path: Path) -> None:
    seen, reason = await order_of(tmp_path, None)
    assert reason is None
    assert seen == [
        "hook",
        "ask",
        "execute",
        "after",
        "permission_asked",
        "permission_answered",
        "tool_started",
        "tool_completed",
    ]


async def test_a_hook_that_denies_is_the_end_and_nobody_is_asked(tmp_path: Path) -> None:
    seen, reason = await order_of(tmp_path, HookAnswer(HookVerdict.DENY, "not on Sundays"))
    assert reason == "permission_denied"
    assert seen == ["hook", "hook_denied", "tool_denied"]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("fault", ["raises", "hangs", "nonsense"])
async def test_a_failing_hook_denies_unless_it_is_lenient(tmp_path: Path, fault: str, lenient: bool) -> None:
    ran: list[int] = []

    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        ran.append(1)
        return "seen"

    async def before(invocation: object, origin: object) -> HookAnswer | None:
        if fault == "hangs":
            await asyncio.Event().wait()
        if fault == "nonsense":
            return "allow"  # type: ignore[return-value]
        raise RuntimeError("hook down")

    hooks = [PreHook(run=before, name="checker", lenient=lenient, timeout=0.05)]
    async with Toolcrib.open(home=tmp_path, tools=[look], hooks=hooks) as crib, crib.run() as run:
        result = await run.call("look.up")
        again = await run.call("look.up")
    assert (result.ok, again.ok) == (lenient, lenient)
    assert len(ran) == (2 if lenient else 0)
    if not lenient:
        assert "checker" in result.text


@pytest.mark.parametrize("fault", ["raises", "hangs"])
async def test_a_failing_post_hook_changes_nothing_but_is_noted(tmp_path: Path, fault: str) -> None:
    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    async def after(invocation: object, result: object, origin: object) -> None:
        if fault == "hangs":
            await asyncio.Event().wait()
        raise RuntimeError("hook down")

    hooks = [PostHook(run=after, name="watcher", timeout=0.05)]
    async with Toolcrib.open(home=tmp_path, tools=[look], hooks=hooks) as crib, crib.run() as run:
        result = await run.call("look.up")
        assert (await run.call("look.up")).ok
        stored = [event.type async for event in crib.events(follow_on=False) if event.call_id == result.call_id]
    assert result.text == "seen"
    assert stored == ["tool_started", "tool_completed", "hook_failed"]


async def test_a_hook_can_bring_in_a_person(tmp_path: Path) -> None:
    asked: list[str] = []

    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    async def before(invocation: object, origin: object) -> HookAnswer | None:
        return HookAnswer(HookVerdict.ASK, "looks odd")

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request.because)
        return PermissionDecision("deny", "no")

    hooks = [PreHook(run=before)]
    async with Toolcrib.open(home=tmp_path, tools=[look], hooks=hooks, asker=ask) as crib, crib.run() as run:
        result = await run.call("look.up")
    assert asked == ["looks odd"]
    assert result.reason == "permission_denied"
