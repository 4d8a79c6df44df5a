"""Sessions and their owners, as work inside a transaction. Each change of owner is an event, so it moves the head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolcrib.ports import Fenced, SessionBusy
from toolcrib.stores import statements as sql
from toolcrib.stores.chain import CLAIMED, RELEASED, Sealed, seal
from toolcrib.stores.owners import is_gone
from toolcrib.stores.sqlite.ledger import Ledger, Work
from toolcrib.values.event import Draft
from toolcrib.values.identity import Ownership


def claiming(
    session_id: str, agent_id: str, project: str, owner: str, ttl: float, now: float, tell: Callable[[Ownership], None]
) -> Work:
    """Create the session, or take it over when nobody holds it any more; `tell` hears the result."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        execute = ledger.connection.execute
        row = execute(sql.READ_LEASE, (session_id,)).fetchone()
        if row is None:
            epoch, before = 1, None
            execute(sql.ADD_SESSION, (session_id, agent_id, project, owner, now + ttl, now))
        else:
            before, epoch = row[0], int(row[1]) + 1
            if before is not None and row[2] > now and not is_gone(before):
                raise SessionBusy(
                    f"session {session_id} is owned by {before} for another {row[2] - now:.0f} s; wait, or use another"
                )
            execute(sql.TAKE_SESSION, (owner, epoch, now + ttl, agent_id, project, session_id))
            execute(sql.DROP_GRANTS, (session_id,))
        ledger.forget_owner(session_id)
        tell(Ownership(session_id, owner, epoch))
        payload = {"owner": owner, "epoch": epoch, "taken_from": before}
        return seal([Draft(CLAIMED, session_id, agent_id=agent_id, payload=payload)], now)

    return work


def renewing(ownership: Ownership, ttl: float, now: float) -> Work:
    """Prolong a lease that was not taken over. No event: the owner stays the same."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        parts = (now + ttl, ownership.session_id, ownership.owner, ownership.epoch)
        if ledger.connection.execute(sql.RENEW_LEASE, parts).rowcount == 0:
            raise _lost(ownership)
        return ()

    return work


def releasing(ownership: Ownership, state: str, now: float) -> Work:
    """Give the session up, in the given state."""

    def work(ledger: Ledger) -> Sequence[Sealed]:
        parts = (state, ownership.session_id, ownership.owner, ownership.epoch)
        if ledger.connection.execute(sql.RELEASE_LEASE, parts).rowcount == 0:
            raise _lost(ownership)
        ledger.connection.execute(sql.DROP_GRANTS, (ownership.session_id,))
        ledger.forget_owner(ownership.session_id)
        payload = {"owner": ownership.owner, "epoch": ownership.epoch, "state": state}
        return seal([Draft(RELEASED, ownership.session_id, payload=payload)], now)

    return work


def _lost(ownership: Ownership) -> Fenced:
    return Fenced(f"session {ownership.session_id} is no longer owned by {ownership.owner} (epoch {ownership.epoch})")
