"""What the opener of a run asks for, and the screens that follow from it."""

from __future__ import annotations

from toolcrib.engine.screens import (
    Screen,
    capability_screen,
    dispatch_screen,
    exposure_screen,
    listed_screen,
    plan_screen,
    role_screen,
)
from toolcrib.policy.agents import UNDEFINED, AgentTerms
from toolcrib.policy.modes import Mode
from toolcrib.policy.roles import CHILDREN
from toolcrib.values.identity import Role, Surface
from toolcrib.values.noun import frozen
from toolcrib.values.spec import Exposure


@frozen
class Wish:
    """As far as it shapes the effective set. `dispatcher` holds the tools of whoever sends a worker."""

    agent: AgentTerms = UNDEFINED
    mode: Mode = Mode.DEFAULT
    caller: Exposure = Exposure.MODEL
    allowed_tools: frozenset[str] | None = None
    role: Role = Role.MAIN
    dispatcher: frozenset[str] | None = None
    surface: Surface = Surface.RUNTIME


def screens_of(
    wish: Wish, capabilities: frozenset[str], plan_tools: tuple[str, ...], switched: Screen
) -> tuple[Screen, ...]:
    """Every screen of a run, in the order in which reasons are told."""
    agent = wish.agent
    hidden = Exposure.MANUAL if wish.caller is Exposure.MODEL else Exposure.MODEL
    screens: list[Screen] = [exposure_screen(hidden), capability_screen(capabilities)]
    if wish.role in CHILDREN:
        screens.append(role_screen(wish.role))
    screens.append(switched)
    if agent.tools is not None:
        screens.append(listed_screen(agent.tools, f"the definition of {agent.agent_id} does not list its toolset"))
    elif wish.role is Role.WORKER:
        screens.append(dispatch_screen(wish.allowed_tools, wish.dispatcher))
    if agent.allowed_tools is not None:
        screens.append(listed_screen(sorted(agent.allowed_tools), f"the definition of {agent.agent_id} leaves it out"))
    if wish.mode is Mode.PLAN:
        screens.append(plan_screen(plan_tools))
    if wish.allowed_tools is not None:
        screens.append(listed_screen(sorted(wish.allowed_tools), "it is not among the allowed tools of this run"))
    return tuple(screens)
