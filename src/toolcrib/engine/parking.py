"""Calls that wait for a person by way of the store: parked without a result, a lane or a task of their own.

A parked call is settled anew once there is an answer, from the effective set to the gate. The answer is bound to its
call, its arguments and its tool's fingerprint, and it is used by the owner of the session alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolcrib.engine.request import request_for, shown_targets
from toolcrib.engine.steadfast import unstoppable
from toolcrib.engine.watchers import requested
from toolcrib.policy.verdict import Decision
from toolcrib.ports import Asker, Notifier, NotPending, Question, QuestionState, Store, Unit
from toolcrib.values.call import Invocation
from toolcrib.values.event import EventType, Level
from toolcrib.values.identity import Principal, Standing
from toolcrib.values.json import Json, JsonObject, canonical
from toolcrib.values.permission import PermissionDecision, PermissionRequest, request_json
from toolcrib.values.refusal import Reason, Refusal, StoreError, ToolcribError
from toolcrib.values.target import Target

if TYPE_CHECKING:
    from toolcrib.engine.effective import Slot
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run

POLL_SECONDS = 0.25
GATHER_SECONDS = 0.02
NOTIFY_SECONDS = 30.0
CALLBACK = Principal("callback", Standing.CALLBACK)
APPROVERS = frozenset(Standing) - {Standing.AGENT}


class Parked(ToolcribError):
    """The call waits for a person, so it has no result yet; the identical call collects it, here or after a restart."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"pending {question.request.request_id}")
        self.question = question


@dataclass(slots=True, eq=False)
class Parking:
    """What all parked calls of a process share: how long a question lives, who hears of it, and one look-out."""

    store: Store
    expires: float
    notifiers: tuple[tuple[str, Notifier], ...] = ()
    callback: Asker | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _waiting: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _lookout: asyncio.Task[None] | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _failure: StoreError | None = None

    def register(self, request_id: str) -> asyncio.Event:
        """An event that is set once the question may have been decided."""
        decided = self._waiting[request_id] = asyncio.Event()
        if self._lookout is None or self._lookout.done():
            self._failure = None
            self._lookout = asyncio.create_task(self._look_out())
        return decided

    def dismiss(self, request_id: str) -> None:
        self._waiting.pop(request_id, None)

    def check(self) -> None:
        """Raise what made the look-out give up."""
        if self._failure is not None:
            raise self._failure

    def tell(self, question: Question, run: Run) -> None:
        """Let somebody know; nothing waits for it."""
        for name, notifier in self.notifiers:
            self._spawn(self._notify(name, notifier, question, run))
        if self.callback is not None:
            self._spawn(self._call_back(self.callback, question, run))

    async def told(self) -> None:
        """Wait until everybody who is being told of questions has been, or could not be."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def close(self) -> None:
        for task in (*self._tasks, *((self._lookout,) if self._lookout else ())):
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _notify(self, name: str, notifier: Notifier, question: Question, run: Run) -> None:
        try:
            async with asyncio.timeout(NOTIFY_SECONDS):
                await notifier(question.request)
        except Exception as error:
            payload: JsonObject = {"notification": name, "problem": f"{type(error).__name__}: {error}"[:500]}
            run.note(EventType.NOTE, question.request.call_id, payload, Level.WARNING)

    async def _call_back(self, callback: Asker, question: Question, run: Run) -> None:
        """Ask the program's own callback too; the first answer counts, from wherever it comes."""
        request = question.request
        try:
            async with self._turn:  # one after the other, as a person at one terminal needs it
                if (await fresh(question, run)).state is not QuestionState.PENDING:
                    return
                decision = await call_asker(callback, request)
            if not isinstance(decision, PermissionDecision):
                raise TypeError(f"the asker gave {type(decision).__name__} instead of a PermissionDecision")
            await self.store.answer(request.request_id, decision, getattr(callback, "principal", CALLBACK))
        except NotPending:
            return
        except Exception as error:
            problem = f"asking failed: {type(error).__name__}: {error}; the question stays in the inbox"
            run.note(EventType.PERMISSION_FAILED, request.call_id, {"problem": problem}, Level.WARNING)

    async def _look_out(self) -> None:
        """One look for all who wait: at once after a commit of this process, else a few times a second."""
        stirred = asyncio.Event()
        stop = self.store.subscribe(lambda _: stirred.set())
        seen = -1
        try:
            while self._waiting:
                newest = await self.store.changed()
                if newest != seen:
                    seen = newest
                    await self._wake()
                await _pause(stirred)
                stirred.clear()
        except StoreError as error:
            self._failure = error
            for decided in self._waiting.values():
                decided.set()
        finally:
            stop()

    async def _wake(self) -> None:
        pending = await self.store.questions(session_id=None, state=QuestionState.PENDING, limit=10_000)
        still = {question.request.request_id for question in pending}
        for request_id, decided in self._waiting.items():
            if request_id not in still:
                decided.set()


