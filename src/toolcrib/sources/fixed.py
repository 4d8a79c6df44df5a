"""The one host a source talks to, because the operator wrote it down, as what a call touches."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from toolcrib.values.target import Target, TargetKind


def fixed_target(url: str) -> Target:
    """A public host is a host like any other. One of this machine or its network is named by the operator or nobody.

    Rules about hosts deny private addresses, since a model could write them; here no argument can change the address.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    place = f"{host}:{port}"
    return Target(TargetKind.RESOURCE if _is_private(host) else TargetKind.HOST, place, place)


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False
