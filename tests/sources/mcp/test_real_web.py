"""A real server over streamable HTTP, killed in the middle of a call and started again."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from servers_at_hand import Open
from test_real_servers import NODE

from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def everything(port: int) -> AsyncGenerator[asyncio.subprocess.Process]:
    script = NODE / "server-everything" / "dist" / "index.js"
    assert script.exists(), "the real MCP servers are missing; run: make servers"
    server = await asyncio.create_subprocess_exec(
        "node",
        str(script),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr is not None
    while b"listening" not in (line := await server.stderr.readline()):
        assert line, "the server ended before it listened"
    try:
        yield server
    finally:
        if server.returncode is None:
            server.kill()
        await server.communicate()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_a_server_killed_during_a_call_costs_that_call_and_works_after_its_restart(crib_with: Open) -> None:
    port = free_port()
    entry: dict[str, object] = {"url": f"http://127.0.0.1:{port}/mcp", "connect_timeout_ms": 20_000}
    async with everything(port) as server, crib_with(all=entry) as crib, crib.run() as run:
        assert (await run.call("mcp.all.echo", {"message": "hi"})).text == "Echo: hi"
        for name in ("mcp.all.echo", "mcp.all.resource_read"):
            targets = crib.runtime.registry.snapshot[name].targets
            assert targets is not None
            assert [target.value for target in targets({})] == [f"127.0.0.1:{port}"]
        long = {"duration": 30, "steps": 60}
        call = asyncio.create_task(run.call("mcp.all.trigger-long-running-operation", long))
        async for event in crib.events():
            if event.type == "tool_progress":
                break
        server.kill()
        failed = await call
        assert failed.reason is Reason.PROVIDER_ERROR
        await server.wait()
        async with everything(port):
            assert (await run.call("mcp.all.echo", {"message": "back"})).text == "Echo: back"
