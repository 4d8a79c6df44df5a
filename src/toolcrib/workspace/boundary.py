"""Where writes may go without a question about leaving: further roots, and the temporary folder if switched on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from toolcrib.values.noun import frozen


class TemporaryFolder(StrEnum):
    """Whether TMPDIR counts as ground for writes."""

    CLOSED = "closed"
    OPEN = "open"


@frozen
class Boundary:
    """Real paths below which a write is not `outside`, and real paths that belong to Toolcrib itself."""

    roots: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        roots: Iterable[str | Path] = (),
        private: Iterable[str | Path] = (),
        temporary: TemporaryFolder = TemporaryFolder.CLOSED,
    ) -> Boundary:
        """A boundary of folders as they are written in a configuration: a trailing slash or a link changes nothing."""
        grounds = [*roots, tempfile.gettempdir()] if temporary is TemporaryFolder.OPEN else list(roots)
        return cls(tuple(map(_real, grounds)), tuple(map(_real, private)))

    def root_of(self, path: str) -> str | None:
        """The innermost root that holds a real path; None when the path is outside."""
        return max((root for root in self.roots if _holds(root, path)), key=len, default=None)

    def is_private(self, path: str) -> bool:
        return any(_holds(root, path) for root in self.private)


def _real(folder: str | Path) -> str:
    return os.path.realpath(os.path.expanduser(folder))


def _holds(root: str, path: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else root + "/")
