"""Telling callers how their tickets went, each on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from toolcrib.stores.sqlite.ledger import Ticket


def deliver(
    batch: Sequence[Ticket],
    here: asyncio.AbstractEventLoop | None,
    tell: Callable[[Sequence[Ticket], asyncio.AbstractEventLoop], object],
) -> Sequence[Ticket]:
    """Send word to every loop but `here`, one call for each, since waking a loop is a system call; returns the rest."""
    away: dict[asyncio.AbstractEventLoop, list[Ticket]] = {}
    for ticket in batch:
        if ticket.loop is not here:
            away.setdefault(ticket.loop, []).append(ticket)
    for loop, tickets in away.items():
        try:
            loop.call_soon_threadsafe(tell, tickets, loop)
        except RuntimeError:
            if not loop.is_closed():  # a closed loop has nobody left to tell
                raise
    return [ticket for ticket in batch if ticket.loop is here] if away else batch


def answer(tickets: Sequence[Ticket]) -> None:
    """Tell those who wait on this loop, each of whom goes on at once: for a callback of the loop."""
    rest = iter(tickets)
    try:
        for ticket in rest:
            if ticket.awaited:
                ticket.say(ticket.outcome)
            else:
                _report(ticket)
    finally:
        answer_soon(rest)  # an interrupt of the program came out of one of them


def answer_soon(tickets: Iterable[Ticket]) -> None:
    """Tell those who wait on this loop after the task that is running."""
    for ticket in tickets:
        if ticket.awaited:
            ticket.say_soon(ticket.outcome)
        else:
            _report(ticket)


def _report(ticket: Ticket) -> None:
    if isinstance(ticket.outcome, Exception):
        context = {"message": "a queued unit was not committed", "exception": ticket.outcome}
        ticket.loop.call_exception_handler(context)
