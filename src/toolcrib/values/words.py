"""Small words for messages."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 line`, `2 lines`, `3 matches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
