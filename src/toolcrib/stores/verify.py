"""Verification: walk the whole chain, link by link, and name everything that is not as it was committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from toolcrib.ports import Fault, Verification
from toolcrib.stores.chain import GENESIS, NOTED_EVERY, Head, Link, events_of, is_intact
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import StoreError

_BEFORE_ALL = -(2**63)
_AT_ONCE = 500
_MOST_FAULTS = 1000
_HASH_DIGITS = 64


class Chain(Protocol):
    """What verification needs to see of a store."""

    def ends(self) -> tuple[Head | None, Head]:
        """The head as it was noted last, and the newest event, both of one moment."""
        ...

    def links(self, after: int, limit: int) -> Sequence[Link]: ...
    def purges(self) -> Sequence[Link]: ...
    def misfiled(self) -> int | None:
        """The first event that would not be found where its session or call is looked up."""
        ...

    def broken_runs(self) -> Iterable[tuple[str, int]]:
        """Runs whose own numbering has gaps, each with the sequence number of its first event."""
        ...


@frozen
class Purge:
    """A recorded erasure: which payloads may be missing."""

    session_id: str | None
    before: float | None
    through: int

    def covers(self, erased: Link) -> bool:
        session_id, created_at = erased.facts[0], erased.facts[7]
        return (  # what was committed together is erased together
            erased.seq <= self.through
            and self.session_id in (None, session_id)
            and (self.before is None or created_at < self.before)
        )


def verify(chain: Chain, expect: str | None) -> Verification:
    """Check every link up to the newest of this moment, in constant memory."""
    expected = parse_head(expect) if expect is not None else None
    noted, tip = chain.ends()
    if noted is None:
        return Verification(0, 0, "0:", (Fault(0, "the head of the chain is missing"),))
    walk = _Walk(tuple(_purge(stored) for stored in chain.purges()), noted, expected)
    after = _BEFORE_ALL
    while after < tip.seq and len(walk.faults) < _MOST_FAULTS:
        links = chain.links(after, _AT_ONCE)
        for stored in links:
            if stored.seq <= tip.seq:
                walk.step(stored)
        if not links:
            break
        after = links[-1].seq
    walk.arrive()
    for run_id, seq in chain.broken_runs():
        walk.fault(seq, f"the events of run {run_id} are not numbered 1, 2, 3 …")
    misfiled = chain.misfiled()
    if misfiled is not None:
        walk.fault(misfiled, "is not found among the events of its session")
    return Verification(walk.events, walk.erased, str(walk.last), tuple(walk.faults))


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
    def __init__(self, purges: tuple[Purge, ...], noted: Head, expected: Head | None) -> None:
        self.faults: list[Fault] = []
        self.events = 0
        self.erased = 0
        self.last = Head(0, GENESIS)
        self._purges = purges
        self._noted = noted
        self._expected = expected

    def step(self, stored: Link) -> None:
        previous = self.last
        wanted, size = previous.seq + 1, stored.size
        first = stored.seq - size + 1
        if first > wanted:
            missing = f"event {wanted} is" if first == wanted + 1 else f"events {wanted} to {first - 1} are"
            self.fault(wanted, f"{missing} missing")
        elif first < wanted:
            self.fault(stored.seq, "an event that was never committed stands before the first, or among others")
        self._check(stored, previous.hash if first == wanted else stored.prev_hash or GENESIS)
        self.events += size
        self.last = Head(stored.seq, _bytes(stored.hash))

    def arrive(self) -> None:
        end, noted = self.last.seq, self._noted.seq
        if end < noted:
            self.fault(end + 1, f"events {end + 1} to {noted} are missing at the end")
        elif end - noted >= NOTED_EVERY:
            self.fault(noted + 1, f"the head was noted at {noted}, which is further behind {end} than it can be")
        if self._expected is not None and self._expected.seq > end:
            self.fault(end + 1, f"the chain was cut: it ended at {self._expected.seq}, now at {end}")

    def fault(self, seq: int, problem: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(Fault(seq, problem))

    def _check(self, stored: Link, prev_hash: bytes) -> None:
        if not is_intact(stored, prev_hash):
            self.fault(stored.seq - stored.size + 1, _changed(stored))
        elif stored.salted is None:
            self.erased += stored.size
            if not any(purge.covers(stored) for purge in self._purges):
                self.fault(stored.seq, "its payload was erased without a recorded purge")
        if stored.seq == self._noted.seq and stored.hash != self._noted.hash:
            self.fault(stored.seq, "is not the event whose hash was noted as the head")
        expected = self._expected
        if (
            expected is not None
            and stored.seq - stored.size < expected.seq <= stored.seq
            and stored.hash_at(expected.seq) != expected.hash
        ):
            self.fault(expected.seq, "is not the event that was expected at this place")


def _changed(stored: Link) -> str:
    if stored.size == 1:
        return "was changed, or does not follow the event before it"
    first = stored.seq - stored.size + 1
    return f"events {first} to {stored.seq}, committed together, were changed, or do not follow the event before them"


def _bytes(stored: object) -> bytes:
    """A hash as it was read; a changed row may hold anything in its place."""
    return stored if isinstance(stored, bytes) else b""


def _purge(stored: Link) -> Purge:
    """The rule of a purge record; one that cannot be read excuses nothing (and is found as changed by the walk)."""
    nothing = Purge(None, None, 0)
    try:
        rule = events_of(stored)[-1].payload
    except (ValueError, TypeError, AttributeError):
        return nothing
    if rule is None:
        return nothing
    session_id, before, through = rule.get("session_id"), rule.get("before"), rule.get("through")
    if not isinstance(through, int):
        return nothing
    return Purge(
        session_id if isinstance(session_id, str) else None,
        before if isinstance(before, (int, float)) else None,
        min(through, stored.seq),
    )
