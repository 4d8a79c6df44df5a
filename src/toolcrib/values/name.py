"""Names: canonical dotted names inside, provider-safe names at the edge, a table between the two."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import InvalidName

MAX_NAME = 200
PROVIDER_LIMIT = 64
SEARCH = "tools.search"
ENVELOPE = "tools.call"
ENVELOPES = frozenset({ENVELOPE, "tools__call"})
"""The envelope's name inside and at providers. No tool may have it: a call of it is a call of the tool inside."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)*")
_PLAIN = re.compile(r"[A-Za-z](?!.*__)(?!.*_\.)(?!.*_x[0-9a-f]{10}$)[A-Za-z0-9_.-]*")


def check_name(name: str) -> str:
    """Return the name if it is canonical: ASCII words of letters, digits, `_` and `-`, joined by single dots."""
    if len(name) > MAX_NAME:
        raise InvalidName(f"the tool name {name[:40]!r}… has {len(name)} characters; at most {MAX_NAME} are allowed")
    if not _NAME.fullmatch(name):
        raise InvalidName(
            f"{name!r} is not a tool name: use ASCII words of letters, digits, '_' and '-', "
            "the first beginning with a letter, joined by single dots (for example 'notes.read')"
        )
    return name


def mangle(name: str, limit: int = PROVIDER_LIMIT) -> str:
    """A provider-safe form (letters, digits, `_`, `-`, at most `limit` characters); no two names share one.

    Plain names only turn dots into double underscores, which can be undone. Every other name (too long, or with
    underscores that would make that ambiguous) gets a mark and a hash of the whole name at its end.
    """
    plain = name.replace(".", "__")
    if len(plain) <= limit and _PLAIN.fullmatch(name):
        return plain
    tail = "_x" + hashlib.sha256(name.encode()).hexdigest()[:10]
    return plain[: limit - len(tail)] + tail


@frozen
class NameTable:
    """Canonical names and the names one provider sees; reversed by look-up, never by string surgery."""

    outward: Mapping[str, str]
    inward: Mapping[str, str]

    @classmethod
    def build(cls, names: Iterable[str], limit: int = PROVIDER_LIMIT) -> NameTable:
        """Make the table for these names; a collision is an error, not a suffix."""
        outward = {name: mangle(name, limit) for name in names}
        inward: dict[str, str] = {}
        for name, sent in outward.items():
            if (other := inward.setdefault(sent, name)) != name:
                raise InvalidName(f"{name!r} and {other!r} would both be sent to the provider as {sent!r}")
        return cls(outward, inward)

    def canonical(self, sent: str) -> str:
        """The canonical name for what a model wrote; an unknown name comes back as it is."""
        return self.inward.get(sent, sent)

    def __iter__(self) -> Iterator[str]:
        return iter(self.outward)
