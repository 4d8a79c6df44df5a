"""A hook that an operator declared: whom it is about, what it is told, how its answer is read, how long it has."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.policy.rules import compile_pattern
from toolcrib.ports import HookAnswer, HookEvent, HookVerdict
from toolcrib.values.call import Invocation
from toolcrib.values.identity import Origin
from toolcrib.values.json import Json, JsonObject, kind
from toolcrib.values.result import ToolResult, result_json
from toolcrib.values.spec import Effect, ToolSpec
from toolcrib.values.target import TargetKind

VERSION = 1
Way = Callable[[JsonObject], Coroutine[Any, Any, HookAnswer]]
"""How a hook runs: told of an occasion, it answers; whatever it raises is a failure."""


class BadAnswer(Exception):
    """A hook answered something that is not an answer."""


@dataclass(frozen=True, kw_only=True)
class DeclaredHook:
    """Watches calls and hears of other occasions. Its arguments and results are copies without secrets."""

    name: str
    event: HookEvent
    way: Way
    redact: Callable[[Json], Json]
    tool: str = "**"
    tag: str | None = None
    path_prefix: str | None = None
    timeout: float = 30.0
    lenient: bool = False
    declared: bool = field(default=True, init=False)
    _pattern: re.Pattern[str] = field(init=False, repr=False)
    _left: set[asyncio.Task[HookAnswer]] = field(default_factory=set["asyncio.Task[HookAnswer]"], init=False)
    """Work that did not end when it was told to; kept so that it can."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", compile_pattern(self.tool))

    def matches(self, spec: ToolSpec) -> bool:
        return self._pattern.fullmatch(spec.name) is not None and (self.tag is None or self.tag in spec.tags)

    async def before(self, invocation: Invocation, origin: Origin) -> HookAnswer | None:
        if not self._concerns(invocation):
            return None
        return await self._ask(self._occasion(invocation, origin))

    async def after(self, invocation: Invocation, result: ToolResult, origin: Origin) -> None:
        if self._concerns(invocation):
            occasion = {**self._occasion(invocation, origin), "result": result_json(result)}
            await self._ask(occasion)

    async def hear(self, occasion: JsonObject) -> HookAnswer | None:
        return await self._ask({"version": VERSION, **occasion})

    async def _ask(self, occasion: JsonObject) -> HookAnswer:
        """The answer in time; a hook that does not even stop when it is told to is left behind."""
        task = asyncio.ensure_future(self.way(occasion))
        try:
            done, _ = await asyncio.wait({task}, timeout=self.timeout)
        except BaseException:
            self._leave(task)
            raise
        if not done:
            self._leave(task)
            raise TimeoutError(f"no answer within {self.timeout:g} s")
        return task.result()

    def _leave(self, task: asyncio.Task[HookAnswer]) -> None:
        def over(task: asyncio.Task[HookAnswer]) -> None:
            self._left.discard(task)
            if not task.cancelled():
                task.exception()

        self._left.add(task)
        task.add_done_callback(over)
        task.cancel()

    def _concerns(self, invocation: Invocation) -> bool:
        """A call touches what lies below the prefix; one that writes also through a folder above it."""
        if self.path_prefix is None:
            return True
        prefix = os.path.normpath(self.path_prefix)
        paths = [target.value for target in invocation.targets if target.kind is TargetKind.PATH]
        writes = invocation.effect is Effect.WRITE
        return any(_is_below(path, prefix) or (writes and _is_below(prefix, path)) for path in paths)

    def _occasion(self, invocation: Invocation, origin: Origin) -> dict[str, Json]:
        spec = invocation.tool.spec
        return {
            "version": VERSION,
            "event": self.event.value,
            "session_id": origin.session_id,
            "run_id": origin.run_id,
            "agent_id": origin.agent_id,
            "role": origin.role.value,
            "call_id": invocation.call_id,
            "tool": spec.name,
            "effect": invocation.effect.value,
            "tags": sorted(spec.tags),
            "arguments": self.redact(invocation.arguments),
            "targets": [
                {"kind": target.kind.value, "value": self.redact(target.value), "marks": sorted(target.marks)}
                for target in invocation.targets
            ],
        }


def answer_of(value: Json) -> HookAnswer:
    """An answer as a hook gives it: nothing, or a decision with a reason. Anything else is not an answer."""
    if value is None:
        return HookAnswer()
    if not isinstance(value, Mapping):
        raise BadAnswer(f"the answer must be an object, not {kind(value)}")
    if unknown := sorted(value.keys() - {"decision", "reason"}):
        raise BadAnswer(
            f"the answer has {unknown[0][:40]!r}; it may have decision and reason, and changes nothing else"
        )
    decision, reason = value.get("decision", "allow"), value.get("reason") or ""
    if decision not in tuple(HookVerdict) or not isinstance(decision, str):
        raise BadAnswer(f"the decision must be allow, ask or deny, not {str(decision)[:40]!r}")
    if not isinstance(reason, str):
        raise BadAnswer(f"the reason must be text, not {kind(reason)}")
    return HookAnswer(HookVerdict(decision), reason[:2_000])


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
