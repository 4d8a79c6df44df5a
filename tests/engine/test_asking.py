"""Every way in which asking can fail ends denied, in time, with nothing done."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolcrib import Parts, PermissionDecision, PermissionRequest, Target, TargetKind, ToolCall, Toolcrib, tool
from toolcrib.askers.deny import deny
from toolcrib.askers.terminal import TerminalAsker
from toolcrib.catalog.decorate import tool_of
from toolcrib.ports import Unit
from toolcrib.testing import MemoryStore, ScriptedAsker, make_run
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import ConfigError, StoreError

pytestmark = pytest.mark.anyio
LIMIT = 0.15
GRACE = 0.1


async def raises(request: PermissionRequest) -> PermissionDecision:
    raise RuntimeError("the window is closed")


async def raises_deep(request: PermissionRequest) -> PermissionDecision:
    raise BaseExceptionGroup("several", [RuntimeError("one"), ValueError("two")])


async def hangs(request: PermissionRequest) -> PermissionDecision:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


async def hangs_and_holds_on(request: PermissionRequest) -> PermissionDecision:
    for _ in range(3):
        try:
            await asyncio.sleep(LIMIT * 4)
        except asyncio.CancelledError:
            continue
    return PermissionDecision("allow_once")


async def cancels_itself(request: PermissionRequest) -> PermissionDecision:
    raise asyncio.CancelledError


async def answers_late(request: PermissionRequest) -> PermissionDecision:
    await asyncio.sleep(LIMIT * 2)
    return PermissionDecision("allow_once")


def gives(value: object) -> Callable[[PermissionRequest], Awaitable[Any]]:
    async def ask(request: PermissionRequest) -> Any:
        return value

    return ask


def not_async(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")


async def says_maybe(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("maybe")


FAILING: dict[str, Any] = {
    "nobody": None,
    "deny": deny,
    "by name": "deny",
    "no terminal": TerminalAsker(io.StringIO("o\n"), io.StringIO()),
    "raises": raises,
    "raises a group": raises_deep,
    "hangs": hangs,
    "hangs and cannot be cancelled": hangs_and_holds_on,
    "cancels itself": cancels_itself,
    "answers late": answers_late,
    "not async": not_async,
    "an answer that does not exist": says_maybe,
    "nothing": gives(None),
    "true": gives(True),
    "the word alone": gives("allow_once"),
    "a mapping": gives({"answer": "allow_once"}),
    "says no": ScriptedAsker.always("deny"),
}


class Broken(MemoryStore):
    """A store that does not take what is appended once it is broken, or cannot be read."""

    broken = ""

    def append(self, unit: Unit) -> Receipt:
        if self.broken and any(draft.type == self.broken for draft in unit.drafts):
            receipt = Receipt(asyncio.get_running_loop())
            receipt.say(StoreError("the disk is full"))
            return receipt
        return super().append(unit)


@pytest.mark.parametrize("asker", FAILING.values(), ids=FAILING.keys())
async def test_a_question_without_a_clear_yes_is_a_denial_in_time_and_nothing_acts(asker: Any) -> None:
    acted: list[str] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        acted.append("now")
        return "done"

    config = {"policy": {"default_ask_timeout_ms": int(LIMIT * 1_000)}}
    async with make_run(act, asker=asker, config=config) as run:  # type: ignore[arg-type]
        await run.call("no.such")
        calling = asyncio.create_task(run.call("act.now"))
        limit = asyncio.create_task(asyncio.sleep(LIMIT + GRACE))
        await asyncio.wait({calling, limit}, return_when=asyncio.FIRST_COMPLETED)
        assert calling.done(), "within the limit and a tenth of a second"
        result = calling.result()
        assert (result.reason, acted) == ("permission_denied", [])
        limit.cancel()
        events = await run.runtime.store.events(session_id=run.origin.session_id, after=0, limit=99)
        assert "tool_started" not in [event.type for event in events if event.call_id == result.call_id]
        assert [event.type for event in events if event.call_id == result.call_id][-1] == "tool_denied"


@pytest.mark.parametrize(
    ("broken", "effect"),
    [
        ("permission_answered", "read"),
        ("permission_answered", "write"),
        ("grant_added", "write"),
        ("tool_started", "write"),
    ],
)
async def test_a_yes_that_cannot_be_recorded_is_a_no(broken: str, effect: str) -> None:
    acted: list[str] = []
    mark = tool.read if effect == "read" else tool.write

    @mark(name="act.far", tags={"network"})
    async def act() -> str:
        """Act at a distance."""
        acted.append("far")
        return "done"

    store = Broken()
    async with make_run(act, asker=ScriptedAsker.always("allow_for_session"), store=store) as run:
        store.broken = broken
        result = await run.call("act.far")
        store.broken = ""
    assert result.reason in ("permission_denied", "storage_error")
    assert acted == []


@pytest.mark.parametrize("asker", ["nobody", 7, object()], ids=str)
async def test_what_is_no_asker_is_refused_at_the_start(asker: Any, tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="is not an asker"):
        async with Toolcrib.open(home=tmp_path, asker=asker, parts=Parts(store=MemoryStore())):
            pass


async def test_prompts_of_one_batch_are_asked_one_after_the_other() -> None:
    open_now, most = 0, 0

    @tool.read(name="look.far", tags={"network"})
    async def look(n: int) -> int:
        """Look."""
        return n

    async def ask(request: PermissionRequest) -> PermissionDecision:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        return PermissionDecision("allow_once")

    async with make_run(look, asker=ask) as run:
        results = await run.turn([ToolCall("look.far", {"n": n}) for n in range(5)])
    assert ([result.ok for result in results], most) == ([True] * 5, 1)


async def test_an_asker_can_neither_widen_the_scope_nor_change_what_is_asked() -> None:
    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request)
        return PermissionDecision("allow_for_session", metadata={"scope": "/", "arguments": {"path": "/etc/passwd"}})

    @tool(name="file.put", targets=lambda given: [Target(TargetKind.PATH, f"/p/{given['path']}", "/p/docs")])
    async def put(path: str) -> str:
        """Put."""
        return path

    asked: list[PermissionRequest] = []
    async with make_run(put, asker=ask) as run:
        assert (await run.call("file.put", {"path": "docs/a"})).text == "docs/a"
        assert (await run.call("file.put", {"path": "docs/b/c"})).ok
        assert len(asked) == 1
        await run.call("file.put", {"path": "other/x"})
        assert len(asked) == 2, "what was granted is what was asked about"


async def test_a_changed_tool_loses_its_grants() -> None:
    asker = ScriptedAsker.always("allow_for_session")

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        return "old"

    @tool(name="act.now")
    async def other() -> str:
        """Act, with more in mind."""
        return "new"

    store = MemoryStore()
    async with make_run(act, asker=asker, store=store, session="s") as run:
        await run.call("act.now")
        assert (await run.call("act.now")).text == "old"
        assert len(asker.requests) == 1
        await run.user_message("go on")
        run.runtime.registry.replace(tool_of(other))
        run.tools = run.tools.following(run.runtime.registry.snapshot)
        assert (await run.call("act.now")).text == "new"
        assert len(asker.requests) == 2


def broken(arguments: object) -> Any:
    raise KeyError("path")


@pytest.mark.parametrize("option", ["needs_approval", "targets"])
async def test_a_tool_that_cannot_say_what_it_wants_is_denied_and_the_run_goes_on(option: str) -> None:
    done: list[str] = []

    @tool(name="act.now", **{option: broken})  # type: ignore[arg-type]
    async def act() -> None:
        """Act."""
        done.append("acted")

    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        return "seen"

    config: Any = {"policy": {"rules": [{"tool": "act.now", "verdict": "allow"}]}}
    async with make_run(act, look, asker=ScriptedAsker.always("allow_once"), config=config) as run:
        refused = await run.call("act.now")
        assert (await run.call("look.up")).ok
    assert (refused.reason, done) == ("permission_denied", [])
    assert "KeyError: 'path'" in refused.text
