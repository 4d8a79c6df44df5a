"""A stand-in for a tool that fetches pages: real connections through `Reach`, to servers on the loopback address."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.network.reach import Reach, Streams, url_of
from toolcrib.policy.network.address import Address
from toolcrib.policy.network.rules import NetworkRules
from toolcrib.policy.network.url import Url
from toolcrib.values.context import ToolContext
from toolcrib.values.refusal import Reason, Refusal

PUBLIC = "93.184.216.34"
"""What names lead to in these tests; dialling it reaches the server of the test, whatever the port."""
MOST = 1_000_000
TIMEOUT = 1.0


@dataclass
class Internet:
    """Names, what answers behind them, and everything that was asked there and on the loopback address itself."""

    names: Mapping[str, list[list[str]]] = field(default_factory=dict)
    """For each name what the first, second … lookup gives; the last holds for all that follow."""
    answer: Callable[[str], Mapping[str, Any]] = lambda path: {"body": b"hello"}
    requests: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)
    lookups: dict[str, int] = field(default_factory=dict)
    port: int = 0

    async def addresses(self, host: str, port: int) -> list[Address]:
        answers = self.names.get(host, [[PUBLIC]])
        turn = self.lookups.get(host, 0)
        self.lookups[host] = turn + 1
        return [ip_address(each) for each in answers[min(turn, len(answers) - 1)]]

    async def dial(self, address: Address, port: int, tls: ssl.SSLContext | None, name: str) -> Streams:
        self.dialled.append(str(address))
        return await asyncio.open_connection("127.0.0.1", self.port)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Internet]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path, host = head.split()[1], head.split("Host: ")[1].split("\r\n")[0]
        self.requests.append(f"{host}{path}")
        said = self.answer(path)
        status = "302 Found" if "location" in said else "200 OK"
        lines = [f"HTTP/1.0 {status}", *(f"{name}: {value}" for name, value in said.get("headers", {}).items())]
        if "location" in said:
            lines.append(f"Location: {said['location']}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        try:
            for chunk in said.get("chunks", [said.get("body", b"")]):
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(said.get("pause", 0))
        except ConnectionError:
            pass
        writer.close()

    def reach(self, rules: NetworkRules) -> Reach:
        return Reach(rules, self, self.dial)


def fetching(reach: Reach) -> Toolset:
    """`standin.fetch` and `standin.browse`, which goes where its page tells it to."""
    build = ToolsetBuilder("standin")

    @build.read(tags={"network"}, targets=reach.declares("url"), timeout=TIMEOUT)
    async def fetch(context: ToolContext, url: str) -> str:
        """Fetch a page."""
        here, hops = url_of(context), 0
        while True:
            location, body = await _get(reach, here)
            if location is None:
                return body.decode(errors="replace")
            here, hops = reach.hop(context, here, location, hops), hops + 1

    @build.read(tags={"network"}, targets=reach.declares("url"), timeout=TIMEOUT)
    async def browse(context: ToolContext, url: str, then: str) -> str:
        """Open a page, then go where it leads."""
        here = url_of(context)
        await _get(reach, here)
        return (await _get(reach, reach.hop(context, here, then, 0)))[1].decode()

    return build.build()


async def _get(reach: Reach, url: Url) -> tuple[str | None, bytes]:
    reader, writer = await reach.connect(url)
    try:
        writer.write(f"GET {url.rest} HTTP/1.0\r\nHost: {url.host}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await _body(reader, headers.get("Content-Encoding") == "gzip")
    finally:
        writer.close()
    return headers.get("Location"), body


async def _body(reader: asyncio.StreamReader, packed: bool) -> bytes:
    unpack, body = zlib.decompressobj(31), b""
    while chunk := await reader.read(65_536):
        body += unpack.decompress(chunk, MOST + 1 - len(body)) if packed else chunk
        if len(body) > MOST:
            raise Refusal(Reason.VALIDATION_ERROR, f"the page is longer than {MOST} bytes, unpacked")
    return body
