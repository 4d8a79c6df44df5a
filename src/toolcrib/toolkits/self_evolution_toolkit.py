"""self_evolution_toolkit: the agent may work on its own code, on branches, up to a proposal that a person decides."""

from __future__ import annotations

import re

from toolcrib.catalog.toolkit import Choice, Focus, Situation, Toolkit, members
from toolcrib.values.identity import Role
from toolcrib.values.start import Start

LIST, READ, SHOW = "self_evolution.list", "self_evolution.read", "self_evolution.show"
BEGIN, PATCH, COMMIT = "self_evolution.begin", "self_evolution.patch", "self_evolution.commit"
CHECK, REVERT, PROPOSE = "self_evolution.check", "self_evolution.revert", "self_evolution.propose"
APPROVE, PUSH = "self_evolution.approve", "self_evolution.push"
_OWN_CODE = re.compile(
    r"\b(?:your|its) (?:own )?(?:source|code|repository|implementation)\b|\bself[- ]evolution\b|\bimprove yourself\b",
    re.IGNORECASE,
)
_STEPS = (
    (BEGIN, f"Begin every piece of work with {BEGIN}: one branch, one purpose."),
    (READ, f"Read with {READ} before you change anything."),
    (PATCH, f"Change one file at a time with {PATCH}, by the smallest diff that does it."),
    (COMMIT, f"Commit with {COMMIT} and name the files; say why in the message."),
    (CHECK, f"Run {CHECK} after the commit; what fails is yours to fix."),
    (REVERT, f"Take a commit that went wrong back with {REVERT}; never paint over it."),
    (PROPOSE, f"When everything is committed and checked, call {PROPOSE} and stop: a person decides and pushes."),
)


def guide(situation: Situation) -> str:
    """The way of working, as far as its tools are there."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(_available(situation), 1))


def aim(situation: Situation) -> Focus | None:
    """When the user speaks of the agent's own code, these tools and no others; the first answer is a look at it."""
    if not _OWN_CODE.search(situation.said):
        return None
    return Focus(situation.available, Choice.REQUIRED if situation.has(LIST) else Choice.AUTO)


def _available(situation: Situation) -> list[str]:
    return [text for name, text in _STEPS if situation.has(name)]


TOOLKIT = Toolkit(
    key="self_evolution_toolkit",
    label="Self evolution",
    description="Work on the agent's own code in a local git repository: branch, change, check, propose.",
    members=members([LIST, READ, SHOW, BEGIN, PATCH, COMMIT, CHECK, REVERT, PROPOSE, APPROVE, PUSH], Start.OFF),
    toolsets=("self_evolution",),
    roles=frozenset({Role.MAIN, Role.ORCHESTRATOR, Role.WORKER}),
    guide=guide,
    aim=aim,
)