async def park(slot: Slot, invocation: Invocation, decision: Decision, flight: Flight, run: Run) -> Parked:
    """Put the question into the inbox, on record; what comes back is to be raised."""
    parking = run.runtime.parking
    assert parking is not None
    request = request_for(slot, invocation, decision, flight, run, parking.expires)
    await requested(slot, request, run)
    salt = secrets.token_hex(16)
    question = Question(
        request=request,
        digest=digest_of(salt, invocation.arguments),
        salt=salt,
        epoch=0 if run.ownership is None else run.ownership.epoch,
        call=_call_json(invocation, run),
        created_at=run.runtime.clock.now(),
    )
    unit = Unit((run.draft(EventType.PERMISSION_ASKED, request.call_id, request_json(request)),), run.ownership)
    asking = asyncio.ensure_future(run.runtime.store.ask(question, unit))
    try:
        cancelled = await unstoppable(asking)
    except StoreError as error:
        raise unkept(invocation.tool.name, error) from error
    if cancelled:
        await run.runtime.store.end_question(request.request_id, QuestionState.WITHDRAWN)
        raise asyncio.CancelledError
    parking.tell(question, run)
    return Parked(question)


async def fresh(question: Question, run: Run) -> Question:
    """The question as it stands now; one whose time is over is expired here, if nobody was faster."""
    store, request_id = run.runtime.store, question.request.request_id
    found = await store.question(request_id)
    if found is None:
        raise StoreError(f"the question {request_id} is gone")
    if found.state is QuestionState.PENDING and found.request.expires_at <= run.runtime.clock.now():
        found = await store.end_question(request_id, QuestionState.EXPIRED) or found
    return found


def check_binding(question: Question, invocation: Invocation, run: Run) -> None:
    """An answer holds for the call, the arguments, the tool and the things that the person saw, or not at all."""
    request = question.request
    if request.fingerprint != invocation.tool.fingerprint:
        message = f"{invocation.tool.name} changed after permission was asked, so the answer does not hold for it"
        raise Refusal(Reason.CONTRACT_DRIFT, message, {"was": request.fingerprint, "is": invocation.tool.fingerprint})
    same = digest_of(question.salt, invocation.arguments) == question.digest
    now = [_facts(target) for target in shown_targets(invocation.targets, run)]
    if request.call_id != invocation.call_id or not same or now != [_facts(target) for target in request.targets]:
        raise changed(invocation)
    if question.answer is not None and (question.principal or "").partition(":")[0] not in APPROVERS:
        message = f"{invocation.tool.name} was answered for by {question.principal}, who has no right to approve"
        raise Refusal(Reason.PERMISSION_DENIED, message)


def changed(invocation: Invocation) -> Refusal:
    """What a call is told when the answer was about something else."""
    return Refusal(
        Reason.PERMISSION_DENIED,
        f"what {invocation.tool.name} would touch changed while permission was asked; call it again",
    )


def unkept(tool: str, error: StoreError) -> Refusal:
    """What a call is told whose question or answer cannot be kept."""
    message = f"{tool} was not permitted: the question and its answer could not be recorded ({error})"
    return Refusal(Reason.PERMISSION_DENIED, message)


def digest_of(salt: str, arguments: Json) -> str:
    """The arguments as a digest that says nothing to those who do not know the salt."""
    return hashlib.blake2b(canonical(arguments).encode(), key=bytes.fromhex(salt), digest_size=32).hexdigest()


def _call_json(invocation: Invocation, run: Run) -> JsonObject:
    """What has to be settled once there is an answer, as far as it may be kept."""
    shown, found = run.runtime.redactor.json(invocation.arguments)
    return {
        "id": invocation.call_id,
        "name": invocation.tool.name,
        "arguments": shown,
        "redacted": found,
        "repaired": invocation.call.repaired,
        "via": invocation.call.via,
        "parent_call": run.parent_call,
    }


def _facts(target: Target) -> tuple[str, str, frozenset[str]]:
    return target.kind.value, target.value, target.marks


async def call_asker(asker: Asker, request: PermissionRequest) -> object:
    """What an asker gives, whatever that is."""
    return await asker(request)


async def _pause(stirred: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(POLL_SECONDS):
            await stirred.wait()
    except TimeoutError:
        return
    await asyncio.sleep(GATHER_SECONDS)
