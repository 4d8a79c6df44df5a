"""The book of trusted content: a file of the home that only its owner can write, changed whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcrib.trust.content import Content, TrustError
from toolcrib.values.noun import frozen

VERSION = 1
MOST_BYTES = 8 * 1024 * 1024


class Untrusted(TrustError):
    """Content is not, or no longer, what its user trusted; none of it is in force."""


@frozen
class Entry:
    """One project or file that is trusted: the hash of each of its files, who said so, and when."""

    path: str
    files: Mapping[str, str]
    by: str
    at: float

    @property
    def date(self) -> str:
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d")


class TrustBook:
    """What is trusted. Every question reads the file anew, so that what is revoked is revoked everywhere at once."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def entries(self) -> tuple[Entry, ...]:
        body = self._read()
        return () if body is None else tuple(self._parsed(body))

    def require(self, content: Content) -> Content:
        """The same content, when every byte of it is trusted; Untrusted says what differs."""
        entry = next((each for each in self.entries() if each.path == content.path), None)
        if entry is None:
            raise Untrusted(
                f"{content.path} is not trusted; look at what it holds, then `toolcrib trust {content.path}`"
            )
        if changes := _changes(entry.files, content.digests):
            told = f"{content.path} is not what was trusted on {entry.date}: {changes}"
            raise Untrusted(f"{told}; look at the changes, then `toolcrib trust {content.path}`")
        return content

    def trust(self, content: Content, by: str, at: float) -> Entry:
        """Trust exactly this content; what was trusted at the same path before is trusted no longer."""
        fresh = Entry(content.path, content.digests, by, at)
        with self._locked():
            kept = [entry for entry in self.entries() if entry.path != content.path]
            self._write([*kept, fresh])
        return fresh

    def revoke(self, path: str) -> Entry | None:
        """Take trust back; the entry that went, or None where there was none."""
        with self._locked():
            entries = self.entries()
            gone = next((entry for entry in entries if entry.path == path), None)
            if gone is not None:
                self._write([entry for entry in entries if entry is not gone])
        return gone

    def _read(self) -> bytes | None:
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._broken(f"cannot be read ({error.strerror})") from error
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
                raise self._broken("is not a regular file of a sane size")
            if found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
                raise self._broken("can be written by others; `chmod 600` it after a look at what it says")
            return opened.read()

    def _parsed(self, body: bytes) -> Iterator[Entry]:
        try:
            book: Any = json.loads(body)
            if book["version"] != VERSION:
                raise self._broken(f"is of version {book['version']!r}, and this program reads {VERSION}")
            for entry in book["trusted"]:
                files = {str(name): str(digest) for name, digest in entry["files"].items()}
                yield Entry(str(entry["path"]), files, str(entry["by"]), float(entry["at"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._broken("is not a book of trust") from error

    def _write(self, entries: list[Entry]) -> None:
        trusted = [{"path": each.path, "files": dict(each.files), "by": each.by, "at": each.at} for each in entries]
        body = json.dumps({"version": VERSION, "trusted": trusted}, indent=1, sort_keys=True) + "\n"
        descriptor, name = tempfile.mkstemp(prefix=".trust-", dir=self.file.parent)
        try:
            with os.fdopen(descriptor, "w") as opened:
                opened.write(body)
                opened.flush()
                os.fsync(descriptor)
            os.replace(name, self.file)
        except BaseException:
            os.unlink(name)
            raise

    @contextmanager
    def _locked(self) -> Generator[None]:
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _broken(self, problem: str) -> TrustError:
        return TrustError(f"{self.file} {problem}; nothing is trusted until that is mended")


def _changes(trusted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """What differs, in words: files that changed, came or went."""
    changed = [name for name in trusted if name in found and found[name] != trusted[name]]
    words = (("changed", changed), ("new", found.keys() - trusted.keys()), ("gone", trusted.keys() - found.keys()))
    return "; ".join(f"{_some(sorted(names))} {word}" for word, names in words if names)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
