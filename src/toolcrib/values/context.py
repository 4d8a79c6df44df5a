"""What a handler is given besides its arguments: the facts of this call, and the few things it may do."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolcrib.values.block import SystemBlock
from toolcrib.values.identity import Origin
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.noun import frozen
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import Exposure, Lane, ToolSpec
from toolcrib.values.target import Target

if TYPE_CHECKING:
    from asyncio import Future


@frozen
class Document:
    """A small durable record. `version` is the one that was read: a commit on another version is a conflict."""

    kind: str
    key: str
    body: Json
    version: int = 0


@frozen
class Standing:
    """What the caller of a tool holds: its mode, whether it is a model or a person, and its tools."""

    mode: str
    caller: Exposure
    has: Callable[[str], bool]
    specs: Callable[[], Sequence[ToolSpec]]


class Desk(Protocol):
    """What the engine does for a handler at work."""

    def progress(self, context: ToolContext, message: str, fraction: float | None) -> None: ...
    def call_from(self, context: ToolContext, name: str, arguments: Mapping[str, Json]) -> Awaitable[ToolResult]: ...
    def load(self, context: ToolContext, kind: str, key: str) -> Awaitable[Document | None]: ...
    def add_block(self, block: SystemBlock) -> None: ...
    def standing(self) -> Standing: ...


@dataclass(slots=True, eq=False)
class ToolContext:
    """The facts of one call; a handler asks for it by annotating a parameter with this type."""

    call_id: str
    name: str
    arguments: Mapping[str, Json]
    targets: tuple[Target, ...]
    origin: Origin
    workspace: str | None
    _desk: Desk
    documents: list[Document] | None = None
    events: list[tuple[str, JsonObject]] | None = None
    partial_output: deque[str] | None = None
    lane: Lane = Lane.AGENT
    lingering: Future[None] | None = None
    nested: object = None

    def progress(self, message: str, fraction: float | None = None) -> None:
        """Tell whoever watches how far this call is; never stored, never blocks."""
        self._desk.progress(self, message, fraction)

    def put(self, document: Document) -> None:
        """Write a document in the same transaction as this call's result."""
        if self.documents is None:
            self.documents = []
        self.documents.append(document)

    def emit(self, event_type: str, payload: JsonObject) -> None:
        """Record an event in the same transaction as this call's result."""
        if self.events is None:
            self.events = []
        self.events.append((event_type, payload))

    def add_block(self, block: SystemBlock) -> None:
        """Give the run a block for its prompt; one of the same path is replaced where it stands."""
        self._desk.add_block(block)

    def standing(self) -> Standing:
        """What whoever made this call holds; a tool that hands out authority hands out no more than that."""
        return self._desk.standing()

    def partial(self, text: str) -> None:
        """Keep output that would otherwise be lost: shown when this call is aborted or runs out of time."""
        if self.partial_output is None:
            self.partial_output = deque(maxlen=1_000)
        self.partial_output.append(text[-10_000:])

    async def load(self, kind: str, key: str) -> Document | None:
        """Read a document; put it back with the version that was read."""
        return await self._desk.load(self, kind, key)

    async def call(self, name: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call another tool: a child call that passes the same counter as every other."""
        return await self._desk.call_from(self, name, arguments)
