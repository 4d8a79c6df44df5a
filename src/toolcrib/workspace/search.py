"""Search in files: what is wanted, what was found, and the check that every line shown is from a file in bounds.

The searcher (ripgrep, or Python where there is none) only says where to look. What a model gets to see is read again
here, through descriptors, so that no link that is swapped in meanwhile can show a line from outside.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.globs import Matcher, compile_glob
from toolcrib.workspace.lexical import printable
from toolcrib.workspace.mounts import HOST, Mount
from toolcrib.workspace.patterns import PACKAGE_STORES, Secrets
from toolcrib.workspace.spots import Kind, kind_of
from toolcrib.workspace.workspace import Workspace

SHOWN_BYTES = 500
MAX_QUERY = 10_000


class Case(StrEnum):
    SMART = "smart"
    SENSITIVE = "sensitive"
    IGNORED = "ignored"


@frozen
class Query:
    """What to look for. `pattern` is a regular expression unless `literal`."""

    pattern: str
    literal: bool
    glob: str | None
    limit: int
    context: int
    case: Case
    secrets: Secrets
    timeout: float

    def check(self) -> None:
        """Refuse what no searcher could be given: no pattern, a NUL, far too long, a glob that cannot be read."""
        if not 0 < len(self.pattern) <= MAX_QUERY or "\0" in self.pattern + (self.glob or ""):
            message = f"a query has 1 to {MAX_QUERY:,} characters, and neither it nor the glob contains a NUL"
            raise Refusal(Reason.VALIDATION_ERROR, message)
        self.matcher()

    def matcher(self) -> Matcher | None:
        """The glob as a matcher; one without a slash fits a file of that name at any depth."""
        if self.glob is None:
            return None
        return compile_glob(self.glob if "/" in self.glob else f"**/{self.glob}")


@frozen
class Place:
    """Where a searcher found a line: the path below the folder, as bytes, and the line itself."""

    path: bytes
    number: int
    offset: int
    line: bytes
    match: bool


@frozen
class Hit:
    """A line that may be shown."""

    path: str
    number: int
    text: str
    match: bool


@dataclass(slots=True)
class Searched:
    """What one pass of a searcher brought."""

    places: list[Place]
    truncated: bool = False
    timed_out: bool = False
    left_out: int = 0
    engine: str = ""


@frozen
class Ground:
    """The folder that is searched, held open, and where it is."""

    workspace: Workspace
    mount: Mount
    parts: tuple[str, ...]
    descriptor: int

    def screen(self, query: Query) -> Callable[[bytes], bool]:
        """Which of the files that a searcher comes upon may be shown: those that fit the glob and hold no secrets."""
        matcher, rules = query.matcher(), self.workspace.rules
        top = self.mount.host_path(self.parts) if self.mount is HOST else "/".join(self.parts)

        def keeps(path: bytes) -> bool:
            text = printable(path)
            if matcher is not None and not matcher.match(text):
                return False
            return query.secrets is Secrets.INCLUDED or not rules.is_sensitive(f"{top}/{text}")

        return keeps


@dataclass(slots=True)
class Verified:
    """What may be shown, and how many matches were not: gone meanwhile, or in files that have other names elsewhere."""

    hits: list[Hit] = field(default_factory=list[Hit])
    gone: int = 0
    hard_linked: int = 0


def verified(ground: Ground, places: Iterable[Place], query: Query) -> Verified:
    """Keep the lines that stand where they were found, in regular files in bounds."""
    by_path: dict[bytes, list[Place]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    result = Verified()
    for path in sorted(by_path):
        _read_again(ground, path, by_path[path], query, result)
    return result


def _read_again(ground: Ground, path: bytes, places: list[Place], query: Query, result: Verified) -> None:
    parts = tuple(os.fsdecode(path).split("/"))
    matches = sum(place.match for place in places)
    try:
        descriptor = ground.workspace.open_exact(ground.mount, (*ground.parts, *parts), os.O_RDONLY)
    except Refusal:
        result.gone += matches
        return
    try:
        status = os.fstat(descriptor)
        if status.st_nlink > 1 and query.secrets is Secrets.LEFT_OUT and PACKAGE_STORES.isdisjoint(parts):
            result.hard_linked += matches
        elif kind_of(status) is Kind.FILE:
            found = [place for place in places if os.pread(descriptor, len(place.line), place.offset) == place.line]
            found.sort(key=lambda place: place.number)
            name = printable(path)
            result.hits += [Hit(name, place.number, _shown(place.line), place.match) for place in found]
            result.gone += matches - sum(place.match for place in found)
    finally:
        os.close(descriptor)


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r\n")
    cut = text[:SHOWN_BYTES].decode("utf-8", "ignore") if len(text) > SHOWN_BYTES else text.decode("utf-8", "replace")
    return cut + " …" if len(text) > SHOWN_BYTES else cut
