"""langgraph: one call through the prebuilt `ToolNode`, given a message with one tool call."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from langgraph.prebuilt import ToolNode

    return ToolNode(functions)


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    from langchain_core.messages import AIMessage
    from langgraph.runtime import Runtime

    node = register(functions)
    config = {"configurable": {"__pregel_runtime": Runtime()}}

    async def call(name: str, arguments: str) -> object:
        wanted = {"name": name, "args": json.loads(arguments), "id": "call_1", "type": "tool_call"}
        return await node.ainvoke({"messages": [AIMessage(content="", tool_calls=[wanted])]}, config)

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="langgraph",
            distribution="langgraph",
            imports="from langgraph.prebuilt import ToolNode",
            register=register,
            open=open_calls,
            answer=lambda result: result["messages"][-1].content,
        )
    )
