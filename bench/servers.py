"""`python bench/servers.py`: servers listed, and calls beside the protocol library's own.

The servers live in this process and answer at once, so that what is measured is the client; those that are reached
over pipes and over HTTP are processes of their own. Servers that break are measured by `server_faults.py`.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import orjson
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/sources/mcp"))
from servers_at_hand import HOSTILE
from test_real_web import everything, free_port

from kernel import NoSink
from toolcrib import Parts, Toolcrib
from toolcrib.assemble.servers import Log, Shelf
from toolcrib.executors.tree import family
from toolcrib.sources.mcp.entry import Entry, Override
from toolcrib.sources.mcp.lane import Wire
from toolcrib.sources.mcp.lines import decoded
from toolcrib.sources.mcp.pipe import Link, delivered
from toolcrib.sources.mcp.source import McpSource
from toolcrib.values.spec import Effect
from toolcrib.values.turn import Turn

SERVERS, TOOLS = 100, 20
CALLS, WARM = 6_000, 100
Answer = Callable[[dict[str, Any]], bytes]


def main() -> int:
    missed = 0
    missed += show("100 servers with 20 tools: list and fingerprint, CPU s", asyncio.run(listing()), 1)
    for words, ratio in asyncio.run(calls()).items():
        missed += show(f"a call, {words}, in calls of the bare library", ratio, 1.15)
    return 1 if missed else 0


def show(words: str, value: float, limit: float) -> bool:
    fine = value <= limit
    print(f"{words:72}{value:>10.3f}{f'≤ {limit:g}':>12}{'' if fine else '  MISSED'}")
    return not fine


async def listing() -> float:
    """CPU from the moment that all servers are connected until all of their tools can be used."""
    gate = asyncio.Event()
    stubs = {f"server{number}": Stub(number, gate) for number in range(SERVERS)}
    async with crib_of(stubs) as crib:
        source = crib.servers
        assert source is not None
        waiting = asyncio.create_task(source.ready())
        for stub in stubs.values():
            await stub.asked.wait()
        gc.collect()
        began = time.process_time()
        gate.set()
        await waiting
        prints = {tool.fingerprint for tool in crib.runtime.registry.snapshot.values()}
        spent = time.process_time() - began
        assert len(prints) >= SERVERS * TOOLS, len(prints)
        return spent


async def calls() -> dict[str, float]:
    """Calls that take turns: through the counter, and by the protocol's library over the same server."""
    server = Stub(0)
    async with crib_of({"server0": server}) as crib, crib.run() as run, Client(server.bare()) as client:
        numbers = iter(range(10_000_000))

        async def ours() -> None:
            result = await run.call("mcp.server0.tool_3", {"query": f"number {next(numbers)}"})
            assert "was found" in result.text, result

        async def theirs() -> None:
            result = await client.call_tool("tool_3", {"query": f"number {next(numbers)}"})
            assert not result.is_error

        await client.list_tools()
        found = {"in process": await beside(ours, theirs)}
    return found | {"over pipes": await calls_over_pipes(), "over HTTP": await calls_over_http()}


async def calls_over_pipes() -> float:
    command, args = sys.executable, (str(HOSTILE), "")
    entry = Entry("real", command=command, args=args, network=False, tools={"echo": Override(Effect.READ)})
    pipes = stdio_client(StdioServerParameters(command=command, args=list(args)))
    return await echoes(entry, Client(pipes), "text")


async def calls_over_http() -> float:
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    async with everything(port):
        entry = Entry("real", url=url, network=False, tools={"echo": Override(Effect.READ)})
        return await echoes(entry, Client(url), "message")


async def echoes(entry: Entry, bare: Client, said: str) -> float:
    """The same with a server in another process; only the CPU of this one is counted."""
    async with home_of([entry], McpSource) as crib, crib.run() as run, bare as client:
        numbers = iter(range(10_000_000))

        async def ours() -> None:
            result = await run.call("mcp.real.echo", {said: f"number {next(numbers)}"})
            assert "number" in result.text, result

        async def theirs() -> None:
            assert not (await client.call_tool("echo", {said: f"number {next(numbers)}"})).is_error

        await client.list_tools()
        return await beside(ours, theirs, 1_500)


async def beside(
    ours: Callable[[], Awaitable[None]], theirs: Callable[[], Awaitable[None]], calls: int = CALLS
) -> float:
    """The CPU time of all calls of one kind over that of the other; they take turns call by call."""
    for _ in range(WARM):
        await ours()
        await theirs()
    gc.collect()
    mine = other = 0.0
    for _ in range(calls):
        mine += await cpu_of(ours)
        other += await cpu_of(theirs)
    return mine / other


