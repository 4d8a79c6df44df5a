"""Content that could act, read once from disk: what is hashed is what is used."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

FOLDER = ".toolcrib"
"""The folder of a project whose content needs trust."""
MOST_FILES = 1_000
MOST_BYTES = 16 * 1024 * 1024
MOST_LEVELS = 16
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class TrustError(ConfigError):
    """Content, or the book about it, cannot be read as it must be."""


@frozen
class Content:
    """The bytes of a project's `.toolcrib` folder, or of one file, by path below `path`."""

    path: str
    files: Mapping[str, bytes]

    @property
    def digests(self) -> dict[str, str]:
        return {name: hashlib.sha256(body).hexdigest() for name, body in sorted(self.files.items())}

    def below(self, folder: str) -> dict[str, bytes]:
        """The files that lie directly in a folder, by name."""
        start = len(folder) + 1
        return {name[start:]: body for name, body in self.files.items() if name.rpartition("/")[0] == folder}


def read_content(place: Path) -> Content:
    """All content of a project folder, or one file; links and whatever is not a regular file are refused."""
    path = os.path.realpath(place)
    reading = _Reading(path)
    try:
        if os.path.isdir(path):
            with _opened(path, None) as project:
                if FOLDER in os.listdir(project):
                    reading.folder(FOLDER, project, FOLDER, 0)
        else:
            reading.file(os.path.basename(path), None, path)
    except OSError as error:
        raise TrustError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    return Content(path, reading.files)


class _Reading:
    """Walks by descriptor, so that a folder that is swapped meanwhile leads nowhere else."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: dict[str, bytes] = {}
        self.room = MOST_BYTES

    def folder(self, name: str, above: int, shown: str, level: int) -> None:
        if level > MOST_LEVELS:
            raise self._refused(shown, f"lies more than {MOST_LEVELS} folders deep")
        with _opened(name, above) as here:
            if not stat.S_ISDIR(os.fstat(here).st_mode):
                raise self._refused(shown, "is not a folder")
            for entry in sorted(os.listdir(here)):
                self._entry(entry, here, f"{shown}/{entry}", level)

    def file(self, shown: str, above: int | None, name: str) -> None:
        if len(self.files) >= MOST_FILES:
            raise self._refused(shown, f"is one file too many: content may have {MOST_FILES}")
        with _opened(name, above) as here:
            if not stat.S_ISREG(os.fstat(here).st_mode):
                raise self._refused(shown, "is not a regular file")
            body = b""
            while chunk := os.read(here, 1 << 20):
                self.room -= len(chunk)
                if self.room < 0:
                    raise self._refused(shown, f"makes the content larger than {MOST_BYTES >> 20} MiB")
                body += chunk
        self.files[shown] = body

    def _entry(self, entry: str, here: int, shown: str, level: int) -> None:
        mode = os.lstat(entry, dir_fd=here).st_mode
        if stat.S_ISLNK(mode):
            raise self._refused(shown, "is a link; content that is to be trusted must lie there itself")
        if not shown.isprintable():
            raise self._refused(ascii(shown), "has a name with invisible characters")
        if stat.S_ISDIR(mode):
            self.folder(entry, here, shown, level + 1)
        else:
            self.file(shown, here, entry)

    def _refused(self, shown: str, problem: str) -> TrustError:
        return TrustError(f"{self.path}: {shown} {problem}")


@contextmanager
def _opened(name: str, above: int | None) -> Generator[int]:
    descriptor = os.open(name, _READ, dir_fd=above)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
