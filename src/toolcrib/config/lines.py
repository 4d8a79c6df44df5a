"""On which line and column each key of a TOML document stands. tomllib does not tell, and an error message should."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from toolcrib.config.problems import KeyPath

MAX_PARTS = 16
Position = tuple[int, int]
"""Line and column, both from 1."""
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_STATEMENT = re.compile(
    r"[ \t\n]*(?:(?P<comment>\#[^\n]*)"
    rf"|(?P<header>\[\[?)[ \t]*(?P<table>{_DOTTED})[ \t]*\]\]?"
    rf"|(?P<key>{_DOTTED})[ \t]*=)"
)
_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[{]|[\]}]|\n|[^"'#\[\]{}\n]+''',
    re.DOTALL,
)
_PART = re.compile(_KEY)


class KeyTooLong(Exception):
    """A key has very many dotted parts; tomllib would need hours for one that fills a file."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class Statement(NamedTuple):
    """A table header, or a key with its value: where it begins, where its value does, and where it ends."""

    path: KeyPath
    table: KeyPath
    begin: int
    value: int
    end: int

    @property
    def is_header(self) -> bool:
        return self.value == self.end


def positions(text: str) -> dict[KeyPath, Position]:
    """Where every table header and every key that begins a statement stands, up to the first that is not TOML."""
    found: dict[KeyPath, Position] = {}
    line, counted = 1, 0
    for statement in statements(text):
        line, counted = line + text.count("\n", counted, statement.begin), statement.begin
        if len(statement.path) - len(statement.table) > MAX_PARTS:
            raise KeyTooLong(line)
        here = (line, statement.begin - text.rfind("\n", 0, statement.begin))
        _note(found, statement.path, len(statement.table), here)
    return found


def statements(text: str) -> Iterator[Statement]:
    """Every table header and every key with its value, up to the first statement that is not TOML."""
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    position = 0
    while statement := _STATEMENT.match(text, position):
        begin = statement.start(statement.lastgroup or 0)
        position = statement.end()
        name = _parts(statement["table"] or statement["key"] or "")
        if statement["header"]:
            table = _entered(name, statement["header"], arrays) if len(name) <= MAX_PARTS else name
            yield Statement(table, (), statement.start("header"), position, position)
        elif statement["key"]:
            value, position = position, _after_value(text, position)
            yield Statement(table + name, table, begin, value, position)


def _entered(name: KeyPath, bracket: str, arrays: dict[KeyPath, int]) -> KeyPath:
    """The full path of a header: arrays of tables on the way stand for their latest entry."""
    path: KeyPath = ()
    for part in name[:-1]:
        path = (*path, part)
        if path in arrays:
            path = (*path, arrays[path])
    path = (*path, name[-1])
    if bracket == "[[":
        arrays[path] = arrays.get(path, -1) + 1
        return (*path, arrays[path])
    return path


def _note(found: dict[KeyPath, Position], path: KeyPath, known: int, here: Position) -> None:
    for length in range(known + 1, len(path) + 1):
        found.setdefault(path[:length], here)


def _parts(dotted: str) -> KeyPath:
    return tuple(_plain(part) for part in _PART.findall(dotted))


def _plain(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    if "\\" not in part:
        return part[1:-1]
    import tomllib

    return str(tomllib.loads(f"key = {part}")["key"])


def _after_value(text: str, position: int) -> int:
    """The position behind a value: the end of its line, outside of every string, array and inline table."""
    depth = 0
    while token := _TOKEN.match(text, position):
        if token[0] == "\n" and depth == 0:
            return position
        depth += (token[0] in "[{") - (token[0] in "]}")
        position = token.end()
    return position
