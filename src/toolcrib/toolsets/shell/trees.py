"""What a program comes to that reads all below a folder, as far as its flags and the project's ignore files say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from toolcrib.policy.commands import Descent, Dots, Links

IGNORE_FILES = (".gitignore", ".ignore", ".rgignore")
MAX_IGNORE_BYTES = 100_000
MAX_BRACES = 4
MAX_PATTERNS = 50
_BRACES = re.compile(r"\{([^{}]*)\}")


def walk(top: str, descent: Descent, stores: frozenset[str]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Folder by folder: how many names are in it, and those that a program would read or enter.

    Each comes with the path that it leads to when links are followed.
    """
    follows, seen = descent.links is Links.FOLLOWED, {top}
    named = _brought_back(_above(top)) if descent.dots is Dots.PASSED else ()
    for path, folders, files in os.walk(top, followlinks=follows):
        size = len(folders) + len(files)
        if descent.dots is Dots.PASSED:
            named += _brought_back([path])
        folders[:] = [name for name in folders if name not in stores and not _is_passed(name, descent, named)]
        read = [name for name in files if _reads(name, descent, named)]
        met = [os.path.join(path, name) for name in (*folders, *read)]
        yield size, [(each, os.path.realpath(each) if follows else each) for each in met]
        if follows:
            folders[:] = [name for name in folders if _is_new(os.path.join(path, name), seen)]


def could_name(pattern: str, name: str) -> bool:
    """Whether a pattern may stand for a name; where that is not plain to see, it may."""
    last, name = pattern.rstrip("/").rsplit("/", 1)[-1].casefold(), name.casefold()
    if last.count("{") > MAX_BRACES:
        return True
    found = _BRACES.search(last)
    if found is None:
        return "\\" in last or "{" in last or fnmatchcase(name, last)
    options = found[1].split(",")
    return any(could_name(last[: found.start()] + option + last[found.end() :], name) for option in options)


def _reads(name: str, descent: Descent, named: tuple[str, ...]) -> bool:
    if 0 < len(descent.only) <= MAX_PATTERNS:
        return any(could_name(pattern, name) for pattern in descent.only)
    return not _is_passed(name, descent, named)


def _is_passed(name: str, descent: Descent, named: tuple[str, ...]) -> bool:
    """Whether a hidden name is passed over; an ignore file can bring it back with a line that begins with `!`."""
    if descent.dots is Dots.SHOWN or not name.startswith("."):
        return False
    return not any(could_name(pattern, name) for pattern in named)


def _above(top: str) -> list[str]:
    folders: list[str] = []
    while (parent := os.path.dirname(top)) != top:
        folders.append(parent)
        top = parent
    return folders


def _brought_back(folders: list[str]) -> tuple[str, ...]:
    """The patterns that ignore files in these folders take out of what is ignored or hidden."""
    found: list[str] = []
    for folder in folders:
        for name in IGNORE_FILES:
            found += [line[1:].strip() for line in _lines(os.path.join(folder, name)) if line.startswith("!")]
    return tuple(found) if len(found) <= MAX_PATTERNS else ("*",)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_IGNORE_BYTES).splitlines()
    except OSError:
        return []  # no ignore file, or none that anybody can read: nothing is brought back


def _is_new(folder: str, seen: set[str]) -> bool:
    """Whether a folder was not walked yet, under whatever name: links can lead round in a circle."""
    real = os.path.realpath(folder)
    if real in seen:
        return False
    seen.add(real)
    return True
