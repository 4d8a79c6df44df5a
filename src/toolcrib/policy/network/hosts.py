"""Patterns for hosts: `api.example.com`, `*.example.com`, `*`, each with a port if one is meant."""

from __future__ import annotations

import re

from toolcrib.policy.network.address import read_address
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

_PATTERN = re.compile(
    r"(?P<host>\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}|\*))?"
)
USUAL_PORTS = frozenset({80, 443})


@frozen
class HostPattern:
    """Which hosts are meant. `*.` covers every name below, at any depth, and not the name itself."""

    text: str
    name: str
    port: int | None
    any_port: bool

    @classmethod
    def of(cls, text: str) -> HostPattern:
        found = _PATTERN.fullmatch(text.lower())
        if found is None:
            raise ConfigError(f"{text!r} is not a host: write 'api.example.com', '*.example.com' or 'localhost:8080'")
        port = found["port"]
        return cls(text, _canonical(found["host"]), int(port) if port and port != "*" else None, port == "*")

    def allows(self, host: str, port: int) -> bool:
        """Whether this pattern lets a host through: without a port it means the usual ones."""
        if not self._is_host(host):
            return False
        return self.any_port or (port == self.port if self.port is not None else port in USUAL_PORTS)

    def denies(self, host: str, port: int) -> bool:
        """Whether this pattern keeps a host out: without a port it means all of them."""
        return self._is_host(host) and (self.port is None or port == self.port)

    def names(self, host: str) -> bool:
        """Whether the pattern says this very host, and not a family of them."""
        return self.name == host

    def _is_host(self, host: str) -> bool:
        if self.name.startswith("*."):
            return host.endswith(self.name[1:]) and len(host) > len(self.name) - 1
        return self.name in ("*", host)


def _canonical(host: str) -> str:
    try:
        address = read_address(host)
    except ValueError as error:
        raise ConfigError(f"{host!r} is not a host: {error}") from error
    if address is None:
        return host
    return f"[{address.compressed}]" if address.version == 6 else str(address)
