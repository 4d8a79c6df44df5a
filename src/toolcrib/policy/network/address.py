"""Addresses: every notation that some program takes for one, and which of them belong to everybody."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from toolcrib.values.refusal import ConfigError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
_LOCAL = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
            "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
            "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16",
            "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
        ),
    )
)  # fmt: skip
"""Loopback, private, shared, link-local (cloud metadata among it), documentation, multicast and reserved."""


def is_public(address: Address) -> bool:
    """Whether an address, and every address that is wrapped in it, belongs to the public network."""
    if any(address in network for network in _LOCAL if network.version == address.version):
        return False
    return all(map(is_public, _wrapped(address)))


def looks_numeric(host: str) -> bool:
    """Whether some program takes a host for an address of version 4: its last part is a number."""
    return _NUMBER.fullmatch(host.rpartition(".")[2]) is not None


def read_address(host: str) -> Address | None:
    """A host that is an address, in whichever notation; None for a name. ValueError when programs would disagree."""
    if host.startswith("["):
        return _version_6(host)
    if not looks_numeric(host):
        return None
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise ValueError("it ends like an address and is none")
    if len(parts) > 1 and any(len(part) > 1 and part.startswith("0") for part in parts):
        raise ValueError("a number in it begins with 0, which some programs read as octal")
    numbers = [_number(part) for part in parts]
    last = numbers.pop()
    if any(number > 255 for number in numbers) or last >= 256 ** (4 - len(numbers)):
        raise ValueError("a number in it is too large for an address")
    return IPv4Address(sum(number << (24 - 8 * index) for index, number in enumerate(numbers)) + last)


def read_network(text: str) -> Network:
    """A network as it stands in a configuration: `10.0.0.0/8`, `192.168.1.7`, `fd00::/8`."""
    try:
        return ip_network(text)
    except ValueError as error:
        raise ConfigError(f"{text!r} is not a network: write '10.0.0.0/8' or an address ({error})") from error


def _number(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if len(text) > 1 and text.startswith("0") and not set(text) & set("89") else 10)


def _version_6(host: str) -> IPv6Address:
    if not host.endswith("]"):
        raise ValueError("its bracket is not closed")
    if "%" in host:
        raise ValueError("it names a network interface")
    return IPv6Address(host[1:-1])


def _wrapped(address: Address) -> list[IPv4Address]:
    """The addresses of version 4 that packets to this one may end up at."""
    if isinstance(address, IPv4Address):
        return []
    low = IPv4Address(int(address) & 0xFFFFFFFF)
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or address in _COMPATIBLE:
        found.append(low)
    return [each for each in found if each is not None]
