"""The commands that the home declares as tools: read from its `tools` folder, run by the hands of the crib."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.assemble.bodies import definition_body
from toolcrib.executors.environment import command_environment
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import ConfigError, ToolcribError

if TYPE_CHECKING:
    from toolcrib.assemble.hands import Hands
    from toolcrib.config import Config
    from toolcrib.sources.declarative import Bounds, CommandDesk, Definition
    from toolcrib.values.tool import Tool

MOST_FILES = 1_000
MINIMAL = ("PATH", "HOME", "TMPDIR")
"""Variables that every declared command sees; more only by `tools.env_allowlist` and by the definition itself."""


@frozen
class Declared:
    """What the folder holds. `aside` says of files that are broken what is wrong with them."""

    definitions: tuple[Definition, ...] = ()
    aside: Mapping[str, str] = field(default_factory=dict[str, str])

    def tools(self, hands: Hands) -> list[Tool]:
        from toolcrib.sources.declarative import declared_tool

        desk = desk_of(hands)
        return [declared_tool(definition, desk) for definition in self.definitions]


def read_declared(settings: Config) -> Declared:
    """Every definition of the home; a broken one is set aside with its reason, and the others work."""
    files = declared_files(settings.home.tools)
    if not files:
        return Declared()
    from toolcrib.sources.declarative import read_definition

    found: dict[str, Definition] = {}
    aside: dict[str, str] = {}
    for file in files:
        try:
            definition = read_definition(definition_body(file), str(file), bounds_of(settings))
            if (other := found.get(definition.name.lower())) is not None:
                raise ConfigError(f"{file}: {other.place} has a tool of that name, {other.name}; rename one")
            found[definition.name.lower()] = definition
        except ToolcribError as error:
            aside[str(file)] = str(error)
    return Declared(tuple(found.values()), aside)


def declared_files(folder: Path) -> list[Path]:
    """The files that would be definitions, by name."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json") and not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    if len(names) > MOST_FILES:
        raise ConfigError(f"{folder} holds more than {MOST_FILES} definitions")
    return [folder / name for name in names]


def bounds_of(settings: Config) -> Bounds:
    from toolcrib.sources.declarative import Bounds

    tools = settings.tools
    return Bounds(
        tools.default_timeout_ms,
        tools.max_timeout_ms,
        tools.stdout_limit_bytes,
        tools.stderr_limit_bytes,
        tools.schema_profile,
        tuple(os.path.realpath(root) for root in _roots(settings)),
    )


def _roots(settings: Config) -> Iterable[Path]:
    """Where a command may have its folder: the project, further mounts, further write roots."""
    mounts = [mount.path for mount in settings.workspace.mounts.values()]
    return (settings.project or Path.cwd(), *mounts, *settings.tools.allowed_write_roots)


def desk_of(hands: Hands) -> CommandDesk:
    """Commands run as those of `code.run_command` do: same search path, same workspace, same sandbox."""
    from toolcrib.sources.declarative import CommandDesk
    from toolcrib.toolsets.shell.targets import argv_targets, line_targets, working_folder

    commands = hands.commands()
    return CommandDesk(
        declare=lambda words, folder: argv_targets(commands, {"argv": list(words), "cwd": folder}),
        declare_line=lambda line, folder: line_targets(commands, {"command": line, "cwd": folder}),
        folder=partial(working_folder, commands),
        environment=partial(_environment, hands.settings),
        confine=commands.confine,
        run=hands.processes.run,
        shell=commands.shell,
    )


def _environment(settings: Config, declared: Iterable[str]) -> Mapping[str, str]:
    return command_environment(os.environ, dict.fromkeys((*MINIMAL, *settings.tools.env_allowlist, *declared)))
