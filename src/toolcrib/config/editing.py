"""One switch of a config.toml changed, and nothing else in it: comments, order and spelling stay as they are."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from toolcrib.config.lines import Statement, positions, statements
from toolcrib.config.problems import InvalidConfig, KeyPath, Problem, show_key
from toolcrib.config.rendering import toml, toml_key
from toolcrib.values.refusal import ConfigError

TABLE = "tools_config"
_BOOLEAN = re.compile(r"[ \t]*(true|false)")


def set_switch(path: Path, agent: str, name: str, value: bool, check: Callable[[], None]) -> int:
    """Write one switch into the file, whole or not at all, and return its line.

    `check` looks at the configuration as it then is; when it raises, the file is put back as it was.
    """
    path = Path(os.path.realpath(path))
    with _alone(path.parent):
        before = path.read_bytes() if path.exists() else b""
        text = before.decode("utf-8")
        after = with_switch(text.replace("\r\n", "\n"), agent, name, value)
        line, _ = positions(after.removeprefix("\ufeff"))[TABLE, agent, name]
        if "\r\n" in text:
            after = after.replace("\n", "\r\n")
        if after == text:
            return line
        _replace(path, after.encode())
        try:
            check()
        except BaseException:
            _replace(path, before) if before else path.unlink()
            raise
        return line


def with_switch(text: str, agent: str, name: str, value: bool) -> str:
    """The document with `tools_config.<agent>.<name>` set, everything else as it was."""
    import tomllib

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(mark)
    edited = _edited(body, (TABLE, agent, name), value)
    wanted = _with(tomllib.loads(body), (TABLE, agent, name), value)
    try:
        right = tomllib.loads(edited) == wanted
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        key = show_key((TABLE, agent, name))
        raise ConfigError(f"{key} cannot be set in place, the way the file is written; set it by hand")
    return mark + edited


def _edited(text: str, path: KeyPath, value: bool) -> str:
    found = list(statements(text))
    for statement in found:
        if statement.is_header or statement.path != path[: len(statement.path)]:
            continue
        if statement.path == path:
            return _replaced(text, statement, value)
        return _inline(text, statement, path, value)
    siblings = [each for each in found if not each.is_header and each.path[:-1] == path[:-1]]
    if siblings:
        return _after(text, siblings[-1], path, value)
    headers = [each for each in found if each.is_header and each.path == path[:-1]]
    if headers:
        return _inserted(text, headers[0].end, _entry(path[-1:], value))
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{_dotted(path[:-1])}]\n{_entry(path[-1:], value)}\n"


def _replaced(text: str, statement: Statement, value: bool) -> str:
    held = _BOOLEAN.match(text, statement.value)
    if held is None:
        return text
    return text[: held.start(1)] + toml(value) + text[held.end(1) :]


def _inline(text: str, statement: Statement, path: KeyPath, value: bool) -> str:
    """An inline table holds no comments, so that it can be written anew as a whole."""
    import tomllib

    held = tomllib.loads(f"held = {text[statement.value : statement.end].strip()}")["held"]
    if not isinstance(held, dict):
        return text
    fresh = _with(cast("dict[str, Any]", held), path[len(statement.path) :], value)
    span = text[statement.value : statement.end]
    begin = statement.value + len(span) - len(span.lstrip())
    end = begin + _table_length(text[begin : statement.end])
    return text[:begin] + toml(fresh) + text[end:]


def _table_length(span: str) -> int:
    """How long the inline table is at the beginning of a text that may end in a comment."""
    import tomllib

    for found in re.finditer(r"\}", span):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads(f"held = {span[: found.end()]}")
            return found.end()
    return len(span)


def _after(text: str, sibling: Statement, path: KeyPath, value: bool) -> str:
    """A line of its own behind the last switch of the same table, written the same way."""
    begin = text.rfind("\n", 0, sibling.begin) + 1
    indent = text[begin : sibling.begin]
    return _inserted(text, sibling.end, indent + _entry(path[len(sibling.table) :], value))


def _inserted(text: str, position: int, line: str) -> str:
    end = text.find("\n", position)
    if end < 0:
        return f"{text}\n{line}\n"
    return f"{text[: end + 1]}{line}\n{text[end + 1 :]}"


def _entry(path: KeyPath, value: bool) -> str:
    return f"{_dotted(path)} = {toml(value)}"


def _dotted(path: KeyPath) -> str:
    return ".".join(toml_key(str(part)) for part in path)


def _with(held: Mapping[str, Any], path: KeyPath, value: bool) -> dict[str, Any]:
    first, *rest = path
    inner = held.get(str(first), {})
    if not rest:
        return {**held, str(first): value}
    table = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else dict[str, Any]()
    return {**held, str(first): _with(table, tuple(rest), value)}


def rewrite(path: Path, change: Callable[[str | None], str]) -> None:
    """Put what `change` makes of a file's text in its place, at once and whole; None stands for a file not there."""
    with _alone(path.parent):
        _replace(path, change(path.read_text(encoding="utf-8") if path.is_file() else None).encode())


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Only one of us edits at a time; a folder that is not there is made for its owner alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidConfig([Problem(str(folder), "", f"cannot be used: {error.strerror}")]) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, body: bytes) -> None:
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
                file.flush()
                os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InvalidConfig([Problem(str(path), "", f"cannot be written: {error.strerror}")]) from error
