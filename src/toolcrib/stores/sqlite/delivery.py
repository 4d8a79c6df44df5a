"""Telling callers how their tickets went, each on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolcrib.stores.sqlite.ledger import Ticket


def deliver(batch: Sequence[Ticket], here: asyncio.AbstractEventLoop | None) -> None:
    """Answer those of the running loop `here` at once; else one call per loop, since waking a loop is a system call."""
    away: dict[asyncio.AbstractEventLoop, list[Ticket]] = {}
    for ticket in batch:
        if ticket.loop is here:
            _answer(ticket)
        else:
            away.setdefault(ticket.loop, []).append(ticket)
    for loop, tickets in away.items():
        try:
            loop.call_soon_threadsafe(_answer_all, tickets)
        except RuntimeError:
            if not loop.is_closed():  # a closed loop has nobody left to tell
                raise


def _answer_all(tickets: Sequence[Ticket]) -> None:
    for ticket in tickets:
        _answer(ticket)


def _answer(ticket: Ticket) -> None:
    future, outcome = ticket.future, ticket.outcome
    if future is None:
        if isinstance(outcome, Exception):
            ticket.loop.call_exception_handler({"message": "a queued unit was not committed", "exception": outcome})
    elif not future.done():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
