"""On which line each key and entry of a JSON document stands. json does not tell, and an error message should."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from toolcrib.config.problems import KeyPath

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')
Tokens = Iterator[tuple[str, int]]


class Repeated(Exception):
    """A key is written twice in one object: which of the two holds would be a guess."""

    def __init__(self, path: KeyPath, line: int) -> None:
        super().__init__(path, line)
        self.path = path
        self.line = line


def json_line_numbers(text: str) -> dict[KeyPath, int]:
    """The line of every member and entry of a text that is known to be JSON."""
    found: dict[KeyPath, int] = {}
    tokens = _tokens(text)
    for word, line in tokens:
        _value(word, line, (), tokens, found)
    return found


def _tokens(text: str) -> Tokens:
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        line, counted = line + text.count("\n", counted, token.start()), token.start()
        yield token[0], line


def _value(word: str, line: int, path: KeyPath, tokens: Tokens, found: dict[KeyPath, int]) -> None:
    found.setdefault(path, line)
    if word == "{":
        _members(path, tokens, found)
    elif word == "[":
        _entries(path, tokens, found)


def _members(path: KeyPath, tokens: Tokens, found: dict[KeyPath, int]) -> None:
    for word, line in tokens:
        if word == "}":
            return
        if word == ",":
            continue
        member = (*path, str(json.loads(word)))
        if member in found:
            raise Repeated(member, line)
        found[member] = line
        next(tokens)  # the colon
        _value(*next(tokens), member, tokens, found)


def _entries(path: KeyPath, tokens: Tokens, found: dict[KeyPath, int]) -> None:
    index = 0
    for word, line in tokens:
        if word == "]":
            return
        if word == ",":
            index += 1
        else:
            _value(word, line, (*path, index), tokens, found)
