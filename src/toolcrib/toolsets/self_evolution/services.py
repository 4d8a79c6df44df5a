"""What the tools of self evolution need from outside; put together once, where the program is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from toolcrib.ports import Artifacts
from toolcrib.toolsets.self_evolution.guard import Guard
from toolcrib.values.noun import frozen
from toolcrib.values.process import Confinement, Ended, Job, Sink
from toolcrib.workspace.workspace import Workspace


class Processes(Protocol):
    """Runs a job to its end; whatever it started is gone then."""

    async def run(self, job: Job, *, stdout: Sink | None = None, stderr: Sink | None = None) -> Ended: ...


Confine = Callable[[str, str], Confinement | None]
"""How the sandbox wants a program started in a folder."""


@frozen(kw_only=True)
class EvolutionServices:
    """`workspace` has the repository as its project and nothing else; `confine_push` lets git reach `push_to`."""

    workspace: Workspace
    processes: Processes
    artifacts: Artifacts
    holds_secrets: Callable[[str], bool]
    environment: Mapping[str, str]
    confine: Confine
    confine_push: Confine
    guard: Guard
    checks: tuple[tuple[str, ...], ...] = ()
    branch_prefix: str = "evolve/"
    push_to: str = ""
    timeout: float = 120.0

    @property
    def repository(self) -> str:
        return self.workspace.project.root
