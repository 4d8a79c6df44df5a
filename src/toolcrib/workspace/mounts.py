"""Mounts: folders of the host under a name of their own, and what may be done below them."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

_NAME = re.compile(r"/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Access(StrEnum):
    """What a mount allows, and what a call wants."""

    READ = "read"
    WRITE = "write"


@frozen
class Mount:
    """A folder of the host under a virtual name (`/workspace`); `root` is its real path."""

    name: str
    root: str
    access: Access = Access.WRITE
    prefix: str = field(init=False, repr=False, compare=False)
    """The real path with a slash at its end, so that `/data` never matches `/database`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefix", self.root if self.root.endswith("/") else self.root + "/")

    @classmethod
    def of(cls, name: str, folder: str | Path, access: Access = Access.WRITE) -> Mount:
        """A mount of an existing folder; links in the folder's own path are resolved once, here."""
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is not a mount name: write one name after a slash, such as '/data'")
        root = os.path.realpath(folder)
        try:
            found = os.stat(root)
        except OSError as error:
            raise ConfigError(f"the folder {folder} of mount {name} cannot be used: {error.strerror}") from error
        if not stat.S_ISDIR(found.st_mode):
            raise ConfigError(f"{folder}, mounted as {name}, is not a folder")
        return cls(name, root, access)

    def holds(self, path: str) -> bool:
        """Whether an absolute, normal host path lies at or below this mount."""
        return path == self.root or path.startswith(self.prefix)

    def below(self, path: str) -> tuple[str, ...]:
        """The names from this mount down to a path that it holds."""
        return tuple(name for name in path[len(self.root) :].split("/") if name)

    def host_path(self, parts: tuple[str, ...]) -> str:
        return self.prefix + "/".join(parts) if parts else self.root

    def virtual_path(self, parts: tuple[str, ...]) -> str:
        return "/".join((self.name, *parts))


HOST = Mount("/", "/", Access.WRITE)
"""The whole file system, for tools that take host paths. It is never listed as a mount."""
