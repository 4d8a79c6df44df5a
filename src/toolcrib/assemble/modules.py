"""The modules that definitions of agents name: where each lies, its bytes, and the sandbox its tools may ask for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.assemble.agents import PROJECT_AGENTS, project_content
from toolcrib.assemble.bodies import read_body
from toolcrib.policy.commands import command_target
from toolcrib.sources.module import ModuleProblem, Sandbox
from toolcrib.toolsets.shell.programs import find_command
from toolcrib.toolsets.shell.running import job_of

if TYPE_CHECKING:
    from toolcrib.assemble.agents import Agents
    from toolcrib.assemble.hands import Hands
    from toolcrib.config import Config
    from toolcrib.trust import Content
    from toolcrib.values.process import Ended

MOST_OF_A_MODULE = 1 << 23


@dataclass(slots=True)
class NamedModule:
    """A module, how files of its folder are read, and which tools of it which agents want."""

    path: str
    read: Callable[[str], bytes]
    trusted: bool
    """Whether it is the project's, so that only bytes that are trusted count."""
    wanted: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


def module_files(agents: Agents, settings: Config) -> Iterable[NamedModule]:
    """Every module that a definition names, once. What a project brings is read from what was trusted."""
    found: dict[str, NamedModule] = {}
    for agent, definition in agents.definitions.items():
        theirs = agent in agents.trusted
        for each in definition.toolsets.custom:
            path = os.path.join(os.path.dirname(definition.place), each.module)
            read = partial(trusted_body, agents.content, settings) if theirs else _home_body
            module = found.setdefault(path, NamedModule(path, read, theirs))
            module.wanted[agent] = (*module.wanted.get(agent, ()), *each.tools)
    return found.values()


def trusted_body(content: Content | None, settings: Config, path: str) -> bytes:
    """The bytes of a project's module, out of the content that was trusted; without one, as it is trusted now."""
    if content is None:
        content, why = project_content(settings)
        if content is None:
            raise ModuleProblem(why or f"{path} is not trusted")
    name = PROJECT_AGENTS + path.removeprefix(f"{settings.project}/{PROJECT_AGENTS}")
    body = content.files.get(name)
    if body is None:
        near = sorted(each for each in content.files if each.endswith(".py"))
        raise ModuleProblem(f"there is no file {path}; the project has {', '.join(near) or 'no Python file there'}")
    return body


def _home_body(path: str) -> bytes:
    try:
        return read_body(path, MOST_OF_A_MODULE)
    except FileNotFoundError:
        folder = Path(path).parent
        there = sorted(each.name for each in folder.glob("*.py")) if folder.is_dir() else []
        hint = f"; there are {', '.join(there[:10])}" if there else ""
        raise ModuleProblem(f"there is no file {path}{hint}") from None
    except OSError as error:
        raise ModuleProblem(f"{path} cannot be read: {error.strerror}") from error


def sandbox_of(hands: Hands) -> Sandbox:
    """The sandbox of the run that is being served."""
    return Sandbox(hands.current.get(), partial(_run, hands))


async def _run(hands: Hands, argv: Sequence[str], stdin: bytes, timeout: float | None) -> Ended:
    services = hands.commands()
    words = tuple(argv)
    command = find_command(services, words, services.ground().root)
    limit = services.timeout if timeout is None else min(timeout, services.timeout)
    job = job_of(services, command_target(shlex.join(words), (command,)), limit, stdin)
    return await hands.processes.run(job)
