"""Values that are known to be secret (from the environment), in every form in which they may come back."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from json import dumps
from urllib.parse import quote, quote_plus

from toolcrib.engine.secrets.find import LOOK, Find
from toolcrib.values.noun import frozen

SHORTEST = 8
LONGEST = (
    1024  # more of a longer value need not be recognised to hide it: each part of this length is a value of its own
)
_PREFIX = 8
_WRAP = rb"(?:\\?\r?\n[ \t>|#+]{0,16}|\\n)?"


@frozen
class Known:
    """The forms of all known values, by their first bytes."""

    forms: dict[bytes, tuple[re.Pattern[bytes], ...]]

    @classmethod
    def of(cls, values: Iterable[str]) -> Known:
        forms: dict[bytes, set[bytes]] = {}
        for value in values:
            for form in _forms(value.strip()):
                forms.setdefault(form[:_PREFIX], set()).add(form)
        return cls(
            {prefix: tuple(map(_pattern, sorted(same, key=len, reverse=True))) for prefix, same in forms.items()}
        )

    def heads(self) -> list[bytes]:
        return [re.escape(prefix) for prefix in self.forms]

    def find(self, text: bytes, start: int) -> tuple[Find, ...]:
        for pattern in self.forms.get(text[start : start + _PREFIX], ()):
            if match := pattern.match(text, start, start + LOOK):
                return (Find(start, match.end(), "known_value"),)
        return ()


def _forms(value: str) -> set[bytes]:
    """The value as it is, in base64 at each alignment, in hexadecimal, URL-encoded and escaped as in JSON."""
    if len(value) < SHORTEST:
        return set()
    pieces = [value[index : index + LONGEST] for index in range(0, len(value), LONGEST)]
    forms: set[bytes] = set()
    for piece in (piece for piece in pieces if len(piece) >= SHORTEST):
        raw = piece.encode("utf-8", "surrogatepass")
        forms.update((raw, raw.hex().encode(), raw.hex().upper().encode()))
        forms.update((quote(raw, safe="").encode(), quote_plus(raw).encode(), quote(raw).encode()))
        forms.update(
            (dumps(piece)[1:-1].encode(), dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"))
        )
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + raw).rstrip(b"=")
            core = encoded[(0, 2, 3)[shift] : len(encoded) if (shift + len(raw)) % 3 == 0 else -1]
            forms.update((core, core.translate(bytes.maketrans(b"+/", b"-_"))))
    return {form for form in forms if len(form) >= SHORTEST}


def _pattern(form: bytes) -> re.Pattern[bytes]:
    """The form, also when it was wrapped over lines after its first bytes."""
    head, rest = form[:_PREFIX], form[_PREFIX:]
    return re.compile(re.escape(head) + b"".join(_WRAP + re.escape(rest[i : i + 1]) for i in range(len(rest))))
