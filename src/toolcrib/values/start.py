"""What holds for a tool of a toolkit before anyone has used a switch."""

from __future__ import annotations

from enum import StrEnum


class Start(StrEnum):
    """How a member of a toolkit starts.

    `LOCKED` members are off until the toolkit's own switch is on: their own switch alone does not do it.
    """

    ON = "on"
    OFF = "off"
    LOCKED = "locked"
