"""A home to start with: its folders and a config.toml in which every key stands with its default, commented out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from toolcrib.config.config import Config
from toolcrib.config.home import FOLDERS, Home
from toolcrib.config.keys import Key, members
from toolcrib.config.problems import InvalidConfig, Problem
from toolcrib.config.rendering import toml

_OPENING = """\
# Toolcrib's configuration. "#name = value" shows a key with its default: take the # away to change it.
# A key that is not listed here is an error, so that a typing mistake never passes for a setting.
"""


def init_home(home: Path) -> list[Path]:
    """Make what is missing of a home, for its owner alone, and return what was made. Nothing is overwritten."""
    paths = Home.at(home.absolute())
    made = [folder for folder in (paths.root, *(paths.root / name for name in FOLDERS)) if _make_folder(folder)]
    if _write_new(paths.config, starter_text()):
        made.append(paths.config)
    return made


def starter_text() -> str:
    """The starter config.toml."""
    return "\n".join([_OPENING, *_lines(Config, "")])


def _lines(holder: type[object], prefix: str) -> Iterator[str]:
    declared = members(holder)
    for name, member in declared.items():
        if isinstance(member, Key):
            unit = f" [{member.unit}]" if member.unit else ""
            yield f"# {member.doc}{unit}"
            yield from (f"#     {line}" for line in member.example.splitlines())
            yield f"#{name} = {toml(member.kind.plain(member.default))}"
    for name, member in declared.items():
        if not isinstance(member, Key):
            yield f"\n# {member.__doc__}\n[{prefix}{name}]"
            yield from _lines(member, f"{prefix}{name}.")


def _make_folder(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if folder.is_dir():
            return False
        raise InvalidConfig([Problem(str(folder), "", "is in the way: a folder belongs there")]) from None
    except OSError as error:
        raise InvalidConfig([Problem(str(folder), "", f"cannot be made: {error.strerror}")]) from error
    return True


def _write_new(path: Path, text: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise InvalidConfig([Problem(str(path), "", f"cannot be written: {error.strerror}")]) from error
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return True
