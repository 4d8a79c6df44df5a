"""In which mode a run begins; apart from the runs themselves, so that a listing can ask without loading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.policy.agents import AgentTerms
from toolcrib.policy.modes import Mode, is_within, mode_of
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from toolcrib.config import Modes


def opening_mode(agent: AgentTerms, wanted: str | None, modes: Modes) -> Mode:
    """The mode that was asked for, else that of the definition; never looser than the definition."""
    mode = (agent.mode or Mode.DEFAULT) if wanted is None else mode_of(wanted)
    if mode is Mode.BYPASS and not modes.allow_bypass:
        raise ConfigError(
            "the mode bypass is the operator's to switch on: modes.allow_bypass = true in the home's config.toml"
        )
    if agent.mode is not None and not is_within(mode, agent.mode):
        raise ConfigError(f"{agent.agent_id} is defined with the mode {agent.mode}; {mode} would be looser")
    return mode
