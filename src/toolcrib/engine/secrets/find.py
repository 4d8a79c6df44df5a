"""A place in a text that must not be shown, and how far it reaches."""

from __future__ import annotations

import re

from toolcrib.values.noun import frozen

LOOK = 2048  # a rule decides from this many bytes after its head
BEHIND = 256  # and from this many bytes before it
LEFT = 32  # a secret may begin this many bytes before its head


@frozen
class Stop:
    """What ends a secret whose end lies beyond the window: at most `width` bytes, kept out of it unless `closing`."""

    pattern: re.Pattern[bytes]
    width: int = 1


@frozen
class Find:
    """Bytes `start` to `end` are a secret; with a `stop` it goes on until that is met."""

    start: int
    end: int
    label: str
    stop: Stop | None = None


def stop_at(pattern: bytes, width: int = 1) -> Stop:
    """A stop; a group named `closing` in the pattern still belongs to the secret."""
    return Stop(re.compile(pattern), width)
