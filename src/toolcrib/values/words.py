"""Small words for messages."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 line`, `2 lines`, `3 matches`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def sentence(text: str) -> str:
    """A text as a sentence that another can follow: with the full stop that it lacks, and no second one."""
    text = text.rstrip()
    return text if text.rstrip("\"')]»”’").endswith((".", "!", "?", "…")) else f"{text.rstrip(',;:')}."


def were(number: int, one: str, many: str = "") -> str:
    """A number with its noun and verb: `1 line was`, `2 lines were`."""
    return f"{counted(number, one, many)} {'was' if number == 1 else 'were'}"
