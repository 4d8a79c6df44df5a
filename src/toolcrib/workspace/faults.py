"""What the operating system says, in words that a model can act on."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager

from toolcrib.values.refusal import Reason, Refusal

_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}


@contextmanager
def told(shown: str) -> Generator[None]:
    """Turn a failure of the operating system about this path into a Refusal."""
    try:
        yield
    except OSError as error:
        raise refusal_of(error, shown) from error


def refusal_of(error: OSError, shown: str) -> Refusal:
    """The code and the way out for one failure."""
    code = error.errno
    if code in (errno.ENOENT, errno.ESTALE):
        return Refusal(Reason.FILE_NOT_FOUND, f"{shown} does not exist any more; look again at what is there")
    if code in (errno.EACCES, errno.EPERM):
        message = f"the operating system does not let this user touch {shown}; choose another path or ask the user"
        return Refusal(Reason.PERMISSION_DENIED, message, {"path": shown, "by": "operating system"})
    if code == errno.EXDEV:
        return Refusal(Reason.PATH_CONFLICT, f"{shown} is on another file system; write a copy and delete the original")
    if code == errno.EEXIST:
        return Refusal(Reason.PATH_CONFLICT, f"{shown} exists already")
    if code == errno.ENOTEMPTY:
        return Refusal(Reason.PATH_CONFLICT, f"{shown} is a folder that is not empty")
    if code == errno.EISDIR:
        return Refusal(Reason.VALIDATION_ERROR, f"{shown} is a folder, not a file")
    if code in (errno.ELOOP, errno.ENOTDIR):
        return Refusal(Reason.PATH_OUTSIDE_ROOT, f"on the way to {shown} stands something that is not a folder")
    if code == errno.ENAMETOOLONG:
        return Refusal(Reason.VALIDATION_ERROR, f"the path {shown} is longer than the operating system allows")
    if code == errno.EROFS:
        return Refusal(Reason.WRITE_OUTSIDE_ALLOWED_ROOTS, f"{shown} is on a read-only file system")
    why = _FULL.get(code or 0) or error.strerror or type(error).__name__
    return Refusal(Reason.STORAGE_ERROR, f"{shown}: {why}; nothing was changed", {"path": shown})


def changed(shown: str) -> Refusal:
    """What stands at a path is not what was declared when permission was decided."""
    message = f"{shown} was replaced after the call was checked; nothing was done, call again"
    return Refusal(Reason.CONFLICT, message, {"path": shown})


def led_out(shown: str, where: str | None) -> Refusal:
    """A link leads out of the mount that the path was given in."""
    to = f" to {where}" if where else ""
    message = f"{shown} leads out of its root through a link{to}; give the path that you mean itself"
    return Refusal(Reason.PATH_OUTSIDE_ROOT, message, {"path": shown})
