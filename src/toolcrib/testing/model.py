"""A model that plays from a script: each step is the calls of one turn, or the final text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolcrib.engine.run import Run
from toolcrib.values.call import ToolCall
from toolcrib.values.result import ToolResult

Step = Sequence[ToolCall] | str


@dataclass(slots=True)
class ScriptedModel:
    """Drives a run the way an agent loop does: calls out, results in, until it says something."""

    script: Iterable[Step]
    seen: list[list[ToolResult]] = field(default_factory=list[list[ToolResult]])

    async def play(self, run: Run) -> str:
        """Play the whole script against a run; returns the final text."""
        for step in self.script:
            if isinstance(step, str):
                return step
            self.seen.append(await run.turn(step))
        return ""
