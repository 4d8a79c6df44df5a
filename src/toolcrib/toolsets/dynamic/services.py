"""What dynamic tools need from outside; put together once, where the program is put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from toolcrib.network import Reach
from toolcrib.values.context import ToolContext
from toolcrib.values.identity import Role, Surface
from toolcrib.values.noun import frozen
from toolcrib.values.result import ToolReturn
from toolcrib.values.target import Target
from toolcrib.values.tool import Tool


class Commands(Protocol):
    """Runs a program with its words for a call: in the sandbox, with the allowed environment, without a shell."""

    def targets(self, argv: Sequence[str], label: str) -> Sequence[Target]:
        """What running these words would touch; `label` stands for the last of them where rules and people look."""
        ...

    async def run(self, context: ToolContext, argv: Sequence[str], stdin: bytes, timeout: float) -> ToolReturn:
        """Run these words with the program that the call declared."""
        ...


@frozen(kw_only=True)
class DynamicServices:
    """`check` registers a tool on trial (ToolcribError says why not); `approved` takes a surface, its name and its
    fingerprint."""

    commands: Commands
    reach: Reach
    check: Callable[[Tool], None]
    approved: Callable[[Surface, str, str], Awaitable[bool]]
    holds_secrets: Callable[[str], bool]
    now: Callable[[], float]
    creators: frozenset[Role] = frozenset({Role.MAIN, Role.ORCHESTRATOR})
    """Roles whose agents may make tools."""
