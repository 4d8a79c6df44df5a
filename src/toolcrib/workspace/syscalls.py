"""Two system calls that Python does not offer: openat2, and renameat2 without replacing."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08
RENAME_NOREPLACE = 0x01

_OPENAT2 = 437
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
_AT_FDCWD = -100
_TRIES = 8


class Openat2:
    """Opens below a folder in one call that no rename or link can lead out of it."""

    def __init__(self, resolve: int) -> None:
        self._call = _libc().syscall
        self._call.restype = ctypes.c_long
        self._resolve = resolve
        self._hows: dict[int, bytes] = {}

    def __call__(self, folder: int, path: bytes, flags: int) -> int:
        """A descriptor; OSError otherwise. EAGAIN means that a rename was in the way, so it is tried again."""
        if b"\0" in path:
            raise OSError(errno.EINVAL, "a path cannot contain a NUL character")  # C would stop reading there
        how = self._hows.get(flags)
        if how is None:
            how = self._hows[flags] = struct.pack("QQQ", flags | os.O_CLOEXEC, 0, self._resolve)
        for _ in range(_TRIES):
            opened = self._call(_OPENAT2, folder, path, how, 24)
            if opened >= 0:
                return int(opened)
            if (code := ctypes.get_errno()) not in (errno.EAGAIN, errno.EINTR):
                raise OSError(code, os.strerror(code))
        raise OSError(errno.EAGAIN, "the folders kept moving while the path was opened")


def has_openat2() -> bool:
    """Whether this kernel (and whatever filters its calls) has openat2."""
    try:
        descriptor = Openat2(RESOLVE_BENEATH)(_AT_FDCWD, b".", os.O_PATH)
    except OSError:
        return False
    os.close(descriptor)
    return True


def rename_without_replacing(folder: int, name: str, to_folder: int, to_name: str) -> None:
    """Rename unless the new name is taken (FileExistsError)."""
    number = _RENAMEAT2.get(os.uname().machine)
    if number is not None:
        call = _libc().syscall
        arguments = (number, folder, os.fsencode(name), to_folder, os.fsencode(to_name), RENAME_NOREPLACE)
        if call(*arguments) == 0:
            return
        if (code := ctypes.get_errno()) not in (errno.ENOSYS, errno.EINVAL):
            raise OSError(code, os.strerror(code), to_name)
    # A link never replaces either; it only cannot be made for folders, which are refused by the system itself.
    os.link(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder, follow_symlinks=False)
    os.unlink(name, dir_fd=folder)


def link_open_file(descriptor: int, folder: int, name: str) -> None:
    """Give a file that was opened without a name (O_TMPFILE) its name; never replaces."""
    source = f"/proc/self/fd/{descriptor}"
    os.link(source, name, dst_dir_fd=folder, follow_symlinks=True)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
