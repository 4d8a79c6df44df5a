"""Files of rules: where they lie, whose they are, and what becomes of one that cannot be read.

A file that is broken is not left out: whatever it could have governed is denied until it is mended, and the denial
says where it is broken.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.config.home import user_home
from toolcrib.config.problems import At, Invalid, InvalidConfig, Level, Problem, not_known, show_key
from toolcrib.policy.rules import Layer, Rule
from toolcrib.policy.verdict import Verdict
from toolcrib.values.noun import frozen
from toolcrib.values.words import sentence

if TYPE_CHECKING:
    from toolcrib.config.config import Config
    from toolcrib.config.document import Document
    from toolcrib.config.kinds import Kind
    from toolcrib.policy.commands import CommandRule

ENDING = ".toml"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_LAYERS = {Level.MANAGED: Layer.MANAGED, Level.USER: Layer.USER, Level.PROJECT: Layer.PROJECT}


@frozen
class Managed:
    """The folder of the machine's own rules. Its files count only when nobody but this owner can write them."""

    folder: Path = Path("/etc/toolcrib/policy.d")
    owner: int = 0


MANAGED = Managed()


@frozen
class PolicyFile:
    """One file of rules as it was found."""

    path: Path
    level: Level
    rules: tuple[Rule, ...] = ()
    commands: tuple[CommandRule, ...] = ()
    problems: tuple[Problem, ...] = ()


@frozen
class Policies:
    """Every rule in force, from files of rules and from the configuration; broken files deny."""

    files: tuple[PolicyFile, ...]
    rules: tuple[Rule, ...]
    commands: tuple[CommandRule, ...]
    state: tuple[object, ...]
    """What the files looked like; when it differs, they have to be read again."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(problem for file in self.files for problem in file.problems)


def read_policies(config: Config, environ: Mapping[str, str], managed: Managed = MANAGED) -> Policies:
    """Read every file of rules there is, and put the rules of the configuration beside them."""
    places = _places(config, managed)
    state = state_of(config, managed)
    files = tuple(_read(path, level, managed, user_home(environ)) for level, path in places)
    denying = (_denying(file) for file in files if file.problems)
    rules = (*denying, *(rule for file in files for rule in file.rules), *config.policy.rules)
    commands = (*(rule for file in files for rule in file.commands), *config.policy.commands)
    return Policies(files, rules, commands, state)


def state_of(config: Config, managed: Managed = MANAGED) -> tuple[object, ...]:
    """What the files of rules look like now, without reading them."""
    return tuple((path, _look(path)) for _, path in _places(config, managed))


def _places(config: Config, managed: Managed) -> list[tuple[Level, Path]]:
    """The files there are, highest authority first; a folder that cannot be listed stands for its files."""
    home, project = config.home.root, config.project
    found = [(Level.MANAGED, path) for path in listed(managed.folder)]
    for level, folder in ((Level.USER, home), *(((Level.PROJECT, project / ".toolcrib"),) if project else ())):
        single = folder / "policy.toml"
        found += [(level, path) for path in ((single,) if _exists(single) else ())]
        found += [(level, path) for path in listed(folder / "policy.d")]
    return found


def listed(folder: Path) -> list[Path]:
    """The TOML files in a folder by name; the folder itself where it cannot be listed."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING) and not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return [folder] if folder.is_file() or folder.is_symlink() else []
    except OSError:
        return [folder]
    return [folder / name for name in names]


def _exists(path: Path) -> bool:
    """Whether something is there that has to be read; what cannot even be looked at counts as there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _look(path: Path) -> object:
    try:
        found = path.stat()
    except OSError as error:
        return error.errno
    return (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode, found.st_uid)


def _read(path: Path, level: Level, managed: Managed, home: Path) -> PolicyFile:
    from toolcrib.config.document import read_document  # as tomllib: only where there is a file

    try:
        if level is Level.MANAGED:
            _check_owner(path, managed)
        document = read_document(path)
    except InvalidConfig as error:
        return PolicyFile(path, level, problems=error.problems)
    if document is None:
        return PolicyFile(path, level)
    return _rules_of(document, level, home)


def _check_owner(path: Path, managed: Managed) -> None:
    """The file, and the folders that lead to it: whoever can write one of them can write the rules."""
    for place in (path, managed.folder, managed.folder.parent):
        try:
            found = place.stat()
        except OSError as error:
            raise InvalidConfig([Problem(str(place), "", f"cannot be looked at: {error.strerror}")]) from error
        if found.st_uid != managed.owner:
            owner = "root" if managed.owner == 0 else f"user {managed.owner}"
            message = f"belongs to user {found.st_uid}, and managed rules must belong to {owner}: chown {owner} {place}"
            raise InvalidConfig([Problem(str(place), "", message)])
        if found.st_mode & OTHERS_MAY_WRITE and not (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX):
            message = f"can be written by others than its owner: chmod go-w {place}"
            raise InvalidConfig([Problem(str(place), "", message)])


def _rules_of(document: Document, level: Level, home: Path) -> PolicyFile:
    problems: list[Problem] = []
    found: dict[str, tuple[Any, ...]] = {}
    at = At((), level, home, document.locate)
    kinds = _kinds()
    for name, value in document.content.items():
        if name not in kinds:
            message = not_known(name, {known: known for known in kinds})
            problems.append(Problem(document.locate_exactly((name,)), show_key((name,)), message))
            continue
        try:
            found[name] = kinds[name].read(value, at.inside(name))
        except Invalid as invalid:
            problems += _told(invalid, document)
    if problems:
        return PolicyFile(document.path, level, problems=tuple(problems))
    return PolicyFile(document.path, level, found.get("rules", ()), found.get("commands", ()))


def _told(invalid: Invalid, document: Document) -> Iterator[Problem]:
    for path, message in sorted(invalid.mistakes, key=lambda mistake: document.position(mistake[0]) or (0, 0)):
        yield Problem(document.locate_exactly(path), show_key(path), message)


def _kinds() -> Mapping[str, Kind[tuple[Any, ...]]]:
    from toolcrib.config.kinds import items
    from toolcrib.config.records import COMMAND_RULE
    from toolcrib.config.rules import RULE

    return {"rules": items(RULE), "commands": items(COMMAND_RULE)}


def _denying(file: PolicyFile) -> Rule:
    """Everything is denied: any call might have been one that the file is about."""
    first = file.problems[0]
    more = f" (and {len(file.problems) - 1} more)" if len(file.problems) > 1 else ""
    what = f"{first.key} {first.message}".strip()
    because = f"the policy file {file.path} is broken, so everything it could be about is denied: {what}{more}"
    told = f"{sentence(because)} Nothing else will work until it is mended; tell the user."
    return Rule(Verdict.DENY, because=because, deny_message=told, layer=_LAYERS[file.level], place=first.place)
