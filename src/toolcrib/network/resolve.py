"""From a name to addresses, by the resolver of the operating system."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Protocol

from toolcrib.policy.network.address import Address
from toolcrib.values.refusal import Reason, Refusal


class Resolver(Protocol):
    """Looks up a name."""

    async def addresses(self, host: str, port: int) -> list[Address]: ...


class SystemResolver:
    """As every other program of this machine looks it up."""

    async def addresses(self, host: str, port: int) -> list[Address]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            message = f"the host {host} cannot be found ({error.strerror or error}); check its name"
            raise Refusal(Reason.VALIDATION_ERROR, message, {"host": host}) from error
        # An address with a scope (fe80::1%eth0) is one of this link, and is judged without it.
        return list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))
