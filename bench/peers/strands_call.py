"""strands: one call through the tool executor of its agent loop."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from strands import tool
    from strands.tools.registry import ToolRegistry

    registry = ToolRegistry()
    for function in functions:
        registry.register_tool(tool(function))
    return registry


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    from strands import Agent, tool
    from strands.telemetry.metrics import Trace

    agent = Agent(tools=[tool(function) for function in functions], callback_handler=None)
    trace = Trace("bench")

    async def call(name: str, arguments: str) -> object:
        wanted = {"name": name, "toolUseId": "call_1", "input": json.loads(arguments)}
        results = []
        async for _ in agent.tool_executor._execute(agent, [wanted], results, trace, None, {}):
            pass
        return results

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="strands",
            distribution="strands-agents",
            imports="from strands import Agent, tool",
            register=register,
            open=open_calls,
            answer=lambda results: results[0]["content"][0]["text"],
        )
    )
