"""Who wrote a rule: the layers, highest authority first."""

from __future__ import annotations

from enum import IntEnum

SHIPPED = "shipped"
"""The layer word of what holds where nobody wrote a rule: a fallback, no layer of its own."""


class Layer(IntEnum):
    """Who wrote a rule. Rules of AGENT come only from definitions that lie in the home or are trusted."""

    MANAGED = 0
    USER = 1
    PROJECT = 2
    AGENT = 3

    @property
    def may_allow(self) -> bool:
        """A project's allow never counts."""
        return self is not Layer.PROJECT

    @property
    def is_operator(self) -> bool:
        return self <= Layer.USER
