"""Spots: where a path really leads, and what stood there when it was looked at."""

from __future__ import annotations

import os
import stat
from enum import StrEnum
from typing import NamedTuple

from toolcrib.values.noun import frozen, noun
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.target import Target
from toolcrib.workspace.mounts import Mount


class Kind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    PIPE = "named pipe"
    SOCKET = "socket"
    DEVICE = "device"


_FORMAT = 0o170000
_KINDS = {
    stat.S_IFREG: Kind.FILE,
    stat.S_IFDIR: Kind.FOLDER,
    stat.S_IFLNK: Kind.LINK,
    stat.S_IFIFO: Kind.PIPE,
    stat.S_IFSOCK: Kind.SOCKET,
}


class Identity(NamedTuple):
    """One thing on disk, whatever it is called."""

    device: int
    inode: int
    kind: Kind

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        return cls(status.st_dev, status.st_ino, _KINDS.get(status.st_mode & _FORMAT, Kind.DEVICE))


def kind_of(status: os.stat_result) -> Kind:
    return _KINDS.get(status.st_mode & _FORMAT, Kind.DEVICE)


class Final(StrEnum):
    """What a link at the end of a path stands for: what it leads to, or (to delete or move it) itself."""

    FOLLOWED = "followed"
    ITSELF = "itself"


@noun
class Spot:
    """A place below a mount, without links: `parts` are the real names, the last `missing` of which do not exist.

    `anchor` is the folder in which the first missing name would be made.
    """

    mount: Mount
    parts: tuple[str, ...]
    identity: Identity | None
    missing: int
    anchor: Identity | None
    links: int
    shown: str

    @property
    def host_path(self) -> str:
        return self.mount.host_path(self.parts)

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else ""

    def file(self) -> Identity:
        """The regular file that stands here; a Refusal that says what does, if it is anything else."""
        identity = self.existing()
        if identity.kind is Kind.FILE:
            return identity
        if identity.kind is Kind.FOLDER:
            message = f"{self.shown} is a folder, not a file; list it to see what is in it"
        else:
            message = f"{self.shown} is a {identity.kind}, not a regular file; only regular files can be used"
        raise Refusal(Reason.VALIDATION_ERROR, message, {"path": self.shown, "kind": identity.kind.value})

    def folder(self) -> Identity:
        """The folder that stands here, or a Refusal."""
        identity = self.existing()
        if identity.kind is Kind.FOLDER:
            return identity
        message = f"{self.shown} is a {identity.kind}, not a folder; read it, or give the folder that it is in"
        raise Refusal(Reason.VALIDATION_ERROR, message, {"path": self.shown, "kind": identity.kind.value})

    def existing(self) -> Identity:
        """Whatever stands here, or a Refusal that says how far the path leads."""
        if self.identity is not None:
            return self.identity
        if self.parts[-self.missing].startswith("--"):
            message = f"{self.shown} looks like an option and names nothing below {self.mount.name}; give a path"
            raise Refusal(Reason.PATH_OUTSIDE_ROOT, message, {"path": self.shown})
        known = self.parts[: len(self.parts) - self.missing]
        there = self.mount.virtual_path(known) if self.mount.name != "/" else self.mount.host_path(known)
        far = f"; the path leads as far as {there}" if known or self.mount.name == "/" else f" in {there}"
        message = f"{self.shown} does not exist{far}"
        raise Refusal(Reason.FILE_NOT_FOUND, message, {"path": self.shown})


@frozen
class PathTarget(Target):
    """A path as it is declared to the gate. The spot goes with it, so that the handler acts on what was declared."""

    spot: Spot | None = None

    @property
    def also(self) -> str:
        """The virtual path, for what lies below a mount."""
        spot = self.spot
        return "" if spot is None or spot.mount.name == "/" else spot.mount.virtual_path(spot.parts)


def spot_of(target: Target) -> Spot:
    """The spot that a declared path target carries."""
    if isinstance(target, PathTarget) and target.spot is not None:
        return target.spot
    raise TypeError(f"{target!r} was not declared by a workspace")
