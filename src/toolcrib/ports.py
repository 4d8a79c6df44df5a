"""The few small protocols behind which all I/O lives; plug-ins implement them, the engine knows nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from toolcrib.policy.grants import Grant
from toolcrib.policy.limits import Block, Rate
from toolcrib.values.call import Invocation, Permit
from toolcrib.values.context import Document, ToolContext
from toolcrib.values.contract import Approval, Edge, Lock, SeenEdge
from toolcrib.values.event import Draft, Event
from toolcrib.values.identity import Origin, Ownership, Principal, Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.noun import frozen, noun
from toolcrib.values.permission import Answer, PermissionDecision, PermissionRequest
from toolcrib.values.receipt import Receipt
from toolcrib.values.refusal import StoreError
from toolcrib.values.result import ToolResult
from toolcrib.values.spec import ToolSpec


class Conflict(StoreError):
    """A document changed since it was read; nothing of the unit was committed."""


class Fenced(StoreError):
    """The session has another owner now; nothing of the unit was committed."""


class SessionBusy(StoreError):
    """Another live process owns the session."""


class NotPending(StoreError):
    """The question was answered, expired or withdrawn before this answer came; the first one stands."""


@frozen
class RunOpened:
    """A run begins."""

    run_id: str
    session_id: str
    agent_id: str
    role: str
    mode: str
    parent_run_id: str | None
    created_at: float


@frozen
class RunClosed:
    """A run ended, for one reason."""

    run_id: str
    end_reason: str
    ended_at: float


@noun
class Unit:
    """What is committed together or not at all. `owner` is checked (epoch) inside the transaction."""

    drafts: tuple[Draft, ...]
    owner: Ownership | None = None
    documents: tuple[Document, ...] = ()
    runs: tuple[RunOpened | RunClosed, ...] = ()


@frozen
class SessionRow:
    session_id: str
    agent_id: str
    project: str
    state: str
    owner: str | None
    epoch: int
    lease_until: float
    created_at: float
    events: int


@frozen
class RunRow:
    run_id: str
    session_id: str
    agent_id: str
    role: str
    mode: str
    parent_run_id: str | None
    state: str
    end_reason: str | None
    created_at: float
    ended_at: float | None


@frozen
class Fault:
    """One way in which the stored chain of events is not what was committed."""

    seq: int
    problem: str


@frozen
class Verification:
    """What a walk over the whole chain found. `head` is `SEQ:HASH`, to be kept elsewhere and expected later."""

    events: int
    erased: int
    head: str
    faults: tuple[Fault, ...]


class Journal(Protocol):
    """Append-only, hash-chained, gapless, in commit order."""

    def append(self, unit: Unit) -> Receipt:
        """Commit a unit; the receipt says its last sequence number, or Conflict, Fenced or StoreError."""
        ...

    def queue(self, unit: Unit) -> None:
        """Commit a unit with the next append, or within a few milliseconds by itself."""
        ...

    async def events(self, *, session_id: str | None, after: int, limit: int) -> Sequence[Event]: ...
    async def call_events(self, session_id: str, call_id: str) -> Sequence[Event]: ...
    async def verify(self, expect: str | None) -> Verification: ...
    async def purge(self, *, session_id: str | None, before: float | None) -> int:
        """Erase payloads (the chain stays whole); returns how many were erased."""
        ...

    async def changed(self) -> int:
        """The newest sequence number, whichever process committed it: cheap enough to poll."""
        ...

    def subscribe(self, wake: Callable[[int], None]) -> Callable[[], None]:
        """Call `wake(seq)` on the event loop after each commit of this process; returns how to stop."""
        ...


class Documents(Protocol):
    async def load(self, kind: str, key: str) -> Document | None: ...


class Leases(Protocol):
    """Sessions and who owns them."""

    async def claim(self, session_id: str, *, agent_id: str, project: str, owner: str, ttl: float) -> Ownership:
        """Create the session or take it over when its lease has run out; SessionBusy otherwise."""
        ...

    async def renew(self, ownership: Ownership, ttl: float) -> None: ...
    async def release(self, ownership: Ownership, state: str) -> None: ...
    async def sessions(self, *, limit: int) -> Sequence[SessionRow]: ...
    async def session(self, session_id: str) -> SessionRow | None: ...
    async def runs(self, session_id: str) -> Sequence[RunRow]: ...


class Meters(Protocol):
    """Rate limits that all processes of a store share, drawn from in advance."""

    async def draw(self, bucket: str, rate: Rate, holder: str, wanted: int, now: float) -> Block:
        """Draw up to `wanted` tokens; the holder's earlier block of this bucket is over. `now` is monotonic."""
        ...

    async def give_back(self, holder: str, unspent: Mapping[str, int]) -> None:
        """End a holder's blocks; what it did not spend of each goes back."""
        ...


@frozen
class Artifact:
    """A stored body, found by the hash of its bytes."""

    artifact_id: str
    size: int
    mime_type: str
    complete: bool
    created_at: float


class Artifacts(Protocol):
    """Bodies too large for a result; kept once per content, bounded, retrievable by part."""

    async def put(
        self, chunks: Iterable[bytes], *, mime_type: str, session_id: str, call_id: str | None
    ) -> Artifact: ...
    async def read(self, artifact_id: str, *, offset: int, limit: int) -> bytes: ...
    async def find(self, artifact_id: str) -> Artifact | None: ...
    async def clean(self, *, before: float, keep_bytes: int | None) -> int: ...


class QuestionState(StrEnum):
    """How a question stands. Each leads from pending to one of the others, once."""

    PENDING = "pending"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


