"""Globs over paths: `*` and `?` stay inside a name, `**` crosses folders, `[…]` and `{a,b}` as in a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol, cast

from toolcrib.values.refusal import Reason, Refusal
from toolcrib.workspace.lexical import shown

MAX_GLOB = 1_000
MAX_ALTERNATIVES = 256
_BRACES = re.compile(r"\{([^{}]*)\}")


class Matcher(Protocol):
    def match(self, string: str) -> object: ...


def compile_glob(glob: str) -> Matcher:
    """A matcher of whole relative paths. RE2, because a glob from a model may be written to take forever."""
    re2 = cast("Any", import_module("re2"))  # 30 ms that only globs have to pay
    if len(glob) > MAX_GLOB:
        raise Refusal(Reason.VALIDATION_ERROR, f"the glob has {len(glob)} characters; at most {MAX_GLOB} are possible")
    body = "|".join(path_expression(alternative) for alternative in expand_braces(glob))
    try:
        return re2.compile(rf"(?s)^(?:{body})$")
    except re2.error as error:
        raise Refusal(Reason.VALIDATION_ERROR, f"the glob {shown(glob)} cannot be read: {error}") from error


def expand_braces(glob: str) -> list[str]:
    """Every alternative of a glob with braces, innermost first; a lone brace stands for itself."""
    waiting, done = [glob], list[str]()
    while waiting:
        current = waiting.pop()
        found = next((each for each in _BRACES.finditer(current) if "," in each[1]), None)
        if found is None:
            done.append(current)
        else:
            waiting.extend(current[: found.start()] + option + current[found.end() :] for option in found[1].split(","))
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            message = f"the glob {shown(glob)} stands for more than {MAX_ALTERNATIVES} patterns; write a simpler one"
            raise Refusal(Reason.VALIDATION_ERROR, message)
    return done


def path_expression(glob: str) -> str:
    """A regular expression for one path; `**/` also stands for no folder at all."""
    names = glob.strip("/").split("/")
    pieces: list[str] = []
    for position, name in enumerate(names):
        last = position == len(names) - 1
        if name == "**":
            pieces.append(".*" if last else "(?:.*/)?")
        else:
            pieces.append(name_expression(name) + ("" if last else "/"))
    return "".join(pieces)


def name_expression(glob: str) -> str:
    """A regular expression for one name."""
    return "".join(_pieces(glob))


def _pieces(glob: str) -> Iterator[str]:
    position = 0
    while position < len(glob):
        letter = glob[position]
        position += 1
        if letter == "*":
            while glob[position : position + 1] == "*":
                position += 1
            yield "[^/]*"
        elif letter == "?":
            yield "[^/]"
        elif letter == "[" and (end := _class_end(glob, position)) > 0:
            yield _class(glob[position:end])
            position = end + 1
        else:
            yield re.escape(letter)


def _class_end(glob: str, start: int) -> int:
    """Where the class that begins at `start` ends; -1 when the bracket stands for itself."""
    first = start + 1 if glob[start : start + 1] in ("!", "^") else start
    return glob.find("]", first + 1)


def _class(body: str) -> str:
    negated = body[0] in "!^"
    inside = body[1:] if negated else body
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside)
    return f"[{'^/' if negated else ''}{escaped}]"
