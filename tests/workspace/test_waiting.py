"""Cancellation: a look is given up at once, a change that has begun is seen through and told as done."""

import asyncio
import threading

import pytest

from toolcrib.workspace.waiting import changing, looking

pytestmark = pytest.mark.anyio


async def test_a_change_that_has_begun_is_seen_through_however_often_it_is_cancelled() -> None:
    begun, release = threading.Event(), threading.Event()

    def act() -> str:
        begun.set()
        release.wait(10)
        return "done"

    task = asyncio.ensure_future(changing(act))
    await asyncio.get_running_loop().run_in_executor(None, begun.wait, 10)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done()
    release.set()
    assert await task == "done"


async def test_a_change_that_fails_is_told_as_it_failed() -> None:
    def act() -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        await changing(act)


async def test_a_look_is_given_up_when_it_is_cancelled() -> None:
    begun, release = threading.Event(), threading.Event()

    def act() -> None:
        begun.set()
        release.wait(10)

    task = asyncio.ensure_future(looking(act))
    await asyncio.get_running_loop().run_in_executor(None, begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
