"""Reaching hosts: looking up a name once, and connecting to the very address that was checked.

Tools that speak to the network stand on this; no other module of a tool looks up a name or opens a connection. What
may be reached is decided in `toolcrib.policy.network` and at the gate.
"""

from toolcrib.network.reach import Reach, url_of
from toolcrib.network.resolve import SystemResolver

__all__ = ["Reach", "SystemResolver", "url_of"]
