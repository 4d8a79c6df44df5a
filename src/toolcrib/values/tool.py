"""A tool: a specification bound to the function that does the work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from toolcrib.values.json import Json, canonical
from toolcrib.values.spec import ToolSpec
from toolcrib.values.target import Target

if TYPE_CHECKING:
    from toolcrib.values.context import ToolContext

Arguments = Mapping[str, Json]
Handler = Callable[["ToolContext", Arguments], Any]
"""Takes the validated arguments; returns the value, or an awaitable of it when `runs` is ASYNC."""


class Runs(StrEnum):
    """Where a handler runs: on the event loop, in a thread, or in a process that can be killed."""

    ASYNC = "async"
    THREAD = "thread"
    PROCESS = "process"


def no_targets(arguments: Arguments) -> Sequence[Target]:
    """The tool touches nothing that a rule could name."""
    return ()


def _no_implementation() -> str:
    return ""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Tool:
    """What the registry holds. `targets` declares what a call would touch, before anyone is asked."""

    spec: ToolSpec
    handler: Handler
    runs: Runs = Runs.ASYNC
    targets: Callable[[Arguments], Sequence[Target]] = no_targets
    implementation: Callable[[], str] = _no_implementation
    transactional: bool = False
    needs_approval: Callable[[Arguments], bool] | None = None
    entry: str = ""
    _fingerprint: str = field(default="", init=False, repr=False)

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def fingerprint(self) -> str:
        """SHA-256 over contract and implementation; grants and baselines are bound to it."""
        if not self._fingerprint:
            text = canonical([self.spec.contract(), self.implementation()])
            object.__setattr__(self, "_fingerprint", hashlib.sha256(text.encode()).hexdigest())
        return self._fingerprint
