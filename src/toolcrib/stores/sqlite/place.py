"""Whether the file system under the store keeps its word about locks and syncs."""

from __future__ import annotations

from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs"})
_MEMORY = frozenset({"tmpfs", "ramfs"})


def doubts(path: Path) -> list[str]:
    """What cannot be trusted where the store lies; empty on an ordinary local disk."""
    kind = _file_system(path.resolve())
    if kind in _NETWORK or kind.startswith("fuse."):
        return [
            f"the store {path} is on {kind}: file locks may not hold there, use a local disk or one process at a time"
        ]
    if kind in _MEMORY:
        return [f"the store {path} is on {kind}: it is gone when the machine restarts, use a disk to keep it"]
    if kind == "overlay":
        return [f"the store {path} is on overlay: it may go away with the container, use a volume to keep it"]
    return []


def _file_system(path: Path) -> str:
    """The type of the file system that holds a path: the deepest mount point above it, the last one if several."""
    if not _MOUNTS.exists():
        return "unknown"
    deepest, kind = -1, "unknown"
    for line in _MOUNTS.read_text("utf-8", "replace").splitlines():
        before, _, after = line.partition(" - ")
        point = Path(before.split(" ")[4].replace("\\040", " "))
        if path.is_relative_to(point) and len(point.parts) >= deepest:
            deepest, kind = len(point.parts), after.split(" ")[0]
    return kind
