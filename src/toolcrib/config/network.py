"""The keys of `network`: which hosts tools may reach."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from toolcrib.config.keys import key
from toolcrib.config.kinds import choice, flag, items, table, text
from toolcrib.config.narrowing import by_entry, fewer, fewer_but_some, more, never, stricter, together
from toolcrib.config.records import HOST, HOST_LISTS, TOOL_PATTERN, HostLists
from toolcrib.policy.network.unlisted import SCHEMES, Unlisted
from toolcrib.values.noun import frozen


@frozen(kw_only=True)
class Network:
    """Hosts that tools reach. A denied host is denied whoever allows it."""

    allow_hosts: tuple[str, ...] = key(
        items(HOST),
        (),
        fewer_but_some(),
        "Hosts that tools which only read may reach without a question; a host without a port means ports 80 and 443.",
    )
    deny_hosts: tuple[str, ...] = key(
        items(HOST), (), more(), "Hosts that are never reached; every layer adds its own.", combine=together
    )
    unlisted: Unlisted = key(
        choice(Unlisted),
        Unlisted.AUTO,
        stricter((Unlisted.ASK, Unlisted.AUTO, Unlisted.DENY)),
        "What becomes of other hosts: they ask, are denied, or (auto) ask until `allow_hosts` names some.",
    )
    schemes: tuple[str, ...] = key(
        items(text("a scheme such as 'https'", r"[a-z][a-z0-9+.-]*")),
        SCHEMES,
        fewer(),
        "How a URL may begin.",
    )
    deny_private: bool = key(
        flag(),
        True,
        stricter((False, True)),
        "Whether addresses of this machine and its own network are denied, however a name leads to them.",
    )
    allow_private: tuple[str, ...] = key(
        items(text("a network or address such as '10.0.0.0/8'", r"[0-9a-f.:]+(?:/[0-9]{1,3})?")),
        (),
        fewer(),
        "Networks that may be reached all the same. An address or `localhost` in `allow_hosts` may be, too.",
    )
    tools: Mapping[str, HostLists] = key(
        table(TOOL_PATTERN, HOST_LISTS),
        MappingProxyType({}),
        never(),
        "Hosts by tool name pattern; `mcp.github.**` are the tools of one server.",
        combine=by_entry,
        example='[network.tools."mcp.github.**"]\nallow_hosts = ["api.github.com"]',
    )
