"""The local executor: handlers on the event loop, in threads, or in processes that can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from types import CoroutineType
from typing import Any

from toolcrib.executors.threads import Threads
from toolcrib.values.call import Permit
from toolcrib.values.context import ToolContext
from toolcrib.values.tool import Runs, Tool

_ASYNC = Runs.ASYNC  # every call asks, and reading an enum's member is slow


class LocalExecutor:
    """Runs what it is permitted to run; what a handler raises comes out as it is."""

    def __init__(self, max_threads: int = 64) -> None:
        self._threads = Threads(max_threads)

    def execute(self, permit: Permit, context: ToolContext) -> Coroutine[Any, Any, object]:
        invocation = permit.invocation
        tool = invocation.tool
        if tool.runs is _ASYNC:
            handler = tool.handler
            work: Any = handler(context, invocation.arguments)
            return work if type(work) is CoroutineType else _awaited(work)  # pyright: ignore[reportUnknownVariableType]
        if tool.runs is Runs.THREAD:
            return self._in_thread(tool, context)
        from toolcrib.executors.isolated import run_isolated  # few tools run in processes of their own

        return run_isolated(tool, context)

    async def close(self) -> None:
        self._threads.close()

    async def _in_thread(self, tool: Tool, context: ToolContext) -> object:
        """A thread cannot be stopped: when its time is over it is left behind, and said to linger."""
        future = self._threads.submit(lambda: tool.handler(context, context.arguments))
        lingering: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: None if lingering.done() else lingering.set_result(None))
        context.lingering = lingering
        ended = await asyncio.shield(future)
        if ended.error is not None:
            raise ended.error
        return ended.value


async def _awaited(work: Awaitable[object]) -> object:
    """A handler may give any awaitable, a future for example."""
    return await work
