"""Servers over HTTP that break: the call fails in time with words that say why, and the server's other calls do not."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil
import pytest
from servers_at_hand import Open
from web_at_hand import Web, self_signed

from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio

FAULTS = {
    "reset": "the connection broke",
    "reset mid-body": "the connection broke",
    "wrong type": "text/html",
    "invalid events": "parse",
    "no event": "without a response",
    "not JSON": "parse",
    "announced": "more than 16 MiB",
    "large": "more than 16 MiB",
    "large event": "a message of more than 16 MiB",
    "dense": "too many values",
    "dense event": "too many values",
    "500 Internal Server Error": "500 Internal Server Error",
    "429 Too Many Requests": "wait (7)",
    "503 Service Unavailable": "503 Service Unavailable; it asks to wait (7)",
}


@pytest.mark.parametrize("how", FAULTS)
async def test_a_call_that_breaks_says_why_and_the_next_one_works(crib_with: Open, how: str) -> None:
    async with Web(how).running() as web, crib_with(web={"url": web.url}) as crib, crib.run() as run:
        before = psutil.Process().memory_info().rss
        began = time.monotonic()
        result = await run.call("mcp.web.misbehave")
        assert result.reason is Reason.PROVIDER_ERROR
        assert FAULTS[how] in result.text
        assert time.monotonic() - began < 10
        assert psutil.Process().memory_info().rss - before < 40 * 1024 * 1024
        assert (await run.call("mcp.web.echo", {"text": "next"})).text == "next"


@pytest.mark.parametrize("how", ["half-open", "slow body"])
async def test_a_call_without_an_answer_ends_at_its_time_limit(crib_with: Open, how: str) -> None:
    async with Web(how).running() as web, crib_with(web={"url": web.url, "timeout_ms": 500}) as crib, crib.run() as run:
        began = time.monotonic()
        assert (await run.call("mcp.web.misbehave")).reason is Reason.TIMEOUT
        assert time.monotonic() - began < 5
        assert (await run.call("mcp.web.echo", {"text": "next"})).text == "next"


async def test_a_broken_connection_is_the_trouble_of_one_call(crib_with: Open) -> None:
    read: dict[str, object] = {"echo": {"effect": "read"}, "misbehave": {"effect": "read"}}
    async with Web("reset").running() as web, crib_with(web={"url": web.url, "tools": read}) as crib, crib.run() as run:
        calls = [run.call("mcp.web.misbehave"), *(run.call("mcp.web.echo", {"text": str(n)}) for n in range(8))]
        broken, *others = await asyncio.gather(*calls)
        assert broken.reason is Reason.PROVIDER_ERROR
        assert [other.text for other in others] == [str(n) for n in range(8)]


async def test_no_secret_follows_a_redirect_to_another_host(crib_with: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_TOKEN", "sesame-open-sesame")
    async with Web().running() as other, Web("redirect", other.url).running() as web:
        entry = {"url": web.url, "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}, "connect_timeout_ms": 2_000}
        async with crib_with(web=entry) as crib, crib.run() as run:
            assert (await run.call("mcp.web.echo", {"text": "x"})).reason is Reason.TOOL_NOT_AVAILABLE
        assert web.seen[0][1]["authorization"] == "Bearer sesame-open-sesame"
        assert other.seen == []


async def test_a_server_that_always_wants_another_token_is_not_asked_for_ever(crib_with: Open) -> None:
    async with Web("401").running() as web:
        async with crib_with(web={"url": web.url, "connect_timeout_ms": 2_000}) as crib, crib.run() as run:
            missing = await run.call("mcp.web.echo", {"text": "x"})
            assert missing.reason is Reason.TOOL_NOT_AVAILABLE
            assert "401" in missing.text
        assert len(web.seen) <= 6


async def test_a_certificate_nobody_vouches_for_is_refused(crib_with: Open, tmp_path: Path) -> None:
    async with Web().running(self_signed(tmp_path)) as web:
        async with crib_with(web={"url": web.url, "connect_timeout_ms": 5_000}) as crib, crib.run() as run:
            missing = await run.call("mcp.web.echo", {"text": "x"})
        assert missing.reason is Reason.TOOL_NOT_AVAILABLE
        assert "CERTIFICATE_VERIFY_FAILED" in missing.text
        assert web.seen == []
