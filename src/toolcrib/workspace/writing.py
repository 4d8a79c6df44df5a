"""Changes to files that happen whole or not at all, inside a folder that is held open."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from enum import StrEnum

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.faults import changed, told
from toolcrib.workspace.spots import Identity, Spot
from toolcrib.workspace.syscalls import link_open_file, rename_without_replacing
from toolcrib.workspace.workspace import Workspace

_LEFTOVER = re.compile(r"\.toolcrib-[0-9a-f]{16}\.tmp")
_SWEPT = 2_000
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EPERM, errno.EACCES, errno.ENODATA)


class Folders(StrEnum):
    """What to do about folders that a new file needs."""

    MAKE = "make"
    EXPECT = "expect"


def create(
    workspace: Workspace, spot: Spot, chunks: Iterable[bytes], folders: Folders, mode: int | None = None
) -> os.stat_result:
    """Make a file that does not exist; `path_conflict` if something has its name by now."""
    if spot.identity is not None:
        raise taken(spot)
    if spot.missing > 1 and folders is Folders.EXPECT:
        message = f"the folder of {spot.shown} does not exist; make it, or set create_dirs"
        raise Refusal(Reason.FILE_NOT_FOUND, message, {"path": spot.shown})
    with told(spot.shown), workspace.parent(spot) as anchor, _made(anchor, spot) as folder:
        with _unnamed(folder, 0o666) as (descriptor, name):
            _fill(descriptor, chunks)
            if mode is not None:
                os.fchmod(descriptor, mode)
            status = os.fstat(descriptor)
            try:
                _publish(descriptor, name, folder, spot.name)
            except FileExistsError:
                raise taken(spot) from None
        os.fsync(folder)
        return status


def replace(workspace: Workspace, spot: Spot, chunks: Iterable[bytes], was: os.stat_result) -> os.stat_result:
    """Give an existing file new content, keeping mode, owner and extended attributes.

    `was` is the file as it was read: if it changed since, nothing is written (`stale_file`).
    """
    with told(spot.shown), workspace.parent(spot) as folder:
        sweep(folder)
        with _unnamed(folder, 0o600) as (descriptor, name):
            _fill(descriptor, chunks)
            with contextlib.closing(_Old(folder, spot.name)) as old:
                old.check(spot, was)
                old.copy_attributes(descriptor)
            os.fsync(descriptor)
            temporary = name or _temporary_name()
            if name is None:
                link_open_file(descriptor, folder, temporary)
            try:
                os.rename(temporary, spot.name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                os.unlink(temporary, dir_fd=folder)
                raise
            status = os.fstat(descriptor)
        os.fsync(folder)
        return status


def delete(workspace: Workspace, spot: Spot) -> None:
    """Remove the declared file, or a folder that is empty."""
    identity = spot.existing()
    with told(spot.shown), workspace.parent(spot) as folder:
        _check_name(folder, spot)
        if identity.kind == "folder":
            os.rmdir(spot.name, dir_fd=folder)
        else:
            os.unlink(spot.name, dir_fd=folder)
        os.fsync(folder)


def move(workspace: Workspace, spot: Spot, to: Spot, folders: Folders) -> None:
    """Rename the declared thing; nothing is ever replaced."""
    spot.existing()
    if to.identity is not None:
        raise taken(to)
    if to.missing > 1 and folders is Folders.EXPECT:
        raise Refusal(Reason.FILE_NOT_FOUND, f"the folder of {to.shown} does not exist", {"path": to.shown})
    with told(to.shown), workspace.parent(spot) as folder, workspace.parent(to) as anchor, _made(anchor, to) as target:
        _check_name(folder, spot)
        try:
            rename_without_replacing(folder, spot.name, target, to.name)
        except FileExistsError:
            raise taken(to) from None
        os.fsync(target)
        os.fsync(folder)


def sweep(folder: int) -> int:
    """Remove what a writer that was killed left behind in a folder; a live writer's file is locked and stays."""
    swept = 0
    with os.scandir(folder) as entries:
        names = [
            entry.name for entry, _ in zip(entries, range(_SWEPT), strict=False) if _LEFTOVER.fullmatch(entry.name)
        ]
    for name in names:
        with contextlib.suppress(OSError):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=folder)
                swept += 1
            finally:
                os.close(descriptor)
    return swept


def taken(spot: Spot) -> Refusal:
    message = f"{spot.shown} exists already; choose another name, or set overwrite"
    return Refusal(Reason.PATH_CONFLICT, message, {"path": spot.shown})


class _Old:
    """The file that is about to be replaced, held open while its attributes are copied."""

    def __init__(self, folder: int, name: str) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self.descriptor = os.open(name, flags, dir_fd=folder)

    def check(self, spot: Spot, was: os.stat_result) -> None:
        now = os.fstat(self.descriptor)
        if Identity.of(now) != spot.identity:
            raise changed(spot.shown)
        if (now.st_mtime_ns, now.st_size) != (was.st_mtime_ns, was.st_size):
            message = f"{spot.shown} was changed by someone else meanwhile; nothing was written, read it again"
            raise Refusal(Reason.STALE_FILE, message, {"path": spot.shown})

    def copy_attributes(self, descriptor: int) -> None:
        status = os.fstat(self.descriptor)
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        # As a write does, new content takes away the right to run as somebody else, or with capabilities.
        os.fchmod(descriptor, status.st_mode & 0o1777)
        try:
            for name in set(os.listxattr(self.descriptor)) - {"security.capability"}:
                os.setxattr(descriptor, name, os.getxattr(self.descriptor, name))
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise

    def close(self) -> None:
        os.close(self.descriptor)


def _check_name(folder: int, spot: Spot) -> None:
    if Identity.of(os.stat(spot.name, dir_fd=folder, follow_symlinks=False)) != spot.identity:
        raise changed(spot.shown)


@contextmanager
def _made(anchor: int, spot: Spot) -> Generator[int]:
    """The folder for a new file: the missing ones are made, each inside the descriptor of the one before."""
    current = os.dup(anchor)
    try:
        for name in spot.parts[len(spot.parts) - spot.missing : -1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=current)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            following = os.open(name, flags, dir_fd=current)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


@contextmanager
def _unnamed(folder: int, mode: int) -> Generator[tuple[int, str | None]]:
    """A new file that nobody sees yet: without a name where the file system can, else under a name of its own."""
    name: str | None = None
    try:
        descriptor = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError as error:
        if error.errno not in _NO_UNNAMED:
            raise
        name = _temporary_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, mode, dir_fd=folder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor, name
    except BaseException:
        if name is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


def _publish(descriptor: int, name: str | None, folder: int, final: str) -> None:
    os.fsync(descriptor)
    if name is None:
        link_open_file(descriptor, folder, final)
    else:
        rename_without_replacing(folder, name, folder, final)


def _fill(descriptor: int, chunks: Iterable[bytes]) -> None:
    for chunk in chunks:
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def _temporary_name() -> str:
    return f".toolcrib-{secrets.token_hex(8)}.tmp"
