"""The hands of a crib: file and command tools over one workspace per run, as the configuration wants them."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.assemble.kits import mounted_toolsets, switchboard_of
from toolcrib.catalog.registry import stamped
from toolcrib.catalog.toolset import Toolset
from toolcrib.executors.environment import command_environment
from toolcrib.executors.process import ProcessRunner
from toolcrib.executors.sandbox.bounds import Bounds
from toolcrib.executors.sandbox.sandbox import Mode, Sandbox
from toolcrib.ports import Artifact, Artifacts
from toolcrib.toolsets import FileLimits, Services
from toolcrib.toolsets.shell import Background, CommandServices, Ground, run_command_tool
from toolcrib.toolsets.shell.places import HostPlaces
from toolcrib.values.context import ToolContext
from toolcrib.values.identity import Surface
from toolcrib.values.process import Confinement
from toolcrib.values.refusal import ConfigError, StoreError
from toolcrib.values.spec import ToolType
from toolcrib.values.tool import Tool
from toolcrib.workspace import SCRATCH, Access, Boundary, Mount, TemporaryFolder, View, Workspace
from toolcrib.workspace.patterns import PACKAGE_STORES, PathRules

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.redact import Redactor

GROUP = "toolcrib.toolsets"


async def nobody(surface: Surface, name: str, fingerprint: str) -> bool:
    """Where no store is open, nobody approved anything."""
    return False


@dataclass(slots=True)
class Hands:
    """What file and command tools stand on, and what has to be let go at the end."""

    settings: Config
    artifacts: Artifacts
    redactor: Redactor
    processes: ProcessRunner = field(default_factory=ProcessRunner)
    workspaces: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    approved: Callable[[Surface, str, str], Awaitable[bool]] = nobody
    """Whether an operator approved, on a surface, the tool of a name with a fingerprint."""
    now: Callable[[], float] = time.time
    current: ContextVar[Workspace] = field(init=False)
    default: Workspace = field(init=False)
    rules: PathRules = field(init=False)
    background: Background = field(init=False)
    sandbox: Sandbox = field(init=False)

    def __post_init__(self) -> None:
        self.background = Background(self.processes)
        self.sandbox = Sandbox(Mode(self.settings.tools.sandbox.value))
        self.rules = path_rules_of(self.settings)
        self.default = workspace_of(self.settings, self.settings.project or Path.cwd(), None, self.rules)
        self.current = ContextVar("toolcrib_workspace", default=self.default)

    def toolsets(self, names: Iterable[str]) -> list[Toolset]:
        """Toolsets by name, found as modules or entry points."""
        return [self._toolset(name) for name in names]

    def place_for(self, workspace: str | None, run_id: str) -> Callable[[], None]:
        """How a run makes its own workspace the current one, with a scratch folder of its own."""
        scratch = self.settings.home.root / "scratch" / run_id
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = workspace_of(self.settings, Path(workspace or self.default.project.root), scratch, self.rules)
        self.workspaces[run_id] = own
        return partial(_set, self.current, own)

    def place_below(self, parent_run_id: str, run_id: str, mounts: Sequence[Mount] | None) -> Callable[[], None]:
        """How a child makes its workspace the current one: its parent's or less of it, with a scratch folder inside."""
        outer = self.workspaces.get(parent_run_id, self.default)
        kept = [mount for mount in (outer.mounts.values() if mounts is None else mounts) if mount.name != SCRATCH]
        if (above := outer.mounts.get(SCRATCH)) is not None:
            scratch = Path(above.root, run_id)
            scratch.mkdir(mode=0o700, exist_ok=True)
            kept.append(Mount.of(SCRATCH, scratch))
        own = outer.narrowed(kept, outer.reach if mounts is None else View.VIRTUAL)
        self.workspaces[run_id] = own
        return partial(_set, self.current, own)

    async def end_run(self, run_id: str) -> None:
        """What a run started ends with it; its scratch folder goes if nothing was left in it."""
        await self.background.end_run(run_id)
        own = self.workspaces.pop(run_id, None)
        if own is None:
            return
        own.close()
        scratch = Path(own.mounts[SCRATCH].root) if SCRATCH in own.mounts else None
        if scratch is not None and scratch.is_dir() and not any(scratch.iterdir()):
            scratch.rmdir()

    async def close(self) -> None:
        await self.background.close()
        await self.processes.close()
        self.sandbox.close()
        while self.workspaces:
            self.workspaces.popitem()[1].close()
        self.default.close()

    def _toolset(self, name: str) -> Toolset:
        made = _maker(name)(self._services(name))
        if not isinstance(made, Toolset):
            kind = type(made).__name__
            raise ConfigError(f"the toolset {name!r} must be made by a ToolsetBuilder: its function returned {kind}")
        tools = [*made.tools, run_command_tool(self.commands())] if name == "code" else made.tools
        return Toolset(made.name, tuple(stamped(tool, tool_type=ToolType.BUILTIN) for tool in tools), made.guidance)

    def _services(self, name: str) -> object:
        """What a toolset is built from: most from the files of the run, some from more than that."""
        if name == "shell":
            return self.commands()
        if name == "dynamic":
            from toolcrib.assemble.dynamic import dynamic_services  # few cribs have it

            return dynamic_services(self.settings, self)
        if name == "self_evolution":
            from toolcrib.assemble.evolution import evolution_services  # few cribs have it

            return evolution_services(self)
        return self._files()

    def _files(self) -> Services:
        return Services(
            workspace=self.current.get,
            artifacts=self.artifacts,
            holds_secrets=self.holds_secrets,
            files=FileLimits.within(self.settings.tools.result_limit_chars),
        )

    def holds_secrets(self, text: str) -> bool:
        return self.redactor.text(text)[1] > 0

    def commands(self) -> CommandServices:
        tools = self.settings.tools
        return CommandServices(
            processes=self.processes,
            background=self.background,
            ground=self._ground,
            environment=command_environment(os.environ, tools.env_allowlist),
            confine=self._confine,
            keep=self._keep,
            timeout=tools.default_timeout_ms / 1000,
            kept=tools.max_artifact_bytes,
        )

    def _ground(self) -> Ground:
        """Where commands of the current run work: its project, its mounts, and the roots of the configuration."""
        here = self.current.get()
        mounts, rules = here.mounts.values(), here.rules
        further = map(os.path.realpath, map(str, self.settings.tools.allowed_write_roots))
        places = HostPlaces(
            roots=(*(mount.root for mount in mounts if mount.access is Access.WRITE), *further),
            readable=tuple(mount.root for mount in mounts),
            sensitive=rules.is_sensitive,
            protected=rules.is_protected,
            stores=PACKAGE_STORES,
        )
        return Ground(here.project.root, places)

    def _confine(self, executable: str, cwd: str) -> Confinement | None:
        tools, mounts = self.settings.tools, self.current.get().mounts.values()
        writable = [mount.root for mount in mounts if mount.access is Access.WRITE]
        bounds = Bounds.of(
            [*writable, *map(str, tools.allowed_write_roots)],
            read=[*(mount.root for mount in mounts), *map(str, tools.sandbox_read_roots)],
            hidden=[str(self.settings.home.root)],
            fixed=[os.path.join(root, ".git", "hooks") for root in writable],
        )
        return self.sandbox.confine(executable, cwd, bounds)

    async def _keep(self, chunks: Iterable[bytes], context: ToolContext) -> str:
        """Output as an artifact, without the secrets in it."""
        stream = self.redactor.stream()
        clean = (stream.feed(chunk.decode(errors="replace")).encode() for chunk in chunks)
        artifact = await self.artifacts.put(
            _with_rest(clean, stream.finish), mime_type="text/plain", session_id=context.origin.session_id,
            call_id=context.call_id,
        )  # fmt: skip
        return artifact.artifact_id


