"""What a program comes to that reads all below a folder, as far as its flags and the project's ignore files say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

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
        names = [*folders, *(name for name in files if _reads(name, descent, named))]
        yield size, _led_to(path, names) if follows else [(each, each) for each in (f"{path}/{name}" for name in names)]
        if follows:
            folders[:] = [name for name in folders if _is_new(os.path.join(path, name), seen)]


def could_name(pattern: str, name: str) -> bool:
    """Whether a pattern may stand for a name; where that is not plain to see, it may."""
    alternatives = _alternatives(pattern)
    return alternatives is None or any(fnmatchcase(name.casefold(), each) for each in alternatives)


@lru_cache(maxsize=256)
def _alternatives(pattern: str) -> tuple[str, ...] | None:
    """The last name of a pattern without braces; None when it is not plain what it stands for."""
    folders, _, last = pattern.rstrip("/").rpartition("/")
    if last.count("{") > MAX_BRACES or any(folders.count(one) != folders.count(two) for one, two in ("{}", "[]")):
        return None
    waiting, done = [last.casefold()], list[str]()
    while waiting:
        current = waiting.pop()
        found = _BRACES.search(current)
        if found is None:
            done.append(current)
        else:
            waiting += [current[: found.start()] + option + current[found.end() :] for option in found[1].split(",")]
    return None if any(set(each) & set("\\{}") for each in done) else tuple(done)


def _led_to(folder: str, names: list[str]) -> list[tuple[str, str]]:
    """Each name in a folder, and where it leads."""
    real = os.path.realpath(folder)
    paths = [(f"{folder}/{name}", f"{real}/{name}") for name in names]
    return [(path, os.path.realpath(path) if os.path.islink(path) else there) for path, there in paths]


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
