"""Time limits hold for every kind of handler, and nothing lives on unnoticed after a call ended."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path

import pytest

from toolcrib import ToolCall, tool
from toolcrib.testing import ScriptedAsker, make_run

pytestmark = pytest.mark.anyio


async def test_an_async_handler_ends_at_its_limit() -> None:
    ended: list[bool] = []

    @tool.read(name="look.slow", timeout=0.05)
    async def slow() -> None:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async with make_run(slow) as run:
        result = await run.call("look.slow")
    assert result.reason == "timeout"
    assert "0.05 s" in result.text
    assert ended == [True]


async def test_the_configured_maximum_holds_for_every_tool() -> None:
    @tool.read(name="look.slow", timeout=100)
    async def slow() -> None:
        """Wait for ever."""
        await asyncio.Event().wait()

    config = {"tools": {"default_timeout_ms": 20, "max_timeout_ms": 50}}
    async with make_run(slow, config=config) as run:  # type: ignore[arg-type]
        result = await run.call("look.slow")
    assert (result.reason, "0.05 s" in result.text) == ("timeout", True)


async def test_a_blocking_write_left_behind_keeps_the_write_lane_closed_until_its_thread_returns() -> None:
    release = threading.Event()
    order: list[str] = []

    @tool.write(name="act.stuck", timeout=0.05)
    def stuck() -> None:
        """Block in a thread."""
        release.wait(10)
        order.append("stuck ended")

    @tool.write(name="act.next")
    async def following() -> None:
        """Write after it."""
        order.append("next ran")

    async with make_run(stuck, following, asker=ScriptedAsker.always("allow_once")) as run:
        first = await run.call("act.stuck")
        assert first.reason == "timeout"
        waiting = asyncio.create_task(run.call("act.next"))
        await asyncio.sleep(0.05)
        assert order == []
        release.set()
        assert (await waiting).ok
    assert order == ["stuck ended", "next ran"]


async def test_a_full_thread_pool_says_so_instead_of_queueing() -> None:
    release = threading.Event()

    @tool.read(name="look.stuck", timeout=5)
    def stuck() -> None:
        """Block in a thread."""
        release.wait(10)

    async with make_run(stuck, config={"tools.max_threads": 2, "limits.loop.same_call": 0}) as run:
        busy = [asyncio.create_task(run.call("look.stuck")) for _ in range(2)]
        await asyncio.sleep(0.05)
        third = await run.call("look.stuck")
        release.set()
        assert all(result.ok for result in await asyncio.gather(*busy))
        again = await run.call("look.stuck")
    assert third.reason == "worker_busy"
    assert again.ok


@tool.write(name="act.isolated", isolate="process", timeout=4.0)
def isolated(folder: str, seconds: float) -> str:
    """Leave a note of this process, start a child of its own, then sleep."""
    import subprocess
    import sys

    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(folder, "pids").write_text(f"{os.getpid()} {child.pid}")
    time.sleep(seconds)
    child.kill()
    return f"slept {seconds}"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").read_text().split(")")[1].strip().startswith("Z")


async def test_an_isolated_handler_is_killed_with_its_children_at_the_limit(tmp_path: Path) -> None:
    async with make_run(isolated, asker=ScriptedAsker.always("allow_once")) as run:
        result = await run.call("act.isolated", {"folder": str(tmp_path), "seconds": 60})
    assert result.reason == "timeout"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    await asyncio.sleep(0.5)
    assert [pid for pid in pids if alive(pid)] == []


async def test_an_isolated_handler_gives_its_result_back(tmp_path: Path) -> None:
    async with make_run(isolated, asker=ScriptedAsker.always("allow_once")) as run:
        result = await run.call("act.isolated", {"folder": str(tmp_path), "seconds": 0.01})
    assert result.text == "slept 0.01"


BAD = [
    SystemExit(3),
    RecursionError("deep"),
    MemoryError(),
    asyncio.CancelledError(),
    GeneratorExit(),
    ValueError("bad"),
]


@pytest.mark.parametrize("error", BAD, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_whatever_a_handler_raises_becomes_an_error_result(error: BaseException, kind: str) -> None:
    async def raising() -> None:
        """Raise."""
        raise error

    def blocking() -> None:
        """Raise in a thread."""
        raise error

    broken = tool.read(name="look.broken")(raising if kind == "async" else blocking)

    @tool.read(name="look.fine")
    async def fine() -> str:
        """Work."""
        return "fine"

    async with make_run(broken, fine) as run:
        results = await run.turn([ToolCall("look.broken"), ToolCall("look.fine")])
    assert [result.reason for result in results] == ["internal_error", None]
