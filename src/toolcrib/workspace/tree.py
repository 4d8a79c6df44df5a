"""Folders and what is in them: listed and walked by descriptor, links never followed, sensitive ones not entered."""

from __future__ import annotations

import contextlib
import heapq
import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import islice

from toolcrib.values.noun import frozen
from toolcrib.values.words import counted
from toolcrib.workspace.lexical import printable
from toolcrib.workspace.patterns import PathRules, Secrets
from toolcrib.workspace.spots import Kind, kind_of

MAX_VISITED = 200_000
MAX_DEPTH = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen
class Entry:
    """One thing in a folder; `path` is relative to where the look began."""

    path: str
    kind: Kind
    size: int | None
    modified: float

    def line(self) -> str:
        """As a person and a model read it: a slash after folders, an arrow after links."""
        mark = {Kind.FOLDER: "/", Kind.FILE: "", Kind.LINK: " ->"}.get(self.kind, f" ({self.kind})")
        size = f"  {counted(self.size, 'byte')}" if self.kind is Kind.FILE and self.size is not None else ""
        return f"{self.path}{mark}{size}"


@dataclass(slots=True)
class Walk:
    """A walk below a folder; what was left out is counted while it goes on."""

    rules: PathRules
    top: str
    secrets: Secrets = Secrets.LEFT_OUT
    visited: int = 0
    hidden: int = 0
    exhausted: bool = False
    too_deep: bool = False
    _path: list[str] = field(default_factory=list[str])

    def entries(self, folder: int) -> Generator[Entry]:
        """Every entry, folders before what is in them, in the order of names."""
        if len(self._path) >= MAX_DEPTH:
            self.too_deep = True
            return
        for name, is_folder in self._names(folder):
            path = "/".join((*self._path, name))
            yield _entry(folder, name, path)
            if is_folder and not self._is_hidden(path):
                yield from self._below(folder, name)
            if self.exhausted:
                return

    def _below(self, folder: int, name: str) -> Iterator[Entry]:
        try:
            inner = os.open(name, _FOLDER, dir_fd=folder)
        except OSError:
            return  # gone, swapped for a link, or closed to this user since it was listed
        self._path.append(name)
        try:
            yield from self.entries(inner)
        finally:
            self._path.pop()
            os.close(inner)

    def _is_hidden(self, path: str) -> bool:
        if self.secrets is Secrets.LEFT_OUT and self.rules.is_sensitive(f"{self.top}/{path}"):
            self.hidden += 1
            return True
        return False

    def _names(self, folder: int) -> list[tuple[str, bool]]:
        with os.scandir(folder) as entries:
            room = MAX_VISITED - self.visited
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, room)]
        self.visited += len(names)
        self.exhausted = self.exhausted or self.visited >= MAX_VISITED
        names.sort()
        return names


def listing(folder: int, limit: int) -> tuple[list[Entry], int]:
    """The first entries of a folder by name, and how many there are; a million of them cost no memory."""
    total = 0

    def names() -> Iterator[str]:
        nonlocal total
        with os.scandir(folder) as entries:
            for entry in entries:
                total += 1
                yield entry.name

    first = heapq.nsmallest(limit, names())
    return [_entry(folder, name, name) for name in first], total


def _entry(folder: int, name: str, path: str) -> Entry:
    status: os.stat_result | None = None
    with contextlib.suppress(OSError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    shown = printable(os.fsencode(path))
    if status is None:
        return Entry(shown, Kind.FILE, None, 0.0)
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return Entry(shown, kind_of(status), size, status.st_mtime)