def path_rules_of(settings: Config) -> PathRules:
    """Which names are sensitive and protected. To put them together takes a while: once for a crib, not for a run."""
    return PathRules(settings.tools.sensitive_paths, settings.tools.protected_paths)


def workspace_of(settings: Config, project: Path, scratch: Path | None, rules: PathRules) -> Workspace:
    """A workspace of a project, with the mounts and the write boundary of the configuration."""
    mounts = [
        Mount.of(f"/{name}", entry.path, Access(entry.access.value))
        for name, entry in settings.workspace.mounts.items()
    ]
    temporary = TemporaryFolder.OPEN if settings.tools.allow_tmp_writes else TemporaryFolder.CLOSED
    boundary = Boundary.of(settings.tools.allowed_write_roots, [settings.home.root], temporary)
    return Workspace.of(project, scratch, boundary=boundary, rules=rules, mounts=mounts)


def tools_to_show(settings: Config) -> list[Tool]:
    """The tools that runs of this configuration have of Toolcrib's own, to look at without opening a store."""
    from toolcrib.engine.redact import Redactor  # a crib that is open brings its own

    hands = Hands(settings, NothingKept(), Redactor())
    names = mounted_toolsets(settings, switchboard_of(settings))
    return [tool for made in hands.toolsets(names) for tool in made.tools]


class NothingKept:
    """Artifacts where no store is open: there are none, and none can be put."""

    async def put(self, chunks: Iterable[bytes], *, mime_type: str, session_id: str, call_id: str | None) -> Artifact:
        raise StoreError("nothing can be kept: no store is open")

    async def read(self, artifact_id: str, *, offset: int, limit: int) -> bytes:
        raise StoreError(f"there is no artifact {artifact_id!r}: no store is open")

    async def find(self, artifact_id: str) -> Artifact | None:
        return None

    async def clean(self, *, before: float, keep_bytes: int | None) -> int:
        return 0


def _with_rest(chunks: Iterable[bytes], finish: Callable[[], str]) -> Iterable[bytes]:
    yield from chunks
    yield finish().encode()


def _maker(name: str) -> Callable[[object], object]:
    """What makes a toolset of its services: a module's function `toolset`, or what a package's entry point names."""
    try:
        return import_module(f"toolcrib.toolsets.{name}").toolset
    except ModuleNotFoundError as error:
        if error.name != f"toolcrib.toolsets.{name}":
            raise
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _made_by(point)
    raise ConfigError(
        f"there is no toolset {name!r}: Toolcrib has code, workspace, shell, dynamic and self_evolution, packages may "
        f"add others by an entry point {name!r} in the group {GROUP}"
    )


def _made_by(point: EntryPoint) -> Callable[[object], object]:
    place = f"the entry point {point.name!r} of {GROUP} ({point.value})"
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{place} cannot be loaded: {error}") from error
    found = getattr(found, "toolset", found)
    if not callable(found):
        raise ConfigError(f"{place} must lead to a function toolset(services), or to a module that has one")
    return found


def _set(current: ContextVar[Workspace], workspace: Workspace) -> None:
    current.set(workspace)
