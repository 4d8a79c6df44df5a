"""Notifications reach whom they are for, carry the question as data only, and fail by themselves."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from toolcrib import Pending, PermissionRequest, Target, TargetKind, tool
from toolcrib.askers.notify import Bell, CommandNotifier, NotNotified, Webhook
from toolcrib.network import Reach
from toolcrib.testing import make_run
from toolcrib.values.identity import Origin
from toolcrib.values.permission import Answer
from toolcrib.values.spec import Effect

pytestmark = pytest.mark.anyio
REQUEST = PermissionRequest(
    request_id="ask_1", origin=Origin("s1", "run_1"), call_id="c1", tool="shell.run", effect=Effect.WRITE,
    tags=frozenset(), arguments="{}", targets=(Target(TargetKind.COMMAND, "$(reboot); \x1b[2J"),), dangerous=True,
    because="it can change things", rule="default (shipped)", fingerprint="f", suggested=Answer.DENY, grant_scope=None,
    expires_at=0.0,
)  # fmt: skip


def dumping(place: Path) -> tuple[str, ...]:
    code = "import json, os, sys; json.dump([sys.argv[2:], dict(os.environ)], open(sys.argv[1], 'w'))"
    return (sys.executable, "-c", code, str(place), "asks")


async def test_a_command_gets_the_question_in_its_environment_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "told"
    environment = {"PATH": os.environ["PATH"], "API_TOKEN": "secret"}
    await CommandNotifier(dumping(place), 30, environment)(REQUEST)
    argv, given = json.loads(place.read_text())
    assert argv == ["asks"]
    assert "API_TOKEN" not in given
    assert (given["TOOLCRIB_REQUEST_ID"], given["TOOLCRIB_TOOL"]) == ("ask_1", "shell.run")
    assert given["TOOLCRIB_SUMMARY"] == "shell.run $(reboot); \\x1b[2J"


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with 3"),
        ((sys.executable, "-c", "import time; time.sleep(600)"), "took longer than 0.2 s"),
        (("/no/such/program",), "No such file"),
    ],
)
async def test_a_command_that_fails_says_so_and_is_not_left_behind(argv: tuple[str, ...], problem: str) -> None:
    with pytest.raises((NotNotified, OSError), match=problem):
        await CommandNotifier(argv, 0.2 if "longer" in problem else 30, os.environ)(REQUEST)


@asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A real server that answers every request alike, and what it was sent."""
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        heard.append(head + await reader.readexactly(size))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook?a=1", heard


async def test_a_webhook_gets_the_question_as_json() -> None:
    async with listening(b"HTTP/1.1 204 No Content\r\n\r\n") as (url, heard):
        await Webhook(url, 30, Reach())(REQUEST)
    head, body = heard[0].split(b"\r\n\r\n", 1)
    assert head.startswith(b"POST /hook?a=1 HTTP/1.1\r\n")
    told = json.loads(body)
    assert (told["event"], told["request_id"], told["effect"]) == ("permission_asked", "ask_1", "dangerous")
    assert "shell.run asks for permission:" in told["question"]
    assert "\x1b" not in told["question"]


async def test_a_webhook_that_redirects_or_fails_is_not_followed() -> None:
    async with listening(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n") as (url, heard):
        with pytest.raises(NotNotified, match="302"):
            await Webhook(url, 30, Reach())(REQUEST)
        assert len(heard) == 1
    with pytest.raises(NotNotified, match="cannot be reached"):
        await Webhook(url, 30, Reach())(REQUEST)


async def test_the_bell_rings_at_a_terminal_only(tmp_path: Path) -> None:
    outside, inside = pty.openpty()
    with os.fdopen(inside, "w") as screen:
        await Bell(screen)(REQUEST)
        assert os.read(outside, 10) == b"\a"
    os.close(outside)
    with os.fdopen(os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT), "w") as file:
        await Bell(file)(REQUEST)
    assert (tmp_path / "file").read_text() == ""


async def test_the_configuration_says_who_hears_of_a_question(tmp_path: Path) -> None:
    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        return "done"

    place = tmp_path / "told"
    config = {"approvals": {"command": list(dumping(place)), "expires_seconds": 5}}
    async with make_run(act, asker="inbox", config=config) as run:  # type: ignore[arg-type]
        parked = await run.submit("act.now")
        assert isinstance(parked, Pending)
        parking = run.runtime.parking
        assert parking is not None
        await asyncio.wait_for(parking.told(), 30)
    assert json.loads(place.read_text())[1]["TOOLCRIB_REQUEST_ID"] == parked.request_id


async def test_a_question_goes_to_the_webhook_of_the_configuration_and_a_silent_one_holds_up_nothing() -> None:
    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        return "done"

    async with (
        listening(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (url, heard),
        make_run(act, asker="inbox", config={"approvals": {"webhook": url}}) as run,
    ):
        parked = await run.submit("act.now")
        assert isinstance(parked, Pending)
        assert run.runtime.parking is not None
        await asyncio.wait_for(run.runtime.parking.told(), 30)
    assert json.loads(heard[0].split(b"\r\n\r\n", 1)[1])["request_id"] == parked.request_id

    silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(60), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    config = {"approvals": {"webhook": f"http://localhost:{port}/", "notify_timeout_ms": 100}}
    async with make_run(act, asker="inbox", config=config) as run:  # type: ignore[arg-type]
        assert isinstance(await run.submit("act.now"), Pending)
        assert run.runtime.parking is not None
        await asyncio.wait_for(run.runtime.parking.told(), 30)
        events = await run.runtime.store.events(session_id=run.origin.session_id, after=0, limit=100)
    silent.close()
    assert [event for event in events if "longer than 0.1 s" in str(event.payload)]
