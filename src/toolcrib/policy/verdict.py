"""Verdicts are ordered; the strictest of all that match wins, and every decision says where it comes from."""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError


class Verdict(IntEnum):
    ALLOW = 0
    ASK = 1
    DENY = 2


_WORDS = {
    "allow": Verdict.ALLOW,
    "notify": Verdict.ALLOW,
    "preapproved": Verdict.ALLOW,
    "ask": Verdict.ASK,
    "deny": Verdict.DENY,
    "blocked": Verdict.DENY,
}


def verdict_of(word: str) -> Verdict:
    """Read a verdict as configuration writes it."""
    try:
        return _WORDS[word.lower()]
    except KeyError:
        raise ConfigError(f"{word!r} is not a verdict: use allow, ask or deny (or preApproved, ask, blocked)") from None


@frozen
class Decision:
    """What policy says about a call, and why: the rule, its layer and its words."""

    verdict: Verdict
    rule: str
    layer: str
    because: str
    deny_message: str = ""
    notice: str = ""
    """What is recorded at level notice when the call is allowed; empty for nothing."""
    cite: str = field(init=False, compare=False)
    """The rule as messages and records name it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cite", f"{self.rule} ({self.layer})")

    def at_least(self, other: Decision) -> Decision:
        """The stricter of two decisions; the first wins a tie."""
        return other if other.verdict > self.verdict else self
