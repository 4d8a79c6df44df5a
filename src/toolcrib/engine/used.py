"""The call ids that a run has seen: each is used once."""

from __future__ import annotations

from collections import OrderedDict

from toolcrib.values.refusal import Reason, Refusal

REMEMBERED = 4_096


class UsedIds:
    """The newest of the ids; what is long gone is forgotten, so that this does not grow with the run."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        # Of a plain dict the oldest is found only after all places that were given up before it.
        self._seen: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._seen

    def take(self, call_id: str) -> None:
        """Use an id; a Refusal when it was used before."""
        seen = self._seen
        if call_id in seen:
            message = f"the call id {call_id!r} was already used in this run; give every call an id of its own"
            raise Refusal(Reason.VALIDATION_ERROR, message)
        seen[call_id] = None
        if len(seen) > REMEMBERED:
            seen.popitem(last=False)

    def free(self, call_id: str) -> None:
        """Let an id be used again, by a call that is not over."""
        self._seen.pop(call_id, None)
