"""The loop guard: notices when an agent goes round in circles, and says what to do instead.

Progress is a result that this run has not seen yet. Loops are looked for among the calls since the last progress, so a
run that gets on never pays for more than the look whether its latest result is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolcrib.values.json import Json
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal

Arguments = Mapping[str, Json] | str | bytes
MOST_SEEN = 10_000
MOST_STALE = 128
_INSTEAD = "use what you have, try another way, or tell the user what is missing"


@frozen
class LoopLimits:
    """What counts as a loop; 0 switches a detector off."""

    same_call: int = 3
    warn: int = 2
    same_tool: int = 5
    oscillation: int = 3
    no_progress: int = 10
    idle_seconds: float = 60.0

    def __bool__(self) -> bool:
        return bool(self.same_call or self.same_tool or self.oscillation or self.no_progress)


@frozen
class Step:
    """One call as the guard compares it."""

    tool: str
    key: int


class LoopGuard:
    """Watches the calls of one run. `stale` holds those since the last progress; while it is empty all is well."""

    __slots__ = ("_fresh", "_key", "_last", "_limits", "_older", "_seen", "refused", "stale")

    def __init__(self, limits: LoopLimits, key: Callable[[Arguments], int]) -> None:
        self._limits = limits
        self._key = key
        self._seen: set[int] = set()
        self._older: set[int] = set()
        self._fresh: tuple[str, Arguments] | None = None
        self._last = 0.0
        self.stale: list[Step] = []
        self.refused = 0

    def check(self, tool: str, arguments: Arguments, now: float) -> None:
        """Refuse the call that would make a loop whole. Worth asking only while anything is stale."""
        if now - self._last > self._limits.idle_seconds:
            self.reset()
        if (problem := self._problem(Step(tool, self._key(arguments)), self._before())) is not None:
            self.refused += 1
            detector, message = problem
            raise Refusal(Reason.LOOP_DETECTED, message, {"detector": detector, "refused": self.refused})

    def is_progress(self, digest: int, tool: str, arguments: Arguments, began: float) -> bool:
        """Take note of a result, if this run has not seen it yet."""
        seen = self._seen
        if digest in seen or digest in self._older:
            return False
        seen.add(digest)
        self._fresh = (tool, arguments)
        self._last = began
        if self.stale:
            self.stale.clear()
            self.refused = 0
        if len(seen) > MOST_SEEN // 2:  # half of them at once: taking the oldest from a table is a long search
            self._seen, self._older = set(), seen
        return True

    def repeated(self, tool: str, arguments: Arguments, began: float, now: float) -> str | None:
        """Take note of a call without progress; a text when the model should be warned that it repeats itself."""
        if began - self._last > self._limits.idle_seconds:
            self.reset()
        before = self._before()
        step = Step(tool, self._key(arguments))
        self.stale.append(step)
        del self.stale[:-MOST_STALE]
        self._last = now
        return self._warning(step, 1 + before.count(step))

    def reset(self) -> None:
        """Somebody spoke, or time passed: what is called from now on is called for a reason."""
        self.stale.clear()
        self._fresh = None
        self.refused = 0

    def _before(self) -> list[Step]:
        """The calls since the last progress, and the one that made it."""
        if self._fresh is None:
            return list(self.stale)
        tool, arguments = self._fresh
        return [Step(tool, self._key(arguments)), *self.stale]

    def _problem(self, step: Step, before: list[Step]) -> tuple[str, str] | None:
        limits = self._limits
        if (period := self._circle([*before, step])) is not None:
            names = " → ".join(dict.fromkeys(each.tool for each in (*before[-period:], step)))
            return "oscillation", f"the same {period} calls go round in a circle ({names}); {_INSTEAD}"
        times = before.count(step) + 1
        if limits.same_call and times >= limits.same_call:
            return "same_call", (
                f"{step.tool} was called with the same arguments {times - 1} times and brought nothing new; the same "
                f"call will bring the same result: {_INSTEAD}"
            )
        if limits.same_tool and (row := self._in_a_row(step.tool)) >= limits.same_tool:
            return "same_tool", f"{step.tool} was called {row - 1} times in a row and brought nothing new; {_INSTEAD}"
        if limits.no_progress and len(self.stale) + 1 >= limits.no_progress:
            return "no_progress", (
                f"the last {len(self.stale)} calls brought nothing new; stop calling tools and tell the user what you "
                "found and what is missing"
            )
        return None

    def _in_a_row(self, tool: str) -> int:
        """How many calls of this tool end the stretch without progress, the present one included."""
        row = 1
        for step in reversed(self.stale):
            if step.tool != tool:
                break
            row += 1
        return row

    def _circle(self, steps: list[Step]) -> int | None:
        """The length of a circle of at least two different calls that has now gone round often enough.

        A first round is progress call by call, so all of it but its end lies before the stretch: there it may be short.
        """
        rounds = self._limits.oscillation
        for period in range(2, len(steps) // 2 + 1) if rounds else ():
            need = period * rounds
            if len(steps) < need and self._fresh is not None:
                need = len(steps) if len(steps) > need - period else need
            tail = steps[-need:]
            if len(tail) == need and tail[period:] == tail[:-period] and len(set(tail)) > 1:
                return period
        return None

    def _warning(self, step: Step, times: int) -> str | None:
        limits = self._limits
        if not limits.same_call or not limits.warn or times < limits.warn:
            return None
        return (
            f"{step.tool} was called with the same arguments {times} times and brought nothing new; "
            f"do not call it so again: {_INSTEAD}"
        )
