"""Verification: walk the whole chain, link by link, and name everything that is not as it was committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolcrib.ports import Fault, Verification
from toolcrib.stores.chain import GENESIS, Head, Link, decode, is_intact
from toolcrib.values.refusal import StoreError

_BEFORE_ALL = -(2**63)
_AT_ONCE = 500
_MOST_FAULTS = 1000
_HASH_DIGITS = 64


class Chain(Protocol):
    """What verification needs to see of a store."""

    def head(self) -> Head | None: ...
    def links(self, after: int, limit: int) -> Sequence[Link]: ...
    def purges(self) -> Sequence[Link]: ...
    def last(self) -> tuple[int, int]:
        """The head's sequence number and the newest event's, both of one moment."""
        ...

    def misfiled(self) -> int | None:
        """The first event that would not be found where its session or call is looked up."""
        ...

    def broken_runs(self) -> Iterable[tuple[str, int]]:
        """Runs whose own numbering has gaps, each with the sequence number of its first event."""
        ...


@dataclass(frozen=True, slots=True)
class Purge:
    """A recorded erasure: which payloads may be missing."""

    session_id: str | None
    before: float | None
    through: int

    def covers(self, erased: Link) -> bool:
        return (
            erased.seq <= self.through
            and self.session_id in (None, erased.session_id)
            and (self.before is None or erased.created_at < self.before)
        )


def verify(chain: Chain, expect: str | None) -> Verification:
    """Check every link up to the head of this moment, in constant memory."""
    expected = parse_head(expect) if expect is not None else None
    head = chain.head()
    if head is None:
        return Verification(0, 0, "0:", (Fault(0, "the head of the chain is missing"),))
    walk = _Walk(tuple(_purge(stored) for stored in chain.purges()), expected)
    after = _BEFORE_ALL
    while after < head.seq and len(walk.faults) < _MOST_FAULTS:
        links = chain.links(after, _AT_ONCE)
        for stored in links:
            if stored.seq <= head.seq:
                walk.step(stored)
        if not links:
            break
        after = links[-1].seq
    walk.arrive(head)
    for run_id, seq in chain.broken_runs():
        walk.fault(seq, f"the events of run {run_id} are not numbered 1, 2, 3 …")
    misfiled = chain.misfiled()
    if misfiled is not None:
        walk.fault(misfiled, "is not found among the events of its session")
    head_seq, last_seq = chain.last()
    if last_seq > head_seq:
        walk.fault(head_seq + 1, f"events {head_seq + 1} to {last_seq} were added after the head")
    return Verification(walk.events, walk.erased, str(head), tuple(walk.faults))


def parse_head(text: str) -> Head:
    """Read `SEQ:HASH` as an earlier verification printed it."""
    number, _, digits = text.strip().partition(":")
    try:
        if len(digits) == _HASH_DIGITS:
            return Head(int(number), bytes.fromhex(digits))
    except ValueError:
        pass
    raise StoreError(f"{text!r} is not a head; expected SEQ:HASH as `toolcrib sessions verify` prints it")


class _Walk:
    def __init__(self, purges: tuple[Purge, ...], expected: Head | None) -> None:
        self.faults: list[Fault] = []
        self.events = 0
        self.erased = 0
        self._purges = purges
        self._expected = expected
        self._previous = Head(0, GENESIS)

    def step(self, stored: Link) -> None:
        previous = self._previous
        wanted = previous.seq + 1
        if stored.seq > wanted:
            missing = f"event {wanted} is" if stored.seq == wanted + 1 else f"events {wanted} to {stored.seq - 1} are"
            self.fault(wanted, f"{missing} missing")
        elif stored.seq < wanted:
            self.fault(stored.seq, "an event that was never committed stands before the first")
        self._check(stored, previous.hash if stored.seq == wanted else stored.prev_hash or GENESIS)
        self.events += 1
        self._previous = Head(stored.seq, stored.hash)

    def arrive(self, head: Head) -> None:
        last = self._previous
        if last.seq < head.seq:
            self.fault(last.seq + 1, f"events {last.seq + 1} to {head.seq} are missing at the end")
        elif last != head:
            self.fault(head.seq, "the head is not the hash of the last event")
        if self._expected is not None and self._expected.seq > head.seq:
            self.fault(head.seq + 1, f"the chain was cut: it ended at {self._expected.seq}, now at {head.seq}")

    def fault(self, seq: int, problem: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(Fault(seq, problem))

    def _check(self, stored: Link, prev_hash: bytes) -> None:
        if not is_intact(stored, prev_hash):
            self.fault(stored.seq, "was changed, or does not follow the event before it")
        elif stored.payload is None:
            self.erased += 1
            if not any(purge.covers(stored) for purge in self._purges):
                self.fault(stored.seq, "its payload was erased without a recorded purge")
        if self._expected is not None and stored.seq == self._expected.seq and stored.hash != self._expected.hash:
            self.fault(stored.seq, "is not the event that was expected at this place")


def _purge(stored: Link) -> Purge:
    """The rule of a purge record; one that cannot be read excuses nothing (and is found as changed by the walk)."""
    nothing = Purge(None, None, 0)
    try:
        rule = decode(stored.payload) if stored.payload is not None else None
    except (ValueError, TypeError):
        return nothing
    if not isinstance(rule, Mapping):
        return nothing
    session_id, before, through = rule.get("session_id"), rule.get("before"), rule.get("through")
    if not isinstance(through, int):
        return nothing
    return Purge(
        session_id if isinstance(session_id, str) else None,
        before if isinstance(before, (int, float)) else None,
        min(through, stored.seq),
    )
