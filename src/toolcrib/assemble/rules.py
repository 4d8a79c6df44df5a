"""The rules in force in an open crib: read when it opens, read again when a file of rules changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.assemble.judging import Lists
from toolcrib.config.policies import MANAGED, Managed, Policies, read_policies, state_of
from toolcrib.policy.rules import Policy, Rule
from toolcrib.values.json import JsonObject

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.effective import Judge
    from toolcrib.engine.runtime import Runtime
    from toolcrib.policy.commands import CommandRule

PERIOD = 1.0
MAX_TOLD = 5


@dataclass(slots=True)
class RuleBook:
    """The files of rules of one crib. A change takes effect for new runs, and for open ones as far as it subtracts."""

    settings: Config
    managed: Managed = MANAGED
    further: tuple[Rule, ...] = ()
    """Rules that come from elsewhere, such as from agents' definitions; each says whose it is (`facts.agent`)."""
    policies: Policies = field(init=False)

    def __post_init__(self) -> None:
        self.policies = read_policies(self.settings, os.environ, self.managed)

    def policy(self, generation: int = 0) -> Policy:
        return Policy((*self.policies.rules, *self.further), generation)

    def judge(self, further: tuple[CommandRule, ...] = ()) -> Judge:
        """What the rules about commands, those of an agent's definition, and the lists of hosts say about a call."""
        return Lists(self.settings, (*self.policies.commands, *further))

    def refresh(self, runtime: Runtime) -> None:
        """Look at the files, and read them again when one of them changed, came or went."""
        if state_of(self.settings, self.managed) == self.policies.state:
            return
        self.policies = read_policies(self.settings, os.environ, self.managed)
        runtime.policy = self.policy(runtime.policy.generation + 1)
        if runtime.judge is not None:
            runtime.judge = self.judge()

    def trouble(self) -> JsonObject | None:
        """What a run records at its beginning about files that cannot be read."""
        problems = self.policies.problems
        if not problems:
            return None
        told = [str(problem) for problem in problems[:MAX_TOLD]]
        return {"problem": "a policy file is broken, so everything is denied", "files": told, "count": len(problems)}


async def keep_reading(refresh: Callable[[], None]) -> None:
    """Notice changed files while runs are open."""
    while True:
        await asyncio.sleep(PERIOD)
        refresh()
