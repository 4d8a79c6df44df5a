"""What the command tools need from outside; put together once, where the program is put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from toolcrib.toolsets.shell.places import Places
from toolcrib.values.context import ToolContext
from toolcrib.values.noun import frozen
from toolcrib.values.process import MIB, Captured, Confinement, Ended, Job, ProcessLimits, Sink

if TYPE_CHECKING:
    from toolcrib.toolsets.shell.background import Background


class Running(Protocol):
    """A process under way."""

    @property
    def over(self) -> bool: ...
    @property
    def output(self) -> tuple[Captured, Captured]: ...
    async def finish(self, timeout: float | None) -> Ended: ...
    async def kill(self) -> None: ...
    async def write(self, data: bytes) -> None: ...
    def close_stdin(self) -> None: ...


class Processes(Protocol):
    """Runs jobs as processes; whatever a job started is gone when the job has ended."""

    def running(
        self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None
    ) -> AbstractAsyncContextManager[Running]: ...
    async def start(self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None) -> Running: ...


Confine = Callable[[str, str], Confinement | None]
"""How the sandbox wants a program started in a folder; Refusal when there must be a sandbox and there is none."""
Keep = Callable[[Iterable[bytes], ToolContext], Awaitable[str]]
"""Stores output as an artifact, without the secrets in it, and gives its id."""


def unconfined(executable: str, cwd: str) -> Confinement | None:
    """No sandbox."""
    return None


@frozen
class Ground:
    """Where commands of the run that is being served work: the folder they start in, and what other paths mean."""

    root: str
    places: Places


@frozen(kw_only=True)
class CommandServices:
    """`ground` gives that of the run being served; `environment` is all that commands see of ours."""

    processes: Processes
    background: Background
    ground: Callable[[], Ground]
    environment: Mapping[str, str]
    confine: Confine = unconfined
    keep: Keep | None = None
    timeout: float = 120.0
    shell: str = "/bin/sh"
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    shown: int = 8_000
    """Characters of output that a result shows; the rest goes to an artifact."""
    kept: int = 64 * MIB
    """Bytes of each output that an artifact holds at most."""
