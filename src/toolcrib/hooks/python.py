"""Hooks written in Python: an async function before or after the tools it is meant for."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from toolcrib.policy.rules import compile_pattern
from toolcrib.ports import HookAnswer, HookEvent
from toolcrib.values.call import Invocation
from toolcrib.values.identity import Origin
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec

Before = Callable[[Invocation, Origin], Coroutine[Any, Any, HookAnswer | None]]
After = Callable[[Invocation, ToolResult, Origin], Coroutine[Any, Any, None]]


@dataclass(frozen=True, kw_only=True)
class _Watching:
    """Which tools a hook is meant for, and how long it may take."""

    name: str = "python"
    tool: str = "**"
    tag: str | None = None
    timeout: float = 30.0
    declared: bool = field(default=False, init=False)
    _pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", compile_pattern(self.tool))

    def matches(self, spec: ToolSpec) -> bool:
        return self._pattern.fullmatch(spec.name) is not None and (self.tag is None or self.tag in spec.tags)


@dataclass(frozen=True, kw_only=True)
class PreHook(_Watching):
    """Asked before a call is permitted: None or allow lets it go on, ask brings in a person, deny refuses."""

    run: Before
    lenient: bool = False
    event: HookEvent = HookEvent.PRE_TOOL_USE
    before: Before = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "before", self.run)  # itself: a method around it would cost every call one more

    async def after(self, invocation: Invocation, result: ToolResult, origin: Origin) -> None:
        """A pre hook has nothing to say afterwards."""


@dataclass(frozen=True, kw_only=True)
class PostHook(_Watching):
    """Told of a result after it was recorded; whatever it does changes nothing."""

    run: After
    lenient: bool = True
    event: HookEvent = HookEvent.POST_TOOL_USE
    after: After = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "after", self.run)  # itself, as above

    async def before(self, invocation: Invocation, origin: Origin) -> HookAnswer | None:
        """A post hook has nothing to say beforehand."""
        return None
