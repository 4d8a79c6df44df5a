"""A receipt is awaited like a future, is not cancelled with its task, and wakes whoever waits."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError

pytestmark = pytest.mark.anyio
WHO: ContextVar[str] = ContextVar("who", default="nobody")


def new() -> Receipt:
    return Receipt(asyncio.get_running_loop())


async def said_later(receipt: Receipt, outcome: int | Exception) -> None:
    asyncio.get_running_loop().call_soon(receipt.say, outcome)
    await asyncio.sleep(0)


async def test_everybody_who_waits_is_told_the_same() -> None:
    receipt = new()
    waiting = [asyncio.create_task(_wait(receipt)) for _ in range(3)]
    await asyncio.sleep(0)
    await said_later(receipt, 7)
    assert await asyncio.gather(*waiting) == [7, 7, 7]
    assert await receipt == 7


async def test_what_failed_is_raised_where_it_is_awaited() -> None:
    receipt = new()
    waiting = asyncio.create_task(_wait(receipt))
    await asyncio.sleep(0)
    await said_later(receipt, StoreError("the disk is full"))
    with pytest.raises(StoreError, match="the disk is full"):
        await waiting
    assert isinstance(receipt.exception(), StoreError)


async def test_a_cancelled_task_hears_of_it_when_the_receipt_is_there_and_not_before() -> None:
    receipt = new()
    waiting = asyncio.create_task(_wait(receipt))
    await asyncio.sleep(0)
    waiting.cancel()
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()
    await said_later(receipt, 7)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert receipt.result() == 7


async def test_each_goes_on_in_its_own_context() -> None:
    receipt, seen = new(), list[str]()

    async def wait(name: str) -> None:
        WHO.set(name)
        await receipt
        seen.append(WHO.get())

    waiting = [asyncio.create_task(wait(name)) for name in ("one", "two")]
    await asyncio.sleep(0)
    await said_later(receipt, 1)
    await asyncio.gather(*waiting)
    assert seen == ["one", "two"]


async def test_from_inside_a_task_the_others_are_told_soon() -> None:
    receipt = new()
    waiting = asyncio.create_task(_wait(receipt))
    await asyncio.sleep(0)
    receipt.say_soon(3)
    assert await waiting == 3


async def test_it_can_be_gathered_and_waited_for_like_any_awaitable() -> None:
    first, second = new(), new()
    asyncio.get_running_loop().call_soon(first.say, 1)
    second.say(2)
    assert await asyncio.wait_for(asyncio.gather(first, second), 5) == [1, 2]


async def _wait(receipt: Receipt) -> int:
    return await receipt
