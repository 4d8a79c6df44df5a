"""From a path to what it names, by open descriptors: nothing that moves meanwhile can mislead."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.faults import led_out
from toolcrib.workspace.mounts import Mount
from toolcrib.workspace.spots import Identity, Kind, Spot
from toolcrib.workspace.syscalls import (
    RESOLVE_BENEATH,
    RESOLVE_NO_MAGICLINKS,
    RESOLVE_NO_SYMLINKS,
    Openat2,
    has_openat2,
)

MAX_LINKS = 40
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_DETOUR = (errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.EXDEV, errno.EAGAIN)


class Opener:
    """Opens exact paths below a folder: every name is taken as it is, a link anywhere is an error (ELOOP)."""

    def __init__(self, openat2: Openat2 | None) -> None:
        self._openat2 = openat2

    @classmethod
    def best(cls) -> Opener:
        """By openat2 where the kernel has it, else one O_NOFOLLOW step per name."""
        exact = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
        return cls(Openat2(exact) if has_openat2() else None)

    def open(self, folder: int, parts: tuple[str, ...], flags: int) -> int:
        if self._openat2 is not None:
            return self._openat2(folder, "/".join(parts).encode("utf-8", "surrogateescape") or b".", flags)
        return _open_last(folder, parts, flags | os.O_CLOEXEC)

    def look(self, folder: int, parts: tuple[str, ...]) -> os.stat_result:
        """What stands at an exact path; a link there is an error too."""
        if self._openat2 is None:
            return _look_at_last(folder, parts)
        descriptor = self.open(folder, parts, os.O_PATH)
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)


def find(opener: Opener, root: int, mount: Mount, parts: tuple[str, ...], shown: str) -> Spot:
    """Look at what a path names; changes nothing and opens nothing for reading."""
    try:
        status = opener.look(root, parts)
    except OSError as error:
        if error.errno not in _DETOUR:
            raise
        return _Walk(root, mount, shown).follow(parts)
    return _spot(mount, parts, status, shown)


def find_itself(opener: Opener, root: int, folder: Spot, name: str, shown: str) -> Spot:
    """Look at a name in a folder without following it, should it be a link."""
    parts = (*folder.parts, name)
    if folder.identity is None:
        return Spot(folder.mount, parts, None, folder.missing + 1, folder.anchor, 0, shown)
    folder.folder()
    try:
        descriptor = opener.open(root, parts, os.O_PATH | os.O_NOFOLLOW)
    except FileNotFoundError:
        return Spot(folder.mount, parts, None, 1, folder.identity, 0, shown)
    try:
        return _spot(folder.mount, parts, os.fstat(descriptor), shown)
    finally:
        os.close(descriptor)


def _spot(mount: Mount, parts: tuple[str, ...], status: os.stat_result, shown: str) -> Spot:
    identity = Identity.of(status)
    return Spot(mount, parts, identity, 0, None, 1 if identity.kind is Kind.FOLDER else status.st_nlink, shown)


def _open_last(root: int, parts: tuple[str, ...], flags: int) -> int:
    """Open the last name, reached by one O_NOFOLLOW step per folder."""
    if not parts:
        return os.open(".", flags, dir_fd=root)
    folder = _folder_of_last(root, parts)
    try:
        return os.open(parts[-1], flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        if folder != root:
            os.close(folder)


def _look_at_last(root: int, parts: tuple[str, ...]) -> os.stat_result:
    if not parts:
        return os.fstat(root)
    folder = _folder_of_last(root, parts)
    try:
        status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    finally:
        if folder != root:
            os.close(folder)
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return status


def _folder_of_last(root: int, parts: tuple[str, ...]) -> int:
    """The folder that holds the last name: the root itself, or a descriptor that the caller closes."""
    current = root
    for part in parts[:-1]:
        try:
            following = os.open(part, _LOOK | os.O_DIRECTORY, dir_fd=current)
        finally:
            if current != root:
                os.close(current)
        current = following
    return current


@dataclass(slots=True)
class _Step:
    name: str
    descriptor: int


class _Walk:
    """Follows links by hand: each is read from the descriptor of the link itself and may not lead out of the root."""

    def __init__(self, root: int, mount: Mount, shown: str) -> None:
        self._root = root
        self._mount = mount
        self._shown = shown
        self._steps: list[_Step] = []
        self._links = 0

    def follow(self, parts: tuple[str, ...]) -> Spot:
        waiting = list(reversed(parts))
        try:
            while waiting:
                name = waiting.pop()
                if name == "..":
                    self._up()
                elif (found := self._look(name)) is None:
                    return self._missing(name, waiting)
                elif found.kind is Kind.LINK:
                    waiting.extend(reversed(self._link_parts()))
            return self._arrived()
        finally:
            self._reset()

    def _look(self, name: str) -> Identity | None:
        """Step onto a name; None when nothing has it."""
        try:
            descriptor = os.open(name, _LOOK, dir_fd=self._here)
        except (FileNotFoundError, NotADirectoryError):
            return None
        self._steps.append(_Step(name, descriptor))
        return Identity.of(os.fstat(descriptor))

    def _link_parts(self) -> list[str]:
        """Step back from a link and give the names that it stands for."""
        self._links += 1
        if self._links > MAX_LINKS:
            message = f"{self._shown} runs through more than {MAX_LINKS} links; they probably form a loop"
            raise Refusal(Reason.VALIDATION_ERROR, message, {"path": self._shown})
        step = self._steps.pop()
        try:
            text = os.readlink("", dir_fd=step.descriptor)
        finally:
            os.close(step.descriptor)
        if not text.startswith("/"):
            return [name for name in text.split("/") if name not in ("", ".")]
        if not self._mount.holds(normal := os.path.normpath(text)):
            raise led_out(self._shown, text)
        self._reset()
        return list(self._mount.below(normal))

    def _up(self) -> None:
        if self._steps:
            os.close(self._steps.pop().descriptor)
        elif self._mount.root != "/":
            raise led_out(self._shown, None)

    def _missing(self, name: str, waiting: list[str]) -> Spot:
        """Nothing has this name: what follows it can only be names of things to be made."""
        rest = [name, *reversed(waiting)]
        here = Identity.of(os.fstat(self._here))
        if here.kind is not Kind.FOLDER:
            message = (
                f"{self._shown} does not exist: {self._steps[-1].name!r} on the way is a {here.kind}, not a folder"
            )
            raise Refusal(Reason.FILE_NOT_FOUND, message, {"path": self._shown})
        if ".." in rest:
            raise Refusal(Reason.FILE_NOT_FOUND, f"{self._shown} is a link to something that does not exist")
        parts = (*(step.name for step in self._steps), *rest)
        return Spot(self._mount, parts, None, len(rest), here, 0, self._shown)

    def _arrived(self) -> Spot:
        status = os.fstat(self._here)
        return _spot(self._mount, tuple(step.name for step in self._steps), status, self._shown)

    @property
    def _here(self) -> int:
        return self._steps[-1].descriptor if self._steps else self._root

    def _reset(self) -> None:
        while self._steps:
            os.close(self._steps.pop().descriptor)
