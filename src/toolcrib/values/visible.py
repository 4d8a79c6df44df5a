"""Text of tools and models made safe to show: nothing in it moves the cursor, hides, or reorders what one reads."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_OVERLAY = 1  # the combining class of strokes through the letter before
# Letters, marks and symbols by category that nevertheless show as nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_SELECTORS = range(0xE0100, 0xE01F0)


def visible(text: str, keep: str = "") -> str:
    """The text with control, bidirectional, zero-width and blank characters written as escapes, except those kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if each in keep or not is_unseen(each) else _escape(each) for each in text)


def is_unseen(character: str) -> bool:
    """Whether a character shows as nothing, as something else than itself, or covers the one before."""
    if " " <= character <= "~":
        return False
    if unicodedata.category(character) in _UNSEEN or unicodedata.combining(character) == _OVERLAY:
        return True
    return character in _BLANK or ord(character) in _SELECTORS


def _escape(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}.get(character, f"\\x{number:02x}")
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
