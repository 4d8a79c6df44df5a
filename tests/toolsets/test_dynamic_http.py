"""Dynamic tools of the kind http, against a real server: arguments stay in their place, and the host stays the host."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.toolsets.making import Making, approve, create, http

from toolcrib import Toolcrib
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio


class Far(ThreadingHTTPServer):
    """A server that keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.seen: list[tuple[str, str, str]] = []

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Far)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        server.seen.append((self.command, self.path, body))
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{server.server_address[1]}/stolen")
        elif self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/here?x=1")
        else:
            self.send_response(404 if self.path.startswith("/missing") else 200)
            self.send_header("Content-Type", "application/json")
        answer = json.dumps({"path": self.path}).encode()
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def far() -> Iterator[Far]:
    server = Far()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def making(tmp_path: Path, far: Far) -> Making:
    return Making(tmp_path, config={"network.allow_hosts": [far.place]})


async def made(crib: Toolcrib, name: str, implementation: Json) -> None:
    async with crib.run() as run:
        result = await create(run, name, implementation)
        assert result.ok, result.text
    await approve(crib, f"dynamic.{name}")


async def test_arguments_are_percent_encoded_and_change_neither_path_nor_query(making: Making, far: Far) -> None:
    async with making.open() as crib:
        await made(crib, "ask", http(f"http://{far.place}/items/{{{{args.x}}}}/parts?n={{{{args.y}}}}"))
        async with crib.run() as run:
            result = await run.call("dynamic.ask", {"x": "a/b?c=d&e#f @evil.example:80", "y": 7})
            spec = crib.runtime.registry.snapshot["dynamic.ask"].spec
    assert result.ok, result.text
    assert far.seen == [("GET", "/items/a%2Fb%3Fc%3Dd%26e%23f%20%40evil.example%3A80/parts?n=7", "")]
    assert (spec.effect, spec.network, spec.dangerous) == ("read", True, True)
    assert making.asked[-1].tool == "dynamic.ask"


@pytest.mark.parametrize("value", ["..", ".", "", "%2e%2e/admin", "../admin"])
async def test_no_argument_leads_out_of_the_path(making: Making, far: Far, value: str) -> None:
    async with making.open() as crib:
        await made(crib, "ask", http(f"http://{far.place}/items/{{{{args.x}}}}"))
        async with crib.run() as run:
            result = await run.call("dynamic.ask", {"x": value})
    paths = [path for _, path, _ in far.seen]
    assert result.reason is Reason.VALIDATION_ERROR or paths in (["/items/%252e%252e%2Fadmin"], ["/items/..%2Fadmin"])


async def test_what_the_url_does_not_use_is_posted_as_json(making: Making, far: Far) -> None:
    async with making.open() as crib:
        await made(crib, "tell", http(f"http://{far.place}/items/{{{{args.x}}}}", "POST"))
        async with crib.run() as run:
            assert (await run.call("dynamic.tell", {"x": "one", "y": 2})).ok
            spec = crib.runtime.registry.snapshot["dynamic.tell"].spec
    assert far.seen == [("POST", "/items/one", '{"y":2}')]
    assert spec.effect == "write"


async def test_redirects_stay_with_the_host(making: Making, far: Far) -> None:
    async with making.open() as crib:
        await made(crib, "moved", http(f"http://{far.place}/moved"))
        await made(crib, "away", http(f"http://{far.place}/away"))
        await made(crib, "missing", http(f"http://{far.place}/missing"))
        async with crib.run() as run:
            moved = await run.call("dynamic.moved", {})
            away = await run.call("dynamic.away", {})
            missing = await run.call("dynamic.missing", {})
    assert moved.data == {"path": "/here?x=1"}
    assert away.reason is Reason.PERMISSION_DENIED
    assert missing.reason is Reason.PROVIDER_ERROR
    assert [path for _, path, _ in far.seen] == ["/moved", "/here?x=1", "/away", "/missing"]


WRONG = [
    ("https://{{args.x}}/a", "as they are"),
    ("https://a.example{{args.x}}", "as they are"),
    ("https://a.example:{{args.y}}/a", "as they are"),
    ("{{args.x}}", "as they are"),
    ("https://{{args.x}}@a.example/", "as they are"),
    ("https://a.example/#{{args.x}}", "fragment"),
    ("https://a.example/{{steps.1.text}}", "steps"),
    ("file:///etc/passwd", "as they are"),
    ("ftp://a.example/a", "does not begin with"),
    ("https://user:pass@a.example/", "user name"),
    ("http://169.254.169.254/latest", "public network"),
    ("https://denied.example/", "denied"),
]


@pytest.mark.parametrize(("url", "words"), WRONG, ids=[case[0] for case in WRONG])
async def test_a_host_that_is_not_fixed_or_not_allowed_makes_no_tool(tmp_path: Path, url: str, words: str) -> None:
    making = Making(tmp_path, config={"network.deny_hosts": ["denied.example"]})
    async with making.run() as run:
        result = await create(run, "ask", http(url))
    assert not result.ok
    assert words in result.text


async def test_a_host_that_was_denied_since_is_not_reached(making: Making, far: Far) -> None:
    async with making.open() as crib:
        await made(crib, "ask", http(f"http://{far.place}/"))
    async with making.open(**{"network.deny_hosts": [far.place]}) as crib, crib.run() as run:
        result = await run.call("dynamic.ask", {})
    assert result.reason is Reason.PERMISSION_DENIED
    assert far.seen == []
