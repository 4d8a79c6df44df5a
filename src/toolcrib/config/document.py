"""One TOML file, read whole or refused: never a silent default in place of what an operator wrote."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from toolcrib.config.problems import InvalidConfig, KeyPath, Problem
from toolcrib.values.noun import frozen

MAX_BYTES = 1024 * 1024
_ATTEMPTS = 3
_POSITION = r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)"


@frozen
class Document:
    """A parsed file that knows where each key stands."""

    path: Path
    content: Mapping[str, object]
    positions: Mapping[KeyPath, tuple[int, int]]

    def locate(self, key: KeyPath) -> str:
        """`file:line` of a key, or of the nearest table around it."""
        found = self.position(key)
        return str(self.path) if found is None else f"{self.path}:{found[0]}"

    def locate_exactly(self, key: KeyPath) -> str:
        """`file:line:column` of a key, or of the nearest table around it."""
        found = self.position(key)
        return str(self.path) if found is None else f"{self.path}:{found[0]}:{found[1]}"

    def position(self, key: KeyPath) -> tuple[int, int] | None:
        """Line and column of a key, or of the nearest table around it."""
        for length in range(len(key), 0, -1):
            if found := self.positions.get(key[:length]):
                return found
        return None


def read_document(path: Path) -> Document | None:
    """The document in a file; None when there is no such file. Anything else that goes wrong is an error."""
    body = read_bytes(path)
    if body is None:
        return None
    try:
        text = body.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _refused(path, f"is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        raise _refused(path, "is empty: remove it to have the defaults, or write at least a comment into it")
    positions = _positions(path, text)
    return Document(path, _parse(path, text), positions)


def read_bytes(path: Path) -> bytes | None:
    """A whole file that did not change meanwhile; None when there is no such file."""
    for _ in range(_ATTEMPTS):
        try:
            body, settled = _read_once(path)
        except FileNotFoundError:
            if path.is_symlink():
                raise _refused(path, "is a link that leads nowhere") from None
            return None
        except OSError as error:
            raise _refused(path, f"cannot be read: {error.strerror or error}") from error
        if len(body) > MAX_BYTES:
            raise _refused(path, f"is larger than {MAX_BYTES // 1024} KiB")
        if settled:
            return body
    raise _refused(path, "kept changing while it was read")


def _read_once(path: Path) -> tuple[bytes, bool]:
    """The bytes, and whether the file stayed the same meanwhile. Without O_NONBLOCK a named pipe would hang here."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise _refused(path, "is not a regular file")
        body = b""
        while len(body) <= MAX_BYTES and (chunk := os.read(descriptor, MAX_BYTES + 1 - len(body))):
            body += chunk
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return body, (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


def _positions(path: Path, text: str) -> Mapping[KeyPath, tuple[int, int]]:
    from toolcrib.config.lines import MAX_PARTS, KeyTooLong, positions  # as tomllib: only where there is a file

    try:
        return positions(text)
    except KeyTooLong as error:
        message = f"has a key of more than {MAX_PARTS} parts"
        raise InvalidConfig([Problem(f"{path}:{error.line}", "", message)]) from None


def _parse(path: Path, text: str) -> Mapping[str, object]:
    import tomllib  # 10 ms that only a home with a file has to pay

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _refused(path, "is nested too deeply") from None
    except ValueError as error:
        position, message = _position(str(error), text)
        raise InvalidConfig([Problem(f"{path}{position}", "", f"not TOML: {message}")]) from None


def _position(message: str, text: str) -> tuple[str, str]:
    """`:line:column` and the rest of a tomllib message."""
    found = re.fullmatch(_POSITION, message, re.DOTALL)
    if found is None:
        return "", message
    if found[2]:
        return f":{found[2]}:{found[3]}", found[1]
    lines = text.rstrip("\n").split("\n")
    return f":{len(lines)}:{len(lines[-1]) + 1}", found[1]


def _refused(path: Path, message: str) -> InvalidConfig:
    return InvalidConfig([Problem(str(path), "", message)])