async def cpu_of(work: Callable[[], Awaitable[None]]) -> float:
    began = time.process_time()
    await work()
    return time.process_time() - began


class Stub:
    """A server in this process; it answers with lines, as a child process would."""

    def __init__(self, number: int, gate: asyncio.Event | None = None) -> None:
        self.number = number
        self.gate = gate
        self.asked = asyncio.Event()
        self.tools = [described(number, tool) for tool in range(TOOLS)]

    @asynccontextmanager
    async def linked(self, link: Link) -> AsyncGenerator[tuple[Any, Any]]:
        """What our own pipe does to messages, without the pipe."""
        lines: asyncio.Queue[bytes] = asyncio.Queue()

        def encode(sent: SessionMessage) -> bytes:
            message = sent.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            link.cleaner.sent(message)
            return orjson.dumps(message)

        async def deliver(line: bytes, incoming: Any) -> None:
            if (message := await decoded(line, link.cleaner, Turn(link.side))) is not None:
                await delivered(message, incoming, link)

        link.lane.open(Wire(lines.put_nowait, drained))
        async with self._joined(encode, deliver, lines) as streams:
            yield streams

    @asynccontextmanager
    async def bare(self) -> AsyncGenerator[tuple[Any, Any]]:
        """What the library's pipe does to messages, without the pipe."""

        def encode(sent: SessionMessage) -> bytes:
            return sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

        async def deliver(line: bytes, incoming: Any) -> None:
            await incoming.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))

        async with self._joined(encode, deliver, asyncio.Queue()) as streams:
            yield streams

    @asynccontextmanager
    async def _joined(
        self,
        encode: Callable[[SessionMessage], bytes],
        deliver: Callable[[bytes, Any], Awaitable[None]],
        lines: asyncio.Queue[bytes],
    ) -> AsyncGenerator[tuple[Any, Any]]:
        incoming, reading = anyio.create_memory_object_stream[Any](0)
        writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def write() -> None:
            async for sent in outgoing:
                lines.put_nowait(encode(sent))

        async def serve() -> None:
            while True:
                if (line := await self.answer(orjson.loads(await lines.get()))) is not None:
                    await deliver(line, incoming)

        tasks = {asyncio.create_task(write()), asyncio.create_task(serve())}
        try:
            yield reading, writing
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (incoming, reading, writing, outgoing):
                stream.close()

    async def answer(self, message: dict[str, Any]) -> bytes | None:
        if "id" not in message:
            return None
        method, head = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "stub", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
            return orjson.dumps({**head, "result": result})
        if method == "tools/list":
            self.asked.set()
            if self.gate is not None:
                await self.gate.wait()
            return orjson.dumps({**head, "result": {"tools": self.tools}})
        if method == "tools/call":
            said = f"{message['params']['arguments']['query']} was found"
            return orjson.dumps({**head, "result": {"content": [{"type": "text", "text": said}]}})
        return orjson.dumps({**head, "error": {"code": -32601, "message": "not known here"}})


def described(server: int, tool: int) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "kinds": {"type": "array", "items": {"enum": ["note", "person", "place"]}},
        "within": {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    words = f"Search collection {tool} of server {server}. Use it when the user asks for something that was kept there."
    return {"name": f"tool_{tool}", "description": words, "inputSchema": schema}


class Near(McpSource):
    """Servers of this process, reached without a pipe."""

    stubs: dict[str, Stub]

    def connect(self, entry: Entry, link: Link) -> Any:
        return self.stubs[entry.name].linked(link)


@asynccontextmanager
async def crib_of(stubs: dict[str, Stub]) -> AsyncGenerator[Toolcrib]:
    """A crib whose servers are these; calls that only read need no answer from a person."""
    read = {f"tool_{number}": Override(Effect.READ) for number in range(TOOLS)}
    entries = [Entry(name, command="stub", network=False, tools=read) for name in stubs]
    async with home_of(entries, Near) as crib:
        assert isinstance(crib.servers, Near)
        crib.servers.stubs = stubs
        yield crib


@asynccontextmanager
async def home_of(entries: list[Entry], kind: type[McpSource]) -> AsyncGenerator[Toolcrib]:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as home:
        async with Toolcrib.open(home=home, config={"toolsets": []}, parts=Parts(store=NoSink())) as crib:
            shelf, log = Shelf(crib.runtime.registry), Log(crib.runtime.store, crib.runtime.redactor)
            crib.servers = source = kind(entries, {}, shelf.publish_gently, log.note, family)
            try:
                yield crib
            finally:
                await source.close()


async def drained() -> None:
    """A queue always has room."""


if __name__ == "__main__":
    sys.exit(main())
