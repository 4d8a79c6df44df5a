"""Limits and loops around one call, and how calls and results are compared: one number for the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from toolcrib.engine.account import mark, marks_of
from toolcrib.policy.limits import Bucket
from toolcrib.policy.loop import Arguments
from toolcrib.values.json import canonical
from toolcrib.values.result import Block, JsonBlock, Text, ToolReturn

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run

PATIENCE = 3
"""Refusals in a row after which a run counts as one that ended in a loop."""


async def draw(slot: Slot, flight: Flight, run: Run) -> None:
    """What `take` does, where a rate limit has to be looked up in the store first."""
    await run.runtime.meters.draw(buckets_of(slot, run), slot.tool.name)
    if run.guard is not None and run.guard.stale and slot.guarded:
        run.guard.check(slot.tool.spec.name, flight.call.arguments, flight.began)
    flight.counted = True


def buckets_of(slot: Slot, run: Run) -> Sequence[Bucket]:
    """The tool's and the agent's buckets, and those that the session has of its own."""
    if not slot.session_rates:
        return slot.buckets
    session, meters = run.origin.session_id, run.runtime.meters
    own = [meters.bucket("session", pattern, session, rate) for pattern, rate in slot.session_rates]
    return (*slot.buckets, *own)


def saw(flight: Flight, returned: ToolReturn, content: tuple[Block, ...], run: Run) -> None:
    """Take note of what a call came to: what was read, and whether it brought anything new."""
    slot, guard = flight.slot, run.guard
    if slot is None:
        return
    if (slot.touches or returned.metadata) and flight.permit is not None and flight.context is not None:
        mark(run, marks_of(flight, returned.metadata), flight)
    if guard is not None and slot.guarded:
        arguments, name, began = flight.call.arguments, slot.tool.spec.name, flight.began
        digest = digest_of(slot, arguments, content, returned.error)
        if not guard.is_progress(digest, name, arguments, began):
            flight.notice = guard.repeated(name, arguments, began, run.runtime.clock.monotonic())


def key_of(arguments: Arguments) -> int:
    """The same number for the same arguments, however they are written down."""
    if isinstance(arguments, (str, bytes)):
        try:
            return hash(orjson.dumps(orjson.loads(arguments), option=orjson.OPT_SORT_KEYS))
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return hash(arguments)
    try:
        return hash(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError:
        return hash(_spelled(arguments))


def digest_of(slot: Slot, arguments: Arguments, content: Sequence[Block], failed: object) -> int:
    """The same number for the same result. What a write did is part of its result: other arguments, another effect.

    So is what a search was for: that another question finds as little as the last one did is news.
    """
    name, block = slot.tool.spec.name, content[0] if len(content) == 1 else content
    if type(block) is JsonBlock:
        said = block.data
        if type(said) is not int:
            said = repr(said)
    else:
        said = block.text if type(block) is Text else repr(block)
    if not slot.tells_by_arguments or failed is not None:
        return hash((name, said))
    return hash((name, said, key_of(arguments)))


def _spelled(arguments: object) -> str:
    """Arguments that one JSON writer does not take: in the other's words, else in Python's."""
    try:
        return canonical(arguments)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, RecursionError):
        return repr(arguments)
