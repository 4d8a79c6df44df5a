"""What the network rules say about the hosts that a call would reach."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from toolcrib.policy.layers import SHIPPED
from toolcrib.policy.network.address import read_address
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.rules import NetworkRules
from toolcrib.policy.network.unlisted import Unlisted
from toolcrib.policy.touching import host_and_port
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.values.target import Target, TargetKind


def decide_hosts(rules: NetworkRules, tool: str, targets: Sequence[Target]) -> Decision | None:
    """The strictest decision about every host among the targets; None when a call reaches none."""
    found = [_decide(rules, tool, target) for target in targets if target.kind is TargetKind.HOST]
    return max(found, key=lambda decision: decision.verdict) if found else None


def _decide(rules: NetworkRules, tool: str, target: Target) -> Decision:
    host, written = host_and_port(target.value)
    port = int(written or 443)
    allow, deny = rules.for_tool(tool)
    if (pattern := _first(deny, host, port)) is not None:
        return Decision(Verdict.DENY, "network.deny_hosts", "user", f"{host} is denied by {pattern.text!r}")
    if (trouble := _trouble(rules, host)) is not None:
        return Decision(Verdict.DENY, "network.deny_private", "user", trouble)
    for pattern in allow:
        if pattern.allows(host, port):
            return Decision(Verdict.ALLOW, "network.allow_hosts", "user", f"{host} is allowed by {pattern.text!r}")
    denies = rules.unlisted is Unlisted.DENY or (rules.unlisted is Unlisted.AUTO and bool(allow))
    verdict = Verdict.DENY if denies else Verdict.ASK
    because = f"{target.value} is not among the hosts of network.allow_hosts"
    return Decision(verdict, "network.unlisted", SHIPPED, because)


def _trouble(rules: NetworkRules, host: str) -> str | None:
    """Why a host is out of the question, whoever declared it."""
    try:
        address = read_address(host)
    except ValueError as error:
        return f"{host} has no one reading: {error}"
    if not rules.is_local(host, address):
        return None
    return f"{host} is not on the public network; network.allow_hosts or network.allow_private must name it"


def _first(patterns: Collection[HostPattern], host: str, port: int) -> HostPattern | None:
    return next((pattern for pattern in patterns if pattern.denies(host, port)), None)
