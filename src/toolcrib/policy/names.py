"""Name patterns: exact unless a glob is written, and a glob stays inside one dotted part."""

from __future__ import annotations

import re
from functools import lru_cache

from toolcrib.values.refusal import ConfigError

EVERY = "**"
_GLOBS = {"**": ".*", "*": r"[^.]*", "?": r"[^.]"}


@lru_cache(maxsize=4_096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A name pattern: exact unless a glob is written; `*` and `?` stay inside one dotted part, `**` crosses dots."""
    if not pattern or not re.fullmatch(r"[A-Za-z0-9_.*?-]+", pattern):
        raise ConfigError(
            f"{pattern!r} is not a tool name pattern: use a name such as 'notes.read', with * or ? as globs"
        )
    words = re.split(r"(\*\*|\*|\?)", pattern)
    return re.compile("".join(_GLOBS.get(word, re.escape(word)) for word in words))


def is_exact(pattern: str) -> bool:
    """Whether a pattern is one name and nothing else."""
    return "*" not in pattern and "?" not in pattern


def head_of(pattern: str) -> str:
    """The first dotted part of a pattern, when every name that fits begins with it; else empty."""
    head, dot, _ = pattern.partition(".")
    return head if dot and is_exact(head) else ""


def compile_text_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for free text (agents, servers, resources): `*` stands for anything, `?` for one character."""
    globs = {"*": ".*", "?": "."}
    return re.compile("".join(globs.get(letter, re.escape(letter)) for letter in pattern), re.DOTALL)
