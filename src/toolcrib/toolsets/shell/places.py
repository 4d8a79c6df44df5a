"""What a path that a command names means for permission: sensitive, protected, or outside."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from itertools import islice
from typing import Protocol

from toolcrib.policy.commands import Descent
from toolcrib.toolsets.shell.trees import walk
from toolcrib.values.noun import frozen
from toolcrib.values.target import Target, TargetKind

PUBLIC = ("/usr", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/cpuinfo", "/proc/meminfo")
"""Readable from anywhere without a question: programs and their documentation, and nothing of anyone's own."""
MAX_MATCHES = 1_000
MAX_LOOKED_AT = 30_000
"""Entries below a folder that are looked at before a command reads all of them; a larger tree asks."""


class Places(Protocol):
    """Looks at a path as a command in a folder would name it; gives a marked target, or None for ordinary ground."""

    def reading(self, path: str, cwd: str) -> Target | None: ...
    def writing(self, path: str, cwd: str) -> Target | None: ...
    def below(self, descent: Descent, cwd: str) -> Target | None: ...
    def working(self, cwd: str) -> Target | None: ...
    def is_workspace(self, path: str) -> bool: ...


def _nothing(path: str) -> bool:
    return False


@frozen(kw_only=True)
class HostPlaces:
    """Places by real path: `roots` may be read and written, `readable` only read; names are judged by the two rules."""

    roots: tuple[str, ...]
    readable: tuple[str, ...] = ()
    sensitive: Callable[[str], bool] = _nothing
    protected: Callable[[str], bool] = _nothing
    stores: frozenset[str] = frozenset()
    """Folders of installed packages, which hold names like those of secrets and none of anybody's."""

    def reading(self, path: str, cwd: str) -> Target | None:
        """A target for a path that would be read, when there is something to say about it."""
        for absolute, real in _matches(path, cwd):
            marks: set[str] = set()
            if self.sensitive(absolute) or self.sensitive(real):
                marks.add("sensitive")
            if not _within(real, (*self.roots, *self.readable, *PUBLIC)):
                marks.add("outside")
            if marks:
                return _target(real, marks)
        return None

    def writing(self, path: str, cwd: str) -> Target | None:
        """A target for a path that would be written, when there is something to say about it."""
        for absolute, real in _matches(path, cwd):
            marks: set[str] = set()
            if self.protected(absolute) or self.protected(real):
                marks.add("protected")
            if self.sensitive(absolute) or self.sensitive(real):
                marks.add("sensitive")
            if not _within(real, (*self.roots, "/dev/null")):
                marks.add("outside")
            if marks:
                return _target(real, marks)
        return None

    def below(self, descent: Descent, cwd: str) -> Target | None:
        """The first file with secrets that a program would come to; the folder when it is too large to look through."""
        looked_at = 0
        for folder in descent.folders:
            for _, top in _matches(folder, cwd):
                for size, met in walk(top, descent, self.stores):
                    looked_at += size
                    if looked_at > MAX_LOOKED_AT:
                        return _target(top, {"sensitive"})
                    if (target := self._secret_among(met, cwd)) is not None:
                        return target
        return None

    def _secret_among(self, met: list[tuple[str, str]], cwd: str) -> Target | None:
        for path, real in met:
            if self.sensitive(path):
                return _target(path, {"sensitive"})
            if real != path and (target := self.reading(real, cwd)) is not None:
                return target
        return None

    def working(self, cwd: str) -> Target | None:
        """A target for a folder to run in, when it lies outside."""
        real = os.path.realpath(cwd)
        return None if _within(real, self.roots) else _target(real, {"outside"})

    def is_workspace(self, path: str) -> bool:
        """Whether a program lies where tools can write, so that it may not be what it was."""
        return _within(path, self.roots)


def _matches(path: str, cwd: str) -> list[tuple[str, str]]:
    """The absolute and the real path, for a pattern those of everything it matches."""
    absolute = os.path.normpath(os.path.join(cwd, path))
    found = [absolute]
    if glob.has_magic(path) and not os.path.lexists(absolute):
        found += islice(glob.iglob(absolute, include_hidden=True), MAX_MATCHES)
    return [(each, os.path.realpath(each)) for each in found]


def _target(path: str, marks: set[str]) -> Target:
    """What is only outside can be granted for a session; what holds secrets or steers programs asks each time."""
    scope = path if marks == {"outside"} else ""
    return Target(TargetKind.PATH, path, scope, frozenset(marks))


def _within(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
