"""pydantic-ai: one call through `ToolManager.handle_call`, the path of its agent loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from pydantic_ai import FunctionToolset

    return FunctionToolset(tools=functions)


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    from pydantic_ai import RunContext
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.usage import RunUsage

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    manager = await ToolManager(register(functions)).for_run_step(context)

    async def call(name: str, arguments: str) -> object:
        return await manager.handle_call(ToolCallPart(tool_name=name, args=arguments, tool_call_id="call_1"))

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="pydantic_ai",
            distribution="pydantic-ai-slim",
            imports="import pydantic_ai",
            register=register,
            open=open_calls,
            answer=lambda result: result,
        )
    )
