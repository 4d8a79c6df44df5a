"""Who is acting: the origin of a call, from the session down to the run and its parents."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from toolcrib.values.noun import frozen


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


class Standing(StrEnum):
    """How somebody who answers is known: at a terminal, by name, by a token, through a program's own callback."""

    TERMINAL = "terminal"
    OPERATOR = "operator"
    TOKEN = "token"
    CALLBACK = "callback"
    AGENT = "agent"


APPROVE = "approve"
"""The scope that a token needs to answer questions."""


@frozen
class Principal:
    """Who does something by name. To approve is a right of its own, and agents never have it."""

    name: str
    standing: Standing
    scopes: frozenset[str] = frozenset()

    @property
    def may_approve(self) -> bool:
        """A person at a terminal and the operator's own program may; a token needs the scope; an agent never may."""
        if self.standing is Standing.TOKEN:
            return APPROVE in self.scopes
        return self.standing is not Standing.AGENT

    def __str__(self) -> str:
        return f"{self.standing.value}:{self.name}"


@frozen
class Ancestor:
    """One of the runs above a child's, as a person who is asked gets to see it."""

    agent_id: str
    run_id: str
    role: Role = Role.MAIN

    def __str__(self) -> str:
        return f"{self.agent_id} ({self.role.value}, {self.run_id})"


@frozen
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
    ancestry: tuple[Ancestor, ...] = ()
    """Every run above this one, the topmost first."""

    @property
    def grantee(self) -> str:
        """Whom a session grant belongs to: the agent by name, but a child by its run, so that no sibling has it too."""
        if self.parent_run_id is None or self.agent_id.endswith(f"@{self.run_id}"):
            return self.agent_id
        return f"{self.agent_id}@{self.run_id}"

    def child(self, run_id: str, agent_id: str, role: Role) -> Origin:
        """The origin of a run that this one starts, in the same session, with everybody above it."""
        ancestry = (*self.ancestry, Ancestor(self.agent_id, self.run_id, self.role))
        return replace(
            self,
            run_id=run_id,
            agent_id=agent_id,
            role=role,
            parent_run_id=self.run_id,
            parent_agent_id=self.agent_id,
            ancestry=ancestry,
        )


@frozen
class Ownership:
    """Proof that this process owns a session: every commit checks the epoch."""

    session_id: str
    owner: str
    epoch: int
