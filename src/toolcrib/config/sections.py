"""Every key there is. This is the one place that says what a key is; the reference and the starter file follow it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolcrib.config.keys import key
from toolcrib.config.kinds import choice, file_path, flag, in_order, integer, items, optional, table, text
from toolcrib.config.narrowing import by_entry, fewer, lower, more, never, stricter, together
from toolcrib.config.records import (
    COMMAND_RULE,
    MOUNT,
    STRICTER_COMMANDS,
    STRICTER_RULES,
    TOOL_PATTERN,
    MountEntry,
)
from toolcrib.config.rules import RULE
from toolcrib.policy.modes import PLAN_TOOLS
from toolcrib.policy.rules import Rule
from toolcrib.values.contract import Enforcement
from toolcrib.values.durability import Durability
from toolcrib.values.noun import frozen
from toolcrib.values.schema import Profile

if TYPE_CHECKING:
    from toolcrib.policy.commands import CommandRule

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
KIB, MIB, GIB = 1024, 1024**2, 1024**3

NAME = text("a name of letters, digits, '_', '-' and '.'", r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
VARIABLE = text("the name of an environment variable", r"[A-Za-z_][A-Za-z0-9_]{0,199}")
NAME_PATTERN = text(
    "a name or the end of a path, such as 'secrets' or 'config/*.json'", r"(?![/~])(?!.*\.\.)[^\x00-\x1f]{1,200}"
)
PACKAGE = text("an entry point, or package:name", r"[A-Za-z_][A-Za-z0-9_.-]{0,199}(:[A-Za-z_][A-Za-z0-9_]{0,199})?")
EXPRESSION = text("a regular expression (RE2 syntax)", r".+")


GLOB = text("a glob without a leading '/' or '..'", r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\x00-\x1f\x7f]{1,500}")
WORD = text("a word without control characters", r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]+")
PUSH_TO = r"|(?:https|ssh)://[A-Za-z0-9][^\s\x00-\x1f]*|[A-Za-z0-9_.]+@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s\x00-\x1f-][^\s\x00-\x1f]*|/[^\x00-\x1f]+"


class SandboxMode(StrEnum):
    """Whether commands run in a sandbox of the operating system: never, where there is one, or not without."""

    OFF = "off"
    AUTO = "auto"
    REQUIRE = "require"


@frozen(kw_only=True)
class Tools:
    """Time, output, environment and write access of tools."""

    default_timeout_ms: int = key(
        integer(1, DAY_MS),
        2 * MINUTE_MS,
        lower(),
        "Time limit of a tool that names none.",
        "ms",
        at_most="max_timeout_ms",
    )
    max_timeout_ms: int = key(
        integer(1, DAY_MS), 10 * MINUTE_MS, lower(), "Longest time limit that a tool, a call or a model can have.", "ms"
    )
    allowed_write_roots: tuple[Path, ...] = key(
        items(file_path()), (), fewer(), "Folders outside the workspace that tools may write to without leaving bounds."
    )
    allow_tmp_writes: bool = key(
        flag(), False, stricter((True, False)), "Whether the folder for temporary files counts as a write root."
    )
    sensitive_paths: tuple[str, ...] = key(
        items(NAME_PATTERN),
        (),
        more(),
        "Further names that hold secrets, at any depth: reading them asks, and searches leave them out.",
    )
    protected_paths: tuple[str, ...] = key(
        items(NAME_PATTERN), (), more(), "Further names that steer programs, at any depth: changing them always asks."
    )
    env_allowlist: tuple[str, ...] = key(
        items(VARIABLE), ("PATH", "HOME", "TMPDIR", "LANG"), fewer(), "Environment variables that commands get to see."
    )
    packages: tuple[str, ...] = key(
        items(PACKAGE),
        (),
        fewer(),
        "Installed packages whose tools every agent has: entry points in the group toolcrib.tools, or package:name.",
    )
    watch: bool = key(
        flag(),
        False,
        stricter((True, False)),
        "Whether an open crib follows changes of declared commands and of the modules of agents.",
    )
    sandbox: SandboxMode = key(
        choice(SandboxMode),
        SandboxMode.AUTO,
        stricter(tuple(SandboxMode)),
        "Whether commands run in a sandbox: off, auto (where the machine has one) or require.",
    )
    sandbox_read_roots: tuple[Path, ...] = key(
        items(file_path()), (), fewer(), "Further folders that commands in the sandbox may read."
    )
    stdout_limit_bytes: int = key(
        integer(KIB, GIB),
        MIB,
        lower(),
        "Standard output kept of one command; the rest is dropped and counted.",
        "bytes",
    )
    stderr_limit_bytes: int = key(
        integer(KIB, GIB),
        256 * KIB,
        lower(),
        "Standard error kept of one command; the rest is dropped and counted.",
        "bytes",
    )
    schema_profile: Profile = key(
        choice(Profile), Profile.FULL, stricter(tuple(Profile)), "How much of JSON Schema a tool's contract may use."
    )
    result_limit_chars: int = key(
        integer(200, 10_000_000),
        10_000,
        lower(),
        "Longest result a model gets; the whole text goes to an artifact.",
        "characters",
    )
    max_artifact_bytes: int = key(
        integer(KIB, 64 * GIB),
        64 * MIB,
        lower(),
        "Largest artifact; what is longer is cut and marked incomplete.",
        "bytes",
    )
    max_threads: int = key(
        integer(1, 1_024),
        32,
        lower(),
        "Threads for handlers that are not async; when all are taken a call is refused as busy.",
        "threads",
    )


@frozen(kw_only=True)
class PolicySettings:
    """Who decides, and the rules. The strictest rule that matches wins, whoever wrote it."""

    default_ask_timeout_ms: int = key(
        integer(1, DAY_MS), 2 * MINUTE_MS, lower(), "How long a person has to answer before the call is denied.", "ms"
    )
    rules: tuple[Rule, ...] = key(
        items(RULE),
        (),
        STRICTER_RULES,
        "Rules about tools and what they touch; every layer adds its own.",
        combine=together,
        example='[[policy.rules]]\ntool = "notes.*"\neffect = "write"\nverdict = "allow"\nbecause = "my own notes"',
    )
    commands: tuple[CommandRule, ...] = key(
        items(COMMAND_RULE),
        (),
        STRICTER_COMMANDS,
        "Rules for commands by their words; every layer adds its own.",
        combine=together,
        example='[[policy.commands]]\npattern = "git status"\nverdict = "allow"',
    )


@frozen(kw_only=True)
class Modes:
    """The modes that runs can be in."""

    plan_tools: tuple[str, ...] = key(
        items(TOOL_PATTERN),
        PLAN_TOOLS,
        fewer(),
        "Tools that plan mode offers, as far as they only read; what a user's file lists is added.",
        combine=together,
    )
    allow_bypass: bool = key(
        flag(), False, stricter((True, False)), "Whether a run may be opened in the mode bypass, which asks nothing."
    )


@frozen(kw_only=True)
class WorkspaceSettings:
    """The ground that file tools and commands work on, besides the project (`/workspace`) and `/scratch`."""

    mounts: Mapping[str, MountEntry] = key(
        table(NAME, MOUNT),
        MappingProxyType({}),
        never(),
        "Further folders, each under a name of its own: `data` is mounted as `/data`.",
        combine=by_entry,
        example='[workspace.mounts.data]\npath = "/srv/data"\naccess = "read"',
    )


@frozen(kw_only=True)
class SelfEvolution:
    """The repository that an agent with self_evolution_toolkit works on, and what it may do there."""

    repository: Path | None = key(
        optional(file_path()), None, never(), "Main folder of a clone; nothing can be done without one."
    )
    allowed_paths: tuple[str, ...] = key(
        items(GLOB), (), never(), "Globs of the files that may be changed, seen from its top; none = nothing may be."
    )
    checks: tuple[tuple[str, ...], ...] = key(
        items(in_order(WORD)),
        (),
        never(),
        "Commands, as arrays of words, that must pass before a commit can be proposed.",
        example='[self_evolution]\nchecks = [["make", "check"], ["make", "test"]]',
    )
    branch_prefix: str = key(
        text("the beginning of a branch name, ending in '/'", r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,60}/){1,4}"),
        "evolve/",
        never(),
        "What the names of its branches begin with.",
    )
    push_to: str = key(
        text("a URL (https, ssh) or the absolute path of a repository", PUSH_TO),
        "",
        never(),
        "Where a person can push what was proposed and approved.",
    )


@frozen(kw_only=True)
class Store:
    """The journal and everything that is kept with it."""

    path: Path = key(file_path(relative="relative to the home"), Path("toolcrib.db"), never(), "The database file.")
    durability: Durability = key(
        choice(Durability),
        Durability.NORMAL,
        stricter(tuple(Durability)),
        "When a record counts as kept: normal survives a crash of the program, full also one of the machine.",
    )
    busy_timeout_ms: int = key(
        integer(1, 10 * MINUTE_MS),
        5_000,
        never(),
        "How long to wait for another process that holds the database.",
        "ms",
    )
    retention_days: int = key(
        integer(1, 36_500, zero="keep"),
        0,
        never(),
        "Age after which payloads are erased; the chain of events stays.",
        "days",
    )
    lease_seconds: int = key(
        integer(1, 3_600), 30, never(), "How long a session stays with a process that no longer answers.", "s"
    )


@frozen(kw_only=True)
class Guard:
    """What happens when a tool is no longer the tool that was approved."""

    enforcement: Enforcement = key(
        choice(Enforcement),
        Enforcement.OBSERVE,
        stricter(tuple(Enforcement)),
        "What a changed contract leads to: nothing, a record, or a refusal.",
    )
    topology: Enforcement = key(
        choice(Enforcement),
        Enforcement.ENFORCE,
        stricter(tuple(Enforcement)),
        "What an agent that nobody approved leads to in a locked scope: nothing, a record, or a refusal.",
    )


@frozen(kw_only=True)
class Redaction:
    """What is taken out of everything that is stored, shown or sent, on top of the shipped rules."""

    values_from_env: tuple[str, ...] = key(
        items(VARIABLE),
        (),
        more(),
        "Environment variables whose values are secret; every layer adds its own.",
        combine=together,
    )
    extra_patterns: tuple[str, ...] = key(
        items(EXPRESSION),
        (),
        more(),
        "Regular expressions whose matches are secret; every layer adds its own.",
        combine=together,
    )


@frozen(kw_only=True)
class Agents:
    """Child agents."""

    child_timeout_ms: int = key(integer(1, DAY_MS), 10 * MINUTE_MS, lower(), "How long a child agent may run.", "ms")
    cancel_timeout_ms: int = key(
        integer(1, DAY_MS),
        MINUTE_MS // 2,
        lower(),
        "How long a cancelled child may take to end before it is abandoned.",
        "ms",
    )
