"""The bytes of files that operators write: never a pipe that hangs or a device that does not end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from toolcrib.values.refusal import ConfigError

MOST_OF_A_DEFINITION = 1 << 20


def definition_body(path: Path) -> bytes:
    """The text of a definition; ConfigError when there is none to be read."""
    try:
        return read_body(path, MOST_OF_A_DEFINITION)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def read_body(path: Path | str, most: int) -> bytes:
    """A file's bytes, one more than it may have, so that a longer one is refused and not cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        return opened.read(most + 1)
