"""Who is acting: the origin of a call, from the session down to the run and its parents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    MAIN = "main"
    ORCHESTRATOR = "orchestrator"
    SUB = "sub"
    FORK = "fork"
    WORKER = "worker"


class Surface(StrEnum):
    RUNTIME = "runtime"
    GATEWAY = "gateway"
    ADAPTER = "adapter"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a call comes from; every event and every permission request carries it."""

    session_id: str
    run_id: str
    agent_id: str = "main"
    role: Role = Role.MAIN
    surface: Surface = Surface.RUNTIME
    parent_run_id: str | None = None
    parent_agent_id: str | None = None
    principal: str = "local"


@dataclass(frozen=True, slots=True)
class Ownership:
    """Proof that this process owns a session: every commit checks the epoch."""

    session_id: str
    owner: str
    epoch: int
