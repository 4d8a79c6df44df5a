"""A wait that nothing stops: it ends with its future, and tells of a cancellation then."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib.engine.steadfast import unstoppable

pytestmark = pytest.mark.anyio


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("cancellations", [0, 1, 3])
async def test_the_future_survives_every_cancellation_of_the_one_who_waits(cancellations: int) -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(unstoppable(future))
    await turns(2)
    for _ in range(cancellations):
        task.cancel()
        await turns(2)
    assert not task.done()
    assert not future.done()
    future.set_result(7)
    assert await task is (cancellations > 0)


async def test_a_cancellation_between_the_end_and_the_waking_is_told() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(unstoppable(future))
    await turns(2)
    future.set_result(7)
    task.cancel()
    assert await task is True


@pytest.mark.parametrize("cancellations", [0, 1])
async def test_the_error_of_the_future_is_raised(cancellations: int) -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(unstoppable(future))
    await turns(2)
    for _ in range(cancellations):
        task.cancel()
    future.set_exception(LookupError("gone"))
    with pytest.raises(LookupError, match="gone"):
        await task


async def test_a_future_that_is_cancelled_itself_ends_the_wait() -> None:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(unstoppable(future))
    await turns(2)
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
