"""One model turn: every call gets its one result, in the model's order, whatever happens to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.engine.attend import see_through
from toolcrib.engine.envelope import opened
from toolcrib.engine.settle import skip
from toolcrib.policy.plan import plan
from toolcrib.ports import Unit
from toolcrib.values.call import ToolCall
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import Lane

if TYPE_CHECKING:
    from toolcrib.engine.run import Run


async def take_turn(calls: Sequence[ToolCall], run: Run) -> list[ToolResult]:
    """Settle the calls of one turn: reads and agents in parallel, each write alone, in order."""
    if len(calls) == 1:
        return [await see_through(calls[0], run)]
    turn = Turn([opened(_identified(call, run)) for call in calls], run)
    turn.record()
    try:
        for batch in plan([run.tools.lane(call) for call in turn.calls]):
            await turn.take(batch)
    except asyncio.CancelledError:
        await turn.give_up()
        raise
    return [turn.results[position] for position in range(len(calls))]


class Turn:
    """The calls of one turn and the results they have so far."""

    def __init__(self, calls: list[ToolCall], run: Run) -> None:
        self.calls = calls
        self.run = run
        self.results: dict[int, ToolResult] = {}
        self.begun: set[int] = set()
        self.stopped_by: ToolResult | None = None

    def record(self) -> None:
        """Write down what was asked for, so that calls which never started can be settled after a crash."""
        run = self.run
        asked: list[Json] = []
        for call in self.calls:
            arguments: Json = (
                call.arguments.decode(errors="replace") if isinstance(call.arguments, bytes) else call.arguments
            )
            shown, found = run.runtime.redactor.json(arguments)
            via = {"via": call.via} if call.via else {}
            asked.append({"id": call.id, "name": call.name, "arguments": shown, "redacted": found, **via})
        draft = run.draft("turn_started", None, {"calls": asked}, node_id=run.runtime.ids.new("turn"))
        run.runtime.store.queue(Unit((draft,), run.ownership))

    async def take(self, batch: range) -> None:
        """Settle one batch; after a write that was denied or failed, the rest is skipped."""
        first = batch.start
        over = max(batch.stop - max(first, self.run.runtime.max_calls_per_turn), 0)
        if self.stopped_by is not None:
            await self._skip(batch, self._because_of(self.stopped_by))
        elif len(batch) == 1 and not over:
            await self._settle(first)
            self._watch_write(first)
        else:
            await self._together(range(first, batch.stop - over))
            if over:
                await self._skip(range(batch.stop - over, batch.stop), self._too_many())

    async def give_up(self) -> None:
        """The turn itself was cancelled: what never started still gets its result."""
        for position, call in enumerate(self.calls):
            if position not in self.begun:
                refusal = Refusal(Reason.CANCELLED, f"{call.name} did not start: its turn was cancelled")
                try:
                    self.results[position] = await skip(call, self.run, refusal)
                except asyncio.CancelledError:
                    continue

    async def _together(self, batch: range) -> None:
        """Settle several calls at once, within the limits for reads and for agents; wait for all of them."""
        limits = {Lane.READ: self.run.runtime.read_limit, Lane.AGENT: self.run.runtime.agent_limit}
        gates = {lane: asyncio.Semaphore(most) for lane, most in limits.items()}

        async def one(position: int) -> None:
            async with gates[self.run.tools.lane(self.calls[position])]:
                await self._settle(position)

        tasks = [asyncio.create_task(one(position)) for position in batch]
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            raise
        for task in tasks:
            task.result()

    async def _settle(self, position: int) -> None:
        self.begun.add(position)
        self.results[position] = await see_through(self.calls[position], self.run)

    def _watch_write(self, position: int) -> None:
        call, result = self.calls[position], self.results[position]
        if result.ok or self.run.tools.lane(call) is not Lane.WRITE:
            return
        if "internal" not in self.run.tools.require(call.name).tool.spec.tags:
            self.stopped_by = result

    async def _skip(self, batch: range, refusal: Refusal) -> None:
        for position in batch:
            self.begun.add(position)
            self.results[position] = await skip(self.calls[position], self.run, refusal)

    def _because_of(self, result: ToolResult) -> Refusal:
        if self.run.aborted is not None:
            return Refusal(Reason.ABORTED, f"not started: the run was aborted ({self.run.aborted})")
        ended = result.reason.value if result.reason else "failed"
        return Refusal(
            Reason.SKIPPED,
            f"not started: the earlier write {result.name} ended with {ended}; look at that first",
            {"stopped_by": result.call_id},
        )

    def _too_many(self) -> Refusal:
        most = self.run.runtime.max_calls_per_turn
        return Refusal(
            Reason.SKIPPED, f"not started: a turn may have at most {most} calls; send the rest in the next turn"
        )


def _identified(call: ToolCall, run: Run) -> ToolCall:
    """A call with an id, so that what is written down at the start of the turn names its result."""
    if call.id is not None:
        return call
    return ToolCall(call.name, call.arguments, run.runtime.ids.new("call"), call.via, call.repaired, call.metadata)
