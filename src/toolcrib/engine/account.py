"""A session's account: what its runs used up and what they have read, kept with the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.policy.budget import Spending, check_spending
from toolcrib.ports import Store, Unit
from toolcrib.values.context import Document
from toolcrib.values.event import EventType, Level
from toolcrib.values.json import Json, JsonObject
from toolcrib.values.spec import ToolType

if TYPE_CHECKING:
    from toolcrib.engine.flight import Flight
    from toolcrib.engine.run import Run
    from toolcrib.values.spec import ToolSpec

KIND = "account"
PREPAID_CALLS = 16
READ_SENSITIVE = "read_sensitive"
READ_UNTRUSTED = "read_untrusted"


@dataclass(slots=True, eq=False)
class Account:
    """Shared by the runs of a session. `marks` say what they have read; only a new session is without them again."""

    session_id: str
    spending: Spending = field(default_factory=Spending)
    marks: set[str] = field(default_factory=set[str])
    prepaid: int = 0
    """Calls that are on record as spent; a crash loses the difference, never the record."""
    version: int = 0

    def document(self) -> Document:
        spent = self.spending
        body: dict[str, Json] = {
            "calls": max(spent.calls, self.prepaid),
            "seconds": round(spent.seconds, 3),
            "tokens": spent.tokens,
            "money": spent.money,
            "marks": sorted(self.marks),
        }
        made = Document(KIND, self.session_id, body, self.version)
        self.version += 1
        return made


async def load_account(store: Store, session_id: str) -> Account:
    """The account as the session's last owner left it."""
    kept = await store.load(KIND, session_id)
    if kept is None or not isinstance(kept.body, Mapping):
        return Account(session_id)
    marks = kept.body.get("marks")
    held = {str(mark) for mark in marks} if isinstance(marks, (list, tuple)) else set[str]()
    spent = Spending.of(kept.body)
    return Account(session_id, spent, held, spent.calls, kept.version)


def check_budget(run: Run) -> None:
    """Charge a call to a run and its session, or refuse it because something is used up."""
    runtime, account, spent = run.runtime, run.account, run.spending
    spent.calls = run.calls
    spent.seconds = runtime.clock.monotonic() - run.began
    check_spending(spent, run.allowance, "run")
    allowed = runtime.session_allowance
    if not allowed:
        return
    total = account.spending
    total.calls += 1
    if total.calls > account.prepaid and allowed.calls:
        account.prepaid = total.calls + PREPAID_CALLS - 1
        run.runtime.store.queue(Unit((), run.ownership, (account.document(),)))
    check_spending(Spending(total.calls, total.seconds + spent.seconds, total.tokens, total.money), allowed, "session")


def charge_kin(run: Run) -> None:
    """A call of a child, or inside one, counts for every child on the way up that has limits of its own."""
    while run.parent is not None:
        if run.allowance:
            run.calls += 1
            run.spending.calls = run.calls
            run.spending.seconds = run.runtime.clock.monotonic() - run.began
            check_spending(run.spending, run.allowance, "run")
        run = run.parent


def look_at_budget(run: Run) -> None:
    """Refuse when anything is used up, without charging a call."""
    spent, total = run.spending, run.account.spending
    seconds = run.runtime.clock.monotonic() - run.began
    for used, allowed, whose in (
        (Spending(run.calls + 1, seconds, spent.tokens, spent.money), run.allowance, "run"),
        (
            Spending(total.calls + 1, total.seconds + seconds, total.tokens, total.money),
            run.runtime.session_allowance,
            "session",
        ),
    ):
        check_spending(used, allowed, whose)


def spend(run: Run, tokens: int, money: float) -> None:
    """Charge tokens and money to a run, everybody above it, and its session, on record."""
    while run.parent is not None:
        run.spending.tokens += tokens
        run.spending.money += money
        run = run.parent
    for spent in (run.spending, run.account.spending):
        spent.tokens += tokens
        spent.money += money
    payload: JsonObject = {"tokens": tokens, "money": money, "run_tokens": run.spending.tokens}
    draft = run.draft(EventType.BUDGET_SPENT, None, {**payload, "run_money": run.spending.money})
    run.runtime.store.queue(Unit((draft,), run.ownership, (run.account.document(),)))


def settle_account(run: Run) -> None:
    """At the end of a run: put its time on the session's account, and give back calls that were paid in advance."""
    account = run.account
    if not run.runtime.session_allowance and not account.version:
        return
    account.spending.seconds += run.runtime.clock.monotonic() - run.began
    account.prepaid = account.spending.calls
    run.runtime.store.queue(Unit((), run.ownership, (account.document(),)))


def mark(run: Run, marks: frozenset[str], flight: Flight) -> None:
    """Remember for good what kind of thing was read, on record before the result is."""
    account = run.account
    if not (new := marks - account.marks):
        return
    account.marks |= new
    payload: JsonObject = {"marks": sorted(new), "name": flight.call.name}
    draft = run.draft(EventType.RUN_MARKED, flight.call_id, payload, Level.NOTICE)
    run.runtime.store.queue(Unit((draft,), run.ownership, (account.document(),)))


def marks_of(flight: Flight, metadata: JsonObject) -> frozenset[str]:
    """What a call that ran has read: from its targets, its source, and what the tool itself says of the result."""
    slot, permit = flight.slot, flight.permit
    found: set[str] = set()
    if permit is not None and any("sensitive" in target.marks for target in permit.invocation.targets):
        found.add(READ_SENSITIVE)
    if slot is not None and slot.untrusted:
        found.add(READ_UNTRUSTED)
    if metadata.get("sensitive") is True:
        found.add(READ_SENSITIVE)
    if metadata.get("untrusted") is True:
        found.add(READ_UNTRUSTED)
    return frozenset(found)


def is_untrusted(spec: ToolSpec) -> bool:
    """Whether what a tool returns was written by strangers."""
    return (
        spec.network or "mcp" in spec.tags or spec.tool_type is ToolType.MCP or spec.metadata.get("untrusted") is True
    )


def is_polling(spec: ToolSpec) -> bool:
    """Whether a tool is meant to be called again and again until something happens."""
    return "polling" in spec.tags or spec.metadata.get("polling") is True
