"""Attacks on what may be reached, and everyday URLs, as data; each through the whole counter and real connections."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.fetching import Internet, fetching

from toolcrib.policy.network.address import read_network
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.rules import NetworkRules
from toolcrib.policy.network.url import read_url
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
EVERYDAY = [line for line in (HERE / "benign_friction.jsonl").open() if '"web_fetch"' in line]
CASES = [json.loads(line) for line in [*(HERE / "url_policy.jsonl").open(), *EVERYDAY]]
NAMES = {"web_fetch": "standin.fetch", "browser": "standin.browse"}
OURS = [case for case in CASES if case["action"].get("tool") in NAMES]
LOGINS = [case for case in CASES if "cli" in case["action"]]
PINNED = {"URL-074"}
"""Cases that are answered by going to the address that was checked, and nowhere else."""
CODES = {
    "too_many_redirects": {Reason.VALIDATION_ERROR},
    "timeout": {Reason.TIMEOUT},
    "limit_exceeded": {Reason.VALIDATION_ERROR},
}


def test_every_case_has_a_driver() -> None:
    assert [case["id"] for case in CASES if case not in OURS and case not in LOGINS] == []


@pytest.mark.parametrize("case", OURS, ids=lambda case: case["id"])
async def test_a_case_holds(case: dict[str, Any]) -> None:
    asker = ScriptedAsker.always("allow_once")
    internet = internet_of(case)
    result = await call(case, internet, asker)
    expected = case["expected"]
    if expected == "allow":
        assert result.ok, result.text
        assert asker.requests == []
    elif case["id"] in PINNED:
        assert internet.dialled == ["93.184.216.34"]
    elif expected == "deny":
        assert result.reason is Reason.PERMISSION_DENIED, result.text
        assert asker.requests == []
    else:
        assert result.reason in CODES[expected.removeprefix("error:")], result.text
    assert not [request for request in internet.requests if "ok.example" not in request and "docs" not in request]
    assert not [address for address in internet.dialled if address.startswith("127.")]


@pytest.mark.parametrize("case", [case for case in OURS if case["expected"] == "allow"], ids=lambda case: case["id"])
async def test_what_is_allowed_needs_nobody_to_ask(case: dict[str, Any]) -> None:
    assert (await call(case, internet_of(case), None)).ok


@pytest.mark.parametrize("case", LOGINS, ids=lambda case: case["id"])
def test_a_place_to_log_in_is_a_url_like_any_other(case: dict[str, Any]) -> None:
    endpoint = case["setup"][0]["mcp_oauth"]["authorization_endpoint"]
    with pytest.raises(Refusal):
        read_url(endpoint)


async def call(case: Mapping[str, Any], internet: Internet, asker: ScriptedAsker | None) -> ToolResult:
    network: dict[str, Any] = next(step["policy"]["network"] for step in case["setup"] if "policy" in step)
    rules = NetworkRules(
        allow=tuple(map(HostPattern.of, network["allow_hosts"])), deny_private=network.get("deny_private", True)
    )
    action = case["action"]
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(internet.open())
        tools = fetching(internet.reach(rules))
        run = await stack.enter_async_context(make_run(tools, asker=asker, config={"network": network}))
        given = {key: value for key, value in action["args"].items() if key != "action"}
        if "then" in given:
            given["then"] = re.sub(r"window\.location='(.*)'", r"\1", given["then"])
        return await run.call(NAMES[action["tool"]], given)


def internet_of(case: Mapping[str, Any]) -> Internet:
    internet = Internet()
    for step in case["setup"]:
        match step:
            case {"http_server": {"redirect": location}}:
                internet.answer = lambda path, location=location: (
                    {"location": location.replace("${PORT}", str(internet.port))} if path == "/r" else {}
                )
            case {"http_server": {"redirect_loop": True}}:
                internet.answer = lambda path: {"location": "/r"}
            case {"http_server": {"slow_loris": _}}:
                internet.answer = lambda path: {"chunks": [b"x"] * 1_000, "pause": 0.05}
            case {"http_server": {"gzip_bomb": _}}:
                internet.answer = lambda path: {
                    "body": gzip.compress(bytes(20_000_000)), "headers": {"Content-Encoding": "gzip"}
                }  # fmt: skip
            case {"dns": names}:
                internet.names = {
                    name: [["127.0.0.1"] if "127.0.0.1" in each else [each.split()[0]] for each in answers]
                    for name, answers in names.items()
                }
            case {"policy": _}:
                pass
            case _:
                raise AssertionError(f"{case['id']}: the setup {step} is not understood")
    return internet


async def test_rebinding_between_check_and_connection_reaches_the_checked_address_or_nothing() -> None:
    """The second lookup would lead home: there is none for one connection, and the next connection is refused."""
    internet = Internet(names={"ok.example": [["93.184.216.34"], ["127.0.0.1"]]})
    rules = NetworkRules(allow=(HostPattern.of("ok.example"),))
    async with (
        internet.open(),
        make_run(fetching(internet.reach(rules)), config={"network": {"allow_hosts": ["ok.example"]}}) as run,
    ):
        first = await run.call("standin.fetch", {"url": "http://ok.example/"})
        second = await run.call("standin.fetch", {"url": "http://ok.example/"})
    assert (first.ok, second.reason) == (True, Reason.PERMISSION_DENIED)
    assert (internet.dialled, internet.lookups) == (["93.184.216.34"], {"ok.example": 2})
    assert "leads to 127.0.0.1" in second.text


@pytest.mark.parametrize(
    ("network", "reached"),
    [
        ({"allow_hosts": ["wiki.example"]}, False),
        ({"allow_hosts": ["*.example"], "allow_private": ["10.0.0.0/8"]}, True),
        ({"allow_hosts": ["*.example"]}, False),
        ({"allow_hosts": ["*.example"], "allow_private": ["192.168.0.0/16"]}, False),
        ({"allow_hosts": ["*.example"], "deny_private": False}, True),
    ],
)
async def test_a_name_that_leads_home_is_reached_only_where_the_operator_names_the_network(
    network: dict[str, Any], reached: bool
) -> None:
    internet = Internet(names={"wiki.example": [["93.184.216.34", "10.1.2.3"]]})
    rules = NetworkRules(
        allow=tuple(map(HostPattern.of, network["allow_hosts"])),
        private=tuple(map(read_network, network.get("allow_private", ()))),
        deny_private=network.get("deny_private", True),
    )
    async with internet.open(), make_run(fetching(internet.reach(rules)), config={"network": network}) as run:
        assert (await run.call("standin.fetch", {"url": "https://wiki.example/"})).ok is reached
    assert bool(internet.dialled) is reached
