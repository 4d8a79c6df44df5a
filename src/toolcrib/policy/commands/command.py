"""A command as rules see it: its words, the file that its first word stands for, and where it runs."""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from functools import lru_cache

from toolcrib.values.noun import frozen
from toolcrib.values.target import Target

_VERSIONED = re.compile(r"(python|pypy|perl|ruby|lua|php|node|nodejs|tclsh|guile|gcc|clang|java)[0-9][0-9.]*")
SHELLS = frozenset(
    {"sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "rbash", "pwsh", "powershell", "nu"}
    | {"elvish", "xonsh", "busybox", "toybox"}
)
INTERPRETERS = frozenset(
    {"python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "irb", "perl", "php", "lua", "luajit", "tclsh", "wish"}
    | {"guile", "racket", "julia", "r", "rscript", "java", "jshell", "groovy", "scala", "kotlin", "swift", "ghci"}
    | {"runghc", "ocaml", "erl", "elixir", "iex", "osascript", "awk", "gawk", "mawk", "nawk", "expect", "gdb", "lldb"}
    | {"vi", "vim", "nvim", "view", "ex", "ed", "emacs", "nano", "m4", "bc", "dc", "sqlite3", "psql", "mysql", "tsx"}
    | {"ts-node", "npx", "uvx", "pipx", "uv", "poetry", "make", "gmake", "just", "ninja", "cmake", "ant", "mvn"}
    | {"gradle", "rake", "docker", "podman", "kubectl", "ssh", "eval", "source"}
)
WRAPPERS = frozenset(
    {"sudo", "doas", "su", "runuser", "pkexec", "env", "nohup", "nice", "ionice", "time", "timeout", "stdbuf", "setsid"}
    | {"command", "exec", "builtin", "chroot", "unshare", "nsenter", "strace", "ltrace", "taskset", "chrt", "flock"}
    | {"xargs", "parallel", "watch", "script", "caffeinate", "systemd-run", "xvfb-run", "fakeroot", "proxychains"}
    | {"proxychains4", "torsocks", "prlimit", "setarch", "linux32", "linux64", "i386", "x86_64", "valgrind", "perf"}
    | {"rlwrap", "unbuffer", "dbus-run-session", "chronic", "ifne", "entr", "nsjail", "bwrap", "firejail", "setpriv"}
    | {"capsh", "start-stop-daemon", "tini", "dumb-init", "gosu", "catchsegv", "numactl", "cpulimit", "busybox"}
    | {"toybox", "npx", "uvx", "pipx", "ssh", "eval"}
)
_TAKES_NO_INPUT = frozenset(
    {"make", "gmake", "just", "ninja", "cmake", "ant", "mvn", "gradle", "rake", "npx", "uvx", "pipx", "uv", "poetry"}
    | {"docker", "podman", "kubectl"}
)
_MANY_IN_ONE = frozenset({"busybox", "toybox", "coreutils"})
NEVER = frozenset({"toolcrib"})
"""Programs that no rule and no session answer covers: a command must not approve commands."""


class Whence(StrEnum):
    """Where the file of a program lies."""

    SYSTEM = "system"
    WORKSPACE = "workspace"
    NOWHERE = "nowhere"
    SHELL = "shell"
    """In no file that matters: the shell does it itself, and it changes nothing outside that shell."""


@frozen
class Command:
    """One command. `executable` is the file its first word stands for, `usual` what the bare name finds on the search
    path, `real` the file behind links; `globs` are positions of words that a shell would expand."""

    words: tuple[str, ...]
    executable: str | None
    usual: str | None
    real: str | None
    whence: Whence
    cwd: str
    globs: frozenset[int] = frozenset()

    @property
    def program(self) -> str:
        """The name that rules and profiles know it by: no folder, no version."""
        return program_name(self.words[0]) if self.words else ""

    @property
    def text(self) -> str:
        return shlex.join(self.words)


@frozen
class CommandTarget(Target):
    """A whole command line as one target; `trouble` says why it could not be read as plain commands.

    `declared` is the file in which the operator wrote this very command down as one that only reads.
    """

    commands: tuple[Command, ...] = ()
    trouble: str = ""
    declared: str = ""


def runs_others(command: Command) -> bool:
    """Whether a program's business is to run what it is given: shells, interpreters, wrappers."""
    return bool(names_of(command) & (SHELLS | INTERPRETERS | WRAPPERS))


def runs_its_input(command: Command) -> bool:
    """Whether a program, as it is called here, would run what comes on its input: a shell or interpreter alone."""
    return len(command.words) == 1 and bool(names_of(command) & (SHELLS | INTERPRETERS - _TAKES_NO_INPUT))


def is_grantable(target: Target) -> bool:
    """Whether an answer about a command may stand for the session; one declared by text alone is judged by that."""
    if isinstance(target, CommandTarget):
        return not any(runs_others(command) or names_of(command) & NEVER for command in target.commands)
    try:
        words = shlex.split(target.value)
    except ValueError:
        return False
    return bool(words) and program_name(words[0]) not in SHELLS | INTERPRETERS | WRAPPERS | NEVER


def names_of(command: Command) -> frozenset[str]:
    """Every name a program goes by: as written, as found, and behind links."""
    return _names(command.words[0] if command.words else "", command.executable or "", command.real or "")


@lru_cache(maxsize=1_024)
def _names(written: str, found: str, real: str) -> frozenset[str]:
    names = frozenset(program_name(name) for name in (written, found) if name)
    behind = program_name(real)
    return names if behind in _MANY_IN_ONE else names | {behind} - {""}


@lru_cache(maxsize=1_024)
def program_name(word: str) -> str:
    name = word.rstrip("/").rsplit("/", 1)[-1].casefold().removesuffix(".exe")
    versioned = _VERSIONED.fullmatch(name)
    return versioned.group(1) if versioned else name
