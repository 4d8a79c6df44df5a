"""What the definition of an agent says, as far as it decides about tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.policy.budget import Allowance
from toolcrib.policy.modes import Mode
from toolcrib.values.identity import Role
from toolcrib.values.noun import frozen

if TYPE_CHECKING:
    from toolcrib.policy.commands import CommandRule


NO_LIMIT = Allowance()


@frozen
class AgentTerms:
    """Narrows an agent of this id; None, as where there is no definition, narrows nothing."""

    agent_id: str = "main"
    role: Role | None = None
    mode: Mode | None = None
    tools: tuple[str, ...] | None = None
    """Name patterns of the toolsets that the definition lists."""
    allowed_tools: frozenset[str] | None = None
    sub_agents: frozenset[str] | None = None
    commands: tuple[CommandRule, ...] = ()
    max_children: int | None = None
    allowance: Allowance = NO_LIMIT


UNDEFINED = AgentTerms()
"""The main agent where nothing defines it."""
