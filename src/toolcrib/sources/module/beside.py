"""The files beside a module that it imports: found by reading what it imports, and read once, with the module.

What a module imports from its own folder is as much the tool's code as the module itself, so it is part of the digest
that a fingerprint holds, wherever the `import` stands: also within a function that runs only later.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import NamedTuple

from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError

MOST_BYTES = 4 * 1024 * 1024
_MOST_PARTS = 500
Read = Callable[[str], bytes]
"""The bytes of a file; ModuleProblem when it is not there, or not to be trusted."""


class ModuleProblem(ConfigError):
    """A module or package cannot give the tools that a definition names; the message says where and why."""


class Part(NamedTuple):
    """A file beside a module; `package` is what names relative to it begin with."""

    path: str
    body: bytes
    package: str


@frozen
class ModuleFile:
    """The bytes of a module, the path that they were read from, and what it imports from beside it, by dotted name."""

    path: str
    body: bytes
    beside: dict[str, Part] = field(default_factory=dict[str, Part])

    @property
    def digest(self) -> str:
        own = hashlib.sha256(self.body)
        for name, part in sorted(self.beside.items()):
            own.update(b"\0" + name.encode() + b"\0" + hashlib.sha256(part.body).digest())
        return own.hexdigest()

    @property
    def paths(self) -> frozenset[str]:
        return frozenset({self.path, *(part.path for part in self.beside.values())})


def read_module(path: str, read: Read) -> ModuleFile:
    """A module, and every file of its folder that it imports, directly or through others."""
    body = read(path)
    found: dict[str, Part] = {}
    waiting = [Part(path, body, "")]
    while waiting:
        for name in _imported(waiting.pop()):
            for fresh in _parts(os.path.dirname(path), name, found, read):
                waiting.append(fresh)
                if len(found) > _MOST_PARTS:
                    raise ModuleProblem(f"{path} imports more than {_MOST_PARTS} files of its folder")
    return ModuleFile(path, body, found)


def _parts(folder: str, name: str, found: dict[str, Part], read: Read) -> Iterator[Part]:
    """The files of a dotted name that were not found yet: of each of its packages, and its own."""
    words = name.split(".")
    for count in range(1, len(words) + 1):
        dotted = ".".join(words[:count])
        if dotted in found:
            continue
        part = _part(folder, dotted, read)
        if part is None:
            return
        found[dotted] = part
        yield part


def _part(folder: str, dotted: str, read: Read) -> Part | None:
    stem = os.path.join(folder, *dotted.split("."))
    for path, package in ((os.path.join(stem, "__init__.py"), dotted), (f"{stem}.py", dotted.rpartition(".")[0])):
        try:
            return Part(path, read(path), package)
        except ModuleProblem:
            continue  # most names are those of installed modules
    return None


def _imported(part: Part) -> Iterator[str]:
    """Every dotted name that a file imports, counted from the folder of the module."""
    if len(part.body) > MOST_BYTES:
        raise ModuleProblem(f"{part.path} is larger than {MOST_BYTES >> 20} MiB")
    try:
        tree = ast.parse(part.body)
    except (SyntaxError, ValueError):
        return  # whoever runs it says so, with the line
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = full_name(node.module or "", part.package, node.level)
            if base is not None:
                yield from (name for each in node.names if (name := f"{base}.{each.name}".strip(".")))


def full_name(name: str, package: str, level: int) -> str | None:
    """A name as written in an import, counted from the folder of the module; None when it is above that folder."""
    if level == 0:
        return name
    words = package.split(".") if package else []
    if level - 1 > len(words):
        return None
    return ".".join([*words[: len(words) - level + 1], *([name] if name else [])])
