"""Every request of the program leaves by one way: a name looked up once, the checked address dialled, no redirects."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from ssl import SSLContext

import httpx2
import pytest

from toolcrib import PermissionRequest, Refusal, Target, TargetKind
from toolcrib.askers.notify import NotNotified, Webhook
from toolcrib.assemble.apis import send
from toolcrib.hooks.declared import BadAnswer
from toolcrib.hooks.http import HttpWay
from toolcrib.network import Reach
from toolcrib.network.exchange import exchange
from toolcrib.network.reach import Streams, dial
from toolcrib.policy.network.address import Address, read_network
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.rules import NetworkRules
from toolcrib.policy.network.url import read_url
from toolcrib.sources.mcp.pinned import Pinned
from toolcrib.sources.openapi.tools import Request
from toolcrib.values.identity import Origin
from toolcrib.values.permission import Answer
from toolcrib.values.spec import Effect

pytestmark = pytest.mark.anyio
SOURCE = Path(__file__).parents[2] / "src" / "toolcrib"
OTHER_WAYS = re.compile(
    r"^\s*(?:import|from) (?:http\.client|urllib\.request|httpx2?|requests|aiohttp|httpcore2?)\b"
    r"|create_connection\(|open_connection\(|getaddrinfo\(",
    re.MULTILINE,
)
WAYS_OUT = {
    "network/reach.py",  # dials
    "network/resolve.py",  # looks names up
    "executors/sandbox/escapes.py",  # tries to get out of the sandbox, and is to fail
    "sources/mcp/web.py",  # the protocol's library wants a client of its own kind,
    "sources/mcp/pinned.py",  # which is held to the checked address here
}
PUBLIC = "93.184.216.34"
REQUEST = PermissionRequest(
    request_id="ask_1", origin=Origin("s1", "run_1"), call_id="c1", tool="act.now", effect=Effect.WRITE,
    tags=frozenset(), arguments="{}", targets=(Target(TargetKind.RESOURCE, "x"),), dangerous=False,
    because="it can change things", rule="default (shipped)", fingerprint="f", suggested=Answer.DENY, grant_scope=None,
    expires_at=0.0,
)  # fmt: skip


def test_no_other_module_opens_connections_or_looks_up_names() -> None:
    found = {str(file.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if OTHER_WAYS.search(file.read_text())}
    assert found == WAYS_OUT


@dataclass
class Names:
    """A name server that changes its mind, and a network on which every public address is one server of this test."""

    answers: list[str]
    port: int = 0
    lookups: int = 0
    dialled: list[str] = field(default_factory=list[str])
    heard: list[bytes] = field(default_factory=list[bytes])
    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    async def addresses(self, host: str, port: int) -> list[Address]:
        self.lookups += 1
        return [ip_address(each) for each in self.answers[min(self.lookups, len(self.answers)) - 1].split()]

    async def dial(self, address: Address, port: int, tls: SSLContext | None, name: str) -> Streams:
        self.dialled.append(str(address))
        return await dial(ip_address("127.0.0.1"), self.port, None, name)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Names]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.heard.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self.answer)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self


async def by_hook(url: str, reach: Reach, seconds: float = 5) -> object:
    return await HttpWay(url, {"X-Key": "k"}, seconds, reach)({"event": "PreToolUse"})


async def by_webhook(url: str, reach: Reach, seconds: float = 5) -> object:
    return await Webhook(url, seconds, reach)(REQUEST)


async def by_api(url: str, reach: Reach, seconds: float = 5) -> object:
    return await send(reach, seconds, Request("GET", url, {}, None))


WAYS: dict[str, Callable[..., Awaitable[object]]] = {
    "hook": by_hook,
    "webhook": by_webhook,
    "api": by_api,
}
REFUSED = (BadAnswer, NotNotified, Refusal)
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


@each_way
async def test_a_name_that_changes_its_answer_reaches_the_checked_address_or_nothing(
    way: Callable[..., Awaitable[object]],
) -> None:
    async with Names([PUBLIC, "127.0.0.1"]).serving() as names:
        reach = Reach(NetworkRules(), names, names.dial)
        await way("http://hooks.example/x", reach)
        assert (names.lookups, names.dialled, len(names.heard)) == (1, [PUBLIC], 1)
        with pytest.raises(REFUSED, match=r"leads to 127\.0\.0\.1"):
            await way("http://hooks.example/x", reach)
    assert (names.lookups, names.dialled, len(names.heard)) == (2, [PUBLIC], 1)


@each_way
async def test_one_private_address_among_several_refuses_all(way: Callable[..., Awaitable[object]]) -> None:
    async with Names([f"{PUBLIC} 169.254.169.254"]).serving() as names:
        with pytest.raises(REFUSED, match=r"169\.254\.169\.254"):
            await way("http://hooks.example/x", Reach(NetworkRules(), names, names.dial))
        open_to_it = NetworkRules(private=(read_network("169.254.169.254"),))
        await way("http://hooks.example/x", Reach(open_to_it, names, names.dial))
    assert names.dialled == [PUBLIC]


@each_way
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_an_address_that_the_operator_wrote_down_is_dialled(
    way: Callable[..., Awaitable[object]], host: str
) -> None:
    async with Names(["127.0.0.1"]).serving() as names:
        await way(f"http://{host}:{names.port}/x", Reach(NetworkRules(), names, names.dial))
    assert names.dialled == ["127.0.0.1"]


@each_way
async def test_a_host_on_the_list_of_denials_is_never_reached(way: Callable[..., Awaitable[object]]) -> None:
    names = Names([PUBLIC])
    rules = NetworkRules(deny=(HostPattern.of("*.example"),))
    with pytest.raises(REFUSED, match=r"denied by '\*\.example'"):
        await way("http://hooks.example/x", Reach(rules, names, names.dial))
    assert (names.lookups, names.dialled) == (0, [])


@each_way
@pytest.mark.parametrize("url", ["http://a:b@hooks.example/x", "http://hooks.example\\@evil.example/", "ftp://h/x"])
async def test_a_url_with_two_readings_is_not_used(way: Callable[..., Awaitable[object]], url: str) -> None:
    names = Names([PUBLIC])
    with pytest.raises(REFUSED, match="cannot be used"):
        await way(url, Reach(NetworkRules(), names, names.dial))
    assert names.lookups == 0


@each_way
async def test_a_host_that_keeps_silent_is_given_up(way: Callable[..., Awaitable[object]]) -> None:
    async with Names([PUBLIC], answer=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{").serving() as names:
        server_waits = Reach(NetworkRules(), names, _silent)
        with pytest.raises((*REFUSED, TimeoutError)):
            await way("http://hooks.example/x", server_waits, 0.05)


async def _silent(address: Address, port: int, tls: SSLContext | None, name: str) -> Streams:
    await asyncio.Event().wait()
    raise AssertionError("nobody woke it")


async def test_headers_of_a_caller_stand_beside_those_of_the_request_itself() -> None:
    async with Names([PUBLIC]).serving() as names:
        there = read_url("http://hooks.example:8080/x")
        given = {"X-Key": "k", "content-type": "text/plain", "HOST": "evil.example", "Connection": "keep-alive"}
        await exchange(Reach(NetworkRules(), names, names.dial), "POST", there, b"x", given)
    lines = sorted(names.heard[0].decode().lower().split("\r\n"))
    assert [line for line in lines if line.startswith(("host", "connection", "content-", "x-"))] == [
        "connection: close", "content-length: 1", "content-type: text/plain", "host: hooks.example:8080", "x-key: k",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\x00b", "a\nb"])
async def test_a_header_that_would_become_two_is_refused(value: str) -> None:
    async with Names([PUBLIC]).serving() as names:
        with pytest.raises(Refusal):
            await exchange(
                Reach(NetworkRules(), names, names.dial), "GET", read_url("http://h.example/"), None, {"X": value}
            )
    assert names.heard == []


class Sent(httpx2.AsyncBaseTransport):
    """Where requests went, and for whom; nobody listens at the first address."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
        if len(self.requests) == 1:
            raise httpx2.ConnectError("nobody listens")
        return httpx2.Response(200, request=request)


async def test_the_client_for_mcp_servers_goes_to_checked_addresses_under_the_servers_name() -> None:
    names, sent = Names([f"{PUBLIC} 1.1.1.1", "10.0.0.1"]), Sent()
    url = "https://mcp.example/mcp"
    pinned = Pinned(url, Reach(NetworkRules(), names, names.dial), sent)
    async with httpx2.AsyncClient(transport=pinned, trust_env=False) as client:
        assert (await client.post(url, content=b"{}")).status_code == 200
        with pytest.raises(httpx2.ConnectError, match=r"leads to 10\.0\.0\.1"):
            await client.post(url, content=b"{}")
        with pytest.raises(httpx2.ConnectError, match="not on the public network"):
            await client.post("http://127.0.0.1/elsewhere", content=b"{}")
    assert sent.requests == [(address, "mcp.example", "mcp.example") for address in (PUBLIC, "1.1.1.1")]
