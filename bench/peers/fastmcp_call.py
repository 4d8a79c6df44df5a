"""fastmcp: one call through `FastMCP.call_tool`, which its server runs per request, without the protocol around it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from measure import Call, Function, Peer, main


def register(functions: list[Function]) -> object:
    from fastmcp import FastMCP

    server = FastMCP("bench")
    for function in functions:
        server.tool(function)
    return server


@asynccontextmanager
async def open_calls(functions: list[Function]) -> AsyncIterator[Call]:
    server = register(functions)

    async def call(name: str, arguments: str) -> object:
        return await server.call_tool(name, json.loads(arguments))

    yield call


if __name__ == "__main__":
    main(
        Peer(
            name="fastmcp",
            distribution="fastmcp",
            imports="from fastmcp import FastMCP",
            register=register,
            open=open_calls,
            answer=lambda result: result.structured_content["result"],
        )
    )
