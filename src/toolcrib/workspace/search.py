"""Search in files: what is wanted, what was found, and the check that every line shown is from a file in bounds.

The searcher (ripgrep, or Python where there is none) only says where to look. What a model gets to see is read again
here, through descriptors, so that no link that is swapped in meanwhile can show a line from outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from toolcrib.values.refusal import Refusal
from toolcrib.workspace.globs import Matcher, compile_glob
from toolcrib.workspace.lexical import printable
from toolcrib.workspace.mounts import Mount
from toolcrib.workspace.patterns import PathRules
from toolcrib.workspace.spots import Identity, Kind
from toolcrib.workspace.workspace import Workspace

SHOWN_BYTES = 500


class Case(StrEnum):
    SMART = "smart"
    SENSITIVE = "sensitive"
    IGNORED = "ignored"


class Secrets(StrEnum):
    """What happens to sensitive files: left out and counted, or searched because a person said so."""

    LEFT_OUT = "left out"
    SEARCHED = "searched"


@dataclass(frozen=True, slots=True)
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

    def matcher(self) -> Matcher | None:
        """The glob as a matcher; one without a slash fits a file of that name at any depth."""
        if self.glob is None:
            return None
        return compile_glob(self.glob if "/" in self.glob else f"**/{self.glob}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a searcher found a line: the path below the folder, as bytes, and the line itself."""

    path: bytes
    number: int
    offset: int
    line: bytes
    match: bool


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Ground:
    """The folder that is searched, held open, and where it is."""

    workspace: Workspace
    mount: Mount
    parts: tuple[str, ...]
    descriptor: int

    @property
    def rules(self) -> PathRules:
        return self.workspace.rules


def verified(ground: Ground, places: Iterable[Place], query: Query) -> tuple[list[Hit], int]:
    """The lines that stand where they were found, in files in bounds; and how many matches were not there any more."""
    by_path: dict[bytes, list[Place]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    matcher = query.matcher()
    hits: list[Hit] = []
    gone = 0
    for path in sorted(by_path):
        if matcher is not None and not matcher.match(printable(path)):
            continue
        lines = _read_again(ground, path, by_path[path], query)
        gone += sum(place.match for place in by_path[path]) - sum(hit.match for hit in lines)
        hits += lines
    return hits, gone


def _read_again(ground: Ground, path: bytes, places: list[Place], query: Query) -> list[Hit]:
    parts = tuple(os.fsdecode(path).removeprefix("./").split("/"))
    if query.secrets is Secrets.LEFT_OUT and ground.rules.is_sensitive("/".join((*ground.parts, *parts))):
        return []
    try:
        descriptor = ground.workspace.open_exact(ground.mount, (*ground.parts, *parts), os.O_RDONLY)
    except Refusal:
        return []
    try:
        if Identity.of(os.fstat(descriptor)).kind is not Kind.FILE:
            return []
        name = printable(path.removeprefix(b"./"))
        return [
            Hit(name, place.number, _shown(place.line), place.match)
            for place in sorted(places, key=lambda place: place.number)
            if os.pread(descriptor, len(place.line), place.offset) == place.line
        ]
    finally:
        os.close(descriptor)


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\r\n")
    cut = text[:SHOWN_BYTES].decode("utf-8", "ignore") if len(text) > SHOWN_BYTES else text.decode("utf-8", "replace")
    return cut + " …" if len(text) > SHOWN_BYTES else cut
