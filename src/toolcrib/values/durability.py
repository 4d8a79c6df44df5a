"""When a commit counts."""

from __future__ import annotations

from enum import StrEnum


class Durability(StrEnum):
    """After the operating system has it (survives the process), or after the disk has it (survives the machine)."""

    NORMAL = "normal"
    FULL = "full"
