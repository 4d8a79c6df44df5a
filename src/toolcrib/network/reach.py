"""Connections to hosts that were permitted: each name is looked up once, and what was checked is what is dialled."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace

from toolcrib.network.resolve import Resolver, SystemResolver
from toolcrib.policy.network.address import Address
from toolcrib.policy.network.decide import decide_hosts
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.rules import HostTarget, NetworkRules, host_target
from toolcrib.policy.network.url import Url, read_url
from toolcrib.policy.verdict import Verdict
from toolcrib.values.context import ToolContext
from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments

MAX_HOPS = 10
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[Address, int, ssl.SSLContext | None, str], Awaitable[Streams]]
"""Connects to an address and port; with a context it speaks TLS to a host of the given name."""


async def dial(address: Address, port: int, tls: ssl.SSLContext | None, name: str) -> Streams:
    """By the operating system."""
    return await asyncio.open_connection(str(address), port, ssl=tls, server_hostname=name if tls else None)


@frozen
class Reach:
    """What a tool uses of the network: it declares hosts, follows redirects and connects, and no other way out."""

    rules: NetworkRules = field(default_factory=NetworkRules)
    resolver: Resolver = field(default_factory=SystemResolver)
    dial: Dial = dial

    def written_down(self, url: Url) -> Reach:
        """The same for a URL of the operator's own: an address or a local name that it says may be dialled.

        Where a public name leads is for others to say, also when the operator wrote it.
        """
        return replace(self, rules=replace(self.rules, allow=(HostPattern.of(url.authority),)))

    def declares(self, argument: str) -> Callable[[Arguments], Sequence[Target]]:
        """The targets of a tool that takes a URL."""

        def targets(arguments: Arguments) -> Sequence[Target]:
            given: Json = arguments.get(argument)
            return (host_target(read_url(str(given), self.rules.schemes)),)

        return targets

    def hop(self, context: ToolContext, here: Url, location: str, hops: int) -> Url:
        """Where a redirect leads, decided anew: a host that was permitted for this call, or one that needs no question.

        `hops` is how many redirects were followed before this one.
        """
        if hops >= MAX_HOPS:
            message = f"{here} redirects more than {MAX_HOPS} times; it probably leads in a circle"
            raise Refusal(Reason.VALIDATION_ERROR, message, {"url": str(here), "problem": "too_many_redirects"})
        url = here.joined(location, self.rules.schemes)
        if here.scheme == "https" and url.scheme != "https":
            raise Refusal(
                Reason.PERMISSION_DENIED, f"{here} redirects to {url}, which is not encrypted; call that itself"
            )
        target = host_target(url)
        if any(target.value == permitted.value for permitted in context.targets):
            return url
        decision = decide_hosts(self.rules, context.name, (target,))
        if decision is None or decision.verdict is not Verdict.ALLOW:
            because = "" if decision is None else f": {decision.because}"
            message = f"{here} redirects to {url}, which was not permitted with it{because}; call that URL itself"
            raise Refusal(Reason.PERMISSION_DENIED, message, {"url": str(url), "redirected_from": str(here)})
        return url

    async def connect(self, url: Url) -> Streams:
        """A connection to a URL's host; Refusal when its name leads anywhere that may not be reached."""
        addresses = await self.pinned(url)
        tls = ssl.create_default_context() if url.scheme in ("https", "wss") else None
        problem: OSError | None = None
        for address in addresses:
            try:
                return await self.dial(address, url.port, tls, url.host.strip("[]"))
            except OSError as error:
                problem = error
        message = f"{url.authority} cannot be reached ({problem}); check the URL, or try again later"
        raise Refusal(Reason.VALIDATION_ERROR, message, {"host": url.authority}) from problem

    async def pinned(self, url: Url) -> list[Address]:
        """The addresses that may be dialled. One forbidden address among them is a trap, and refuses all."""
        if (pattern := next((each for each in self.rules.deny if each.denies(url.host, url.port)), None)) is not None:
            message = f"{url.authority} is denied by {pattern.text!r} of network.deny_hosts"
            raise Refusal(Reason.PERMISSION_DENIED, message, {"host": url.authority})
        found = [url.address] if url.address is not None else await self.resolver.addresses(url.host, url.port)
        if not self.rules.names(url.host, url.address):
            for address in found:
                if not self.rules.permits(address):
                    message = (
                        f"{url.host} leads to {address}, which is not on the public network; "
                        "network.allow_hosts or network.allow_private must name it"
                    )
                    raise Refusal(Reason.PERMISSION_DENIED, message, {"host": url.host, "address": str(address)})
        if not found:
            raise Refusal(Reason.VALIDATION_ERROR, f"the host {url.host} has no address", {"host": url.host})
        return found


def url_of(context: ToolContext) -> Url:
    """The URL that a call declared; the handler reads no other."""
    for target in context.targets:
        if isinstance(target, HostTarget) and target.url is not None:
            return target.url
    raise TypeError(f"{context.name} declared no URL")
