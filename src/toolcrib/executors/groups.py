"""A hard limit on the number of processes, by a control group where we may make one. Standard library only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from toolcrib.values.noun import frozen

MOUNT = Path("/sys/fs/cgroup")
PREFIX = "toolcrib-"


@frozen
class ProcessGroup:
    """A control group that holds one keeper and everything below it."""

    folder: Path

    @classmethod
    def enter(cls) -> ProcessGroup | None:
        """Put this process into a group of its own; None where that is not possible."""
        if os.geteuid() != 0 or (parent := _parent()) is None:
            return None
        # The process id alone is no name: in a namespace of its own every keeper is number 1.
        folder = parent / f"{PREFIX}{os.urandom(6).hex()}"
        try:
            folder.mkdir()
            (folder / "cgroup.procs").write_text("0")
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            return None
        return cls(folder)

    def limit(self, processes: int) -> None:
        """Let no more than this many processes be in the group."""
        with suppress(OSError):
            (self.folder / "pids.max").write_text(str(processes))

    def leave(self) -> None:
        """Step out and remove the group; it is empty once everything else in it has ended."""
        with suppress(OSError):
            (self.folder.parent / "cgroup.procs").write_text("0")
            self.folder.rmdir()


def sweep() -> None:
    """Remove groups whose keeper was killed before it could."""
    parent = _parent() if os.geteuid() == 0 else None
    for folder in () if parent is None else parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            folder.rmdir()  # one that still holds a process stays


def _parent() -> Path | None:
    """The group this process is in, if it counts processes and can have groups below it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "pids":
            return _existing(MOUNT / "pids" / path.lstrip("/"))
        if not controllers and (MOUNT / "cgroup.controllers").exists():
            return _counting(MOUNT / path.lstrip("/"))
    return None


def _counting(folder: Path) -> Path | None:
    """A group of the unified hierarchy, told to count the processes of the groups below it."""
    try:
        if "pids" not in (folder / "cgroup.subtree_control").read_text().split():
            (folder / "cgroup.subtree_control").write_text("+pids")
    except OSError:
        return None
    return folder


def _existing(folder: Path) -> Path | None:
    return folder if (folder / "cgroup.procs").exists() else None
