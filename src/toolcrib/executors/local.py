"""The local executor: handlers on the event loop, in threads, or in processes that can be killed."""

from __future__ import annotations

import asyncio

from toolcrib.executors.isolated import run_isolated
from toolcrib.executors.threads import Threads
from toolcrib.values.call import Permit
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.tool import Runs, Tool


class LocalExecutor:
    """Runs what it is permitted to run; whatever a handler raises becomes a Refusal that the model can read."""

    def __init__(self, max_threads: int = 64) -> None:
        self._threads = Threads(max_threads)

    async def execute(self, permit: Permit, context: ToolContext) -> object:
        invocation = permit.invocation
        tool = invocation.tool
        try:
            if tool.runs is Runs.ASYNC:
                return await tool.handler(context, invocation.arguments)
            if tool.runs is Runs.THREAD:
                return await self._in_thread(tool, context)
            return await run_isolated(tool, context)
        except Refusal:
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise Refusal(Reason.INTERNAL_ERROR, f"{tool.name} failed: it cancelled itself") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise handler_failed(tool, error) from error

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


def handler_failed(tool: Tool, error: BaseException) -> Refusal:
    """A handler's failure in the model's words: the kind of error and its message, never a traceback."""
    text = str(error).strip()
    message = f"{tool.name} failed: {type(error).__name__}" + (f": {text[:2_000]}" if text else "")
    return Refusal(Reason.INTERNAL_ERROR, message, {"error_type": type(error).__name__})
