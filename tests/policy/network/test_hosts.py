"""Hosts through the counter: who is asked about what, and which list wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.catalog.toolset import Toolset, ToolsetBuilder
from toolcrib.network import Reach
from toolcrib.policy.network.decide import decide_hosts
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.rules import NetworkRules, host_target
from toolcrib.policy.network.url import read_url
from toolcrib.policy.rules import Policy, Rule
from toolcrib.policy.touching import Touching
from toolcrib.policy.verdict import Verdict
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.refusal import Reason
from toolcrib.values.target import Target, TargetKind

pytestmark = pytest.mark.anyio


def web() -> Toolset:
    reach = Reach()
    build = ToolsetBuilder("web")

    @build.read(tags={"network"}, targets=reach.declares("url"))
    async def look(url: str) -> str:
        """Look."""
        return "seen"

    @build.write(tags={"network"}, targets=reach.declares("url"))
    async def send(url: str) -> str:
        """Send."""
        return "sent"

    @build.read(tags={"network"}, targets=lambda arguments: [Target(TargetKind.HOST, str(arguments["url"]))])
    async def odd(url: str) -> str:
        """Declare a host by hand."""
        return "seen"

    @build.read(tags={"network", "dangerous"}, targets=reach.declares("url"))
    async def probe(url: str) -> str:
        """Probe."""
        return "probed"

    return build.build()


OK, OTHER = "https://ok.example/", "https://other.example/"
ASKED, RUNS, DENIED = "asked", "runs", "denied"
LISTED: dict[str, Any] = {"allow_hosts": ["ok.example"]}
ALL: dict[str, Any] = {"allow_hosts": ["*"]}


def own(pattern: str, **lists: list[str]) -> dict[str, Any]:
    return {**LISTED, "tools": {pattern: lists}}


CASES: dict[str, tuple[Mapping[str, Any], str, str, str]] = {
    "nothing is listed: a host asks": ({}, "web.look", OK, ASKED),
    "a listed host is looked at without a question": (LISTED, "web.look", OK, RUNS),
    "sending there still asks": (LISTED, "web.send", OK, ASKED),
    "what is dangerous still asks": (LISTED, "web.probe", OK, ASKED),
    "with a list, other hosts are denied": (LISTED, "web.look", OTHER, DENIED),
    "to send, too": (LISTED, "web.send", OTHER, DENIED),
    "another port is another host": (LISTED, "web.look", "https://ok.example:8443/", DENIED),
    "unless others are to ask": ({**LISTED, "unlisted": "ask"}, "web.look", OTHER, ASKED),
    "others can be denied without a list": ({"unlisted": "deny"}, "web.look", OTHER, DENIED),
    "a denied host is denied though it is allowed": ({**LISTED, "deny_hosts": ["ok.example"]}, "web.look", OK, DENIED),
    "on every port": ({"deny_hosts": ["ok.example"]}, "web.look", "https://ok.example:8443/", DENIED),
    "and whatever it is for": ({"deny_hosts": ["*.example"]}, "web.send", OTHER, DENIED),
    "loopback is denied where all is allowed": (ALL, "web.look", "http://127.0.0.1/", DENIED),
    "and under its name": (ALL, "web.look", "http://localhost/", DENIED),
    "unless it is named": ({"allow_hosts": ["localhost:3000"]}, "web.look", "http://localhost:3000/", RUNS),
    "or its address is": ({"allow_hosts": ["127.0.0.1"]}, "web.look", "http://127.1/", RUNS),
    "or its network is": ({**ALL, "allow_private": ["127.0.0.0/8"]}, "web.look", "http://127.1/", RUNS),
    "private addresses are denied without a list": ({}, "web.look", "http://10.0.0.1/", DENIED),
    "also to tools that name them in odd ways": ({}, "web.odd", "0x7f.1:80", DENIED),
    "or by name": (ALL, "web.odd", "LOCALHOST.:80", DENIED),
    "a tool has its own list": (own("web.look", allow_hosts=["other.example"]), "web.look", OTHER, RUNS),
    "in place of the general one": (own("web.*", allow_hosts=["other.example"]), "web.look", OK, DENIED),
    "and its own denials": (own("web.look", deny_hosts=["ok.example"]), "web.look", OK, DENIED),
    "others keep the general list": (own("mcp.x.**", allow_hosts=["other.example"]), "web.look", OK, RUNS),
}


@pytest.mark.parametrize(("network", "tool", "url", "ends"), CASES.values(), ids=CASES.keys())
async def test_a_host_is_decided_by_the_lists(network: Mapping[str, Any], tool: str, url: str, ends: str) -> None:
    asker = ScriptedAsker.always("allow_once")
    async with make_run(web(), asker=asker, config={"network": network}) as run:
        result = await run.call(tool, {"url": url})
    if ends == DENIED:
        assert (result.reason, asker.requests) == (Reason.PERMISSION_DENIED, []), result.text
        assert "network." in result.text
    else:
        assert result.ok, result.text
        assert len(asker.requests) == (1 if ends == ASKED else 0)


@pytest.mark.parametrize(
    ("host", "url", "verdict"),
    [
        ("other.example", OTHER, Verdict.ALLOW),
        ("other.example", "https://third.example/", Verdict.DENY),
        ("*", "https://evil.example/", Verdict.DENY),
        ("*", "http://127.0.0.1/", Verdict.DENY),
    ],
)
def test_a_rule_that_names_a_host_opens_what_no_list_names_and_nothing_that_is_denied(
    host: str, url: str, verdict: Verdict
) -> None:
    look = next(tool.spec for tool in web().tools if tool.name == "web.look")
    rules = NetworkRules(allow=(HostPattern.of("ok.example"),), deny=(HostPattern.of("evil.example"),))
    targets = (host_target(read_url(url)),)
    ruling = Policy((Rule(Verdict.ALLOW, "web.look", touching=Touching(host=(host,))),)).ruling(look)
    decision = ruling.decide({"url": url}, targets, frozenset(), decide_hosts(rules, "web.look", targets))
    assert decision.verdict is verdict, decision


async def test_an_answer_for_the_session_covers_the_host_and_port_and_nothing_else() -> None:
    asker = ScriptedAsker.always("allow_for_session")
    async with make_run(web(), asker=asker) as run:
        for url in (OK, "https://ok.example/elsewhere", "https://OK.example.:443/x", "http://ok.example/", OTHER):
            await run.call("web.look", {"url": url})
    assert [request.network_host for request in asker.requests] == [
        "ok.example:443",
        "ok.example:80",
        "other.example:443",
    ]
