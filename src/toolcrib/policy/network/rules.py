"""Which hosts tools may reach: the operator's lists, and how a host is declared to the gate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from types import MappingProxyType

from toolcrib.policy.names import compile_pattern
from toolcrib.policy.network.address import Address, Network, is_public
from toolcrib.policy.network.hosts import HostPattern
from toolcrib.policy.network.unlisted import SCHEMES, Unlisted
from toolcrib.policy.network.url import Url
from toolcrib.values.noun import frozen
from toolcrib.values.target import Target, TargetKind

_LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa")


@frozen
class ToolHosts:
    """The lists of some tools: `allow` takes the place of the general one, `deny` is added to it."""

    allow: tuple[HostPattern, ...] | None = None
    deny: tuple[HostPattern, ...] = ()


NO_TOOLS: Mapping[str, ToolHosts] = MappingProxyType({})


@frozen(kw_only=True)
class NetworkRules:
    """The operator's rules. `private` are networks that may be reached although they are not public."""

    allow: tuple[HostPattern, ...] = ()
    deny: tuple[HostPattern, ...] = ()
    private: tuple[Network, ...] = ()
    deny_private: bool = True
    schemes: tuple[str, ...] = SCHEMES
    unlisted: Unlisted = Unlisted.AUTO
    tools: Mapping[str, ToolHosts] = field(default_factory=lambda: NO_TOOLS)

    def for_tool(self, name: str) -> tuple[Collection[HostPattern], Collection[HostPattern]]:
        """What is allowed and what is denied for one tool."""
        own = [hosts for pattern, hosts in self.tools.items() if compile_pattern(pattern).fullmatch(name)]
        lists = [hosts.allow for hosts in own if hosts.allow is not None]
        allow = _all(lists) if lists else self.allow
        return allow, (*self.deny, *_all(hosts.deny for hosts in own))

    def permits(self, address: Address) -> bool:
        """Whether a connection to this address may be made at all."""
        if not self.deny_private or is_public(address):
            return True
        return any(address in network for network in self.private if network.version == address.version)

    def is_local(self, host: str, address: Address | None) -> bool:
        """Whether a host is known to be private before it is looked up, and nobody said that it may be reached."""
        if self.names(host, address):
            return False
        if address is not None:
            return not self.permits(address)
        return self.deny_private and _is_local_name(host)

    def names(self, host: str, address: Address | None) -> bool:
        """Whether the operator wrote down this very address, or this very name of the local network.

        A name of the public network does not count: whoever owns it says where it leads.
        """
        if address is None and not _is_local_name(host):
            return False
        return any(pattern.names(host) for pattern in self._named())

    def _named(self) -> Iterable[HostPattern]:
        yield from self.allow
        for hosts in self.tools.values():
            yield from hosts.allow or ()


@frozen
class HostTarget(Target):
    """A host as it is declared to the gate. The URL goes with it, so that the handler uses what was declared."""

    url: Url | None = None


def host_target(url: Url) -> HostTarget:
    """The target of a URL; a session grant covers its host and port."""
    return HostTarget(TargetKind.HOST, url.authority, url.authority, frozenset(), url)


def _all(lists: Iterable[tuple[HostPattern, ...]]) -> tuple[HostPattern, ...]:
    return tuple(pattern for patterns in lists for pattern in patterns)


def _is_local_name(host: str) -> bool:
    """A name that is looked up in the local network, or in no network at all."""
    return "." not in host or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES)
