"""Words of the network rules that the configuration knows too, so that reading it loads no more than these."""

from __future__ import annotations

from enum import StrEnum

SCHEMES = ("https", "http")


class Unlisted(StrEnum):
    """What becomes of a host that no list names; AUTO asks while there is no list of allowed hosts, and else denies."""

    AUTO = "auto"
    ASK = "ask"
    DENY = "deny"