@frozen(kw_only=True)
class Question:
    """A question that is kept until its call has a result (`settled`), and by then or earlier its one answer.

    `digest` is that of the arguments under `salt`; with call id and fingerprint it is what an answer is bound to.
    `call` says what has to be settled: id, name, arguments without secrets, and how many of these were taken out.
    """

    request: PermissionRequest
    digest: str
    salt: str
    epoch: int
    call: JsonObject
    created_at: float
    state: QuestionState = QuestionState.PENDING
    settled: bool = False
    answer: Answer | None = None
    reason: str | None = None
    principal: str | None = None
    answered_at: float | None = None


class Inbox(Protocol):
    """Questions that outlive the process that asked them, and the grants of live sessions."""

    async def ask(self, question: Question, unit: Unit) -> None:
        """Keep a question together with its event; Fenced when the session has another owner."""
        ...

    async def answer(self, request_id: str, decision: PermissionDecision, principal: Principal) -> Question:
        """Answer a pending question, on record; NotPending when somebody was first or its time is over."""
        ...

    async def end_question(self, request_id: str, state: QuestionState) -> Question | None:
        """End a question: expired or withdrawn while it is pending; answered marks its call as settled."""
        ...

    async def question(self, request_id: str) -> Question | None: ...
    async def questions(self, *, session_id: str | None, state: QuestionState | None, limit: int) -> Sequence[Question]:
        """Questions, oldest first; of a session those whose calls have no result yet."""
        ...

    async def add_grants(self, grants: Sequence[Grant], unit: Unit) -> None:
        """Keep grants for as long as the unit's owner holds the session, together with their event."""
        ...

    async def grants(self, ownership: Ownership) -> Sequence[Grant]:
        """The grants of a session under its present owner; none once it has another, or nobody holds it."""
        ...


class Contracts(Protocol):
    """What operators approved of tools, by surface: added to, never rewritten."""

    async def approve(self, approvals: Sequence[Approval], bodies: Mapping[str, JsonObject]) -> None:
        """Add approvals, with their events and the texts of their contracts; a pin only where nothing is on file."""
        ...

    async def baselines(self, surface: Surface) -> Mapping[str, Approval]:
        """The newest approval of each tool; StoreError when one of them cannot be read."""
        ...

    async def approvals(self, surface: Surface, tool: str) -> Sequence[Approval]: ...
    async def approval_count(self) -> int: ...
    async def has_snapshot(self, surface: Surface) -> bool: ...
    async def contract(self, fingerprint: str) -> JsonObject | None: ...


class Topology(Protocol):
    """Which agents start which, and where only approved ones may."""

    async def see_edge(self, edge: Edge) -> SeenEdge:
        """Count an edge once more, and say how it stands."""
        ...

    async def edges(self, scope: str | None) -> Sequence[SeenEdge]: ...
    async def approve_edge(self, edge_id: str, principal: Principal) -> SeenEdge: ...
    async def locks(self) -> Sequence[Lock]: ...
    async def lock(self, scope: str, principal: Principal) -> None: ...
    async def unlock(self, scope: str, principal: Principal) -> None: ...


class Store(Journal, Documents, Leases, Inbox, Meters, Contracts, Topology, Protocol):
    """The store's faces in one object."""

    @property
    def artifacts(self) -> Artifacts: ...
    def warnings(self) -> Sequence[str]:
        """What cannot be trusted about the place where the records are kept."""
        ...

    async def close(self) -> None: ...


Asker = Callable[[PermissionRequest], Awaitable[PermissionDecision]]
Notifier = Callable[[PermissionRequest], Awaitable[None]]
"""Tells somebody that a question waits; it decides nothing, and its failure changes nothing."""


class HookEvent(StrEnum):
    SESSION_START = "SessionStart"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    PERMISSION_REQUEST = "PermissionRequest"
    STOP = "Stop"
    SUBAGENT_START = "SubagentStart"


class HookVerdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@frozen
class HookAnswer:
    """A hook may veto or ask for a person; it never changes the call."""

    decision: HookVerdict = HookVerdict.ALLOW
    reason: str = ""


class Hook(Protocol):
    """Something that watches calls. One that fails denies unless it is `lenient`; a `declared` one is recorded."""

    @property
    def name(self) -> str: ...
    @property
    def event(self) -> HookEvent: ...
    @property
    def timeout(self) -> float: ...
    @property
    def lenient(self) -> bool: ...
    @property
    def declared(self) -> bool: ...
    def matches(self, spec: ToolSpec) -> bool: ...
    def before(self, invocation: Invocation, origin: Origin) -> Coroutine[Any, Any, HookAnswer | None]: ...
    def after(self, invocation: Invocation, result: ToolResult, origin: Origin) -> Coroutine[Any, Any, None]: ...


class Listener(Protocol):
    """Something that is told of other occasions than calls, and may veto them."""

    @property
    def name(self) -> str: ...
    @property
    def event(self) -> HookEvent: ...
    @property
    def timeout(self) -> float: ...
    @property
    def lenient(self) -> bool: ...
    def matches(self, spec: ToolSpec) -> bool: ...
    def hear(self, occasion: JsonObject) -> Coroutine[Any, Any, HookAnswer | None]: ...


class Executor(Protocol):
    """Runs a permitted call; the only place where handlers run."""

    def execute(self, permit: Permit, context: ToolContext) -> Coroutine[Any, Any, object]: ...
    async def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> float:
        """Wall time in seconds, for records."""
        ...

    def monotonic(self) -> float:
        """Time that never jumps, for limits."""
        ...


class Ids(Protocol):
    def new(self, prefix: str) -> str: ...
