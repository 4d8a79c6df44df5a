"""Who is asked: an asker by name or as it is, or the inbox with everybody who hears of its questions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

from toolcrib.askers.inbox import InboxAsker
from toolcrib.engine.parking import Parking
from toolcrib.ports import Asker, Notifier
from toolcrib.values.refusal import ConfigError

if TYPE_CHECKING:
    from toolcrib.config import Config
    from toolcrib.engine.runtime import Runtime

Asking = Asker | InboxAsker | Literal["terminal", "deny", "inbox"] | None
"""What `Toolcrib.open` takes for `asker`."""


def seat_asker(asking: Asking, settings: Config, runtime: Runtime) -> None:
    """Let the runtime ask as the caller wants; without anything nobody can be asked, and what asks is denied."""
    if asking == "inbox":
        asking = InboxAsker()
    if isinstance(asking, InboxAsker):
        notifiers = (*_configured(settings), *asking.notifiers)
        expires = float(settings.approvals.expires_seconds)
        runtime.parking = Parking(runtime.store, expires, notifiers, asking.callback)
    elif isinstance(asking, str):
        runtime.asker = _named(asking)
    elif asking is None or callable(asking):
        runtime.asker = asking
    else:
        raise ConfigError(f"{type(asking).__name__} is not an asker: give an async function, or a name such as 'inbox'")


def _named(name: str) -> Asker:
    if name == "terminal":
        from toolcrib.askers.terminal import TerminalAsker  # it needs a Unix terminal, which others need not have

        return TerminalAsker(sys.stdin, sys.stderr)
    if name == "deny":
        from toolcrib.askers.deny import deny

        return deny
    raise ConfigError(f"{name!r} is not an asker: use terminal, deny or inbox, or give an async function")


def _configured(settings: Config) -> list[tuple[str, Notifier]]:
    approvals = settings.approvals
    if not (approvals.bell or approvals.command or approvals.webhook):
        return []
    from toolcrib.askers.notify import Bell, CommandNotifier, Webhook

    seconds = approvals.notify_timeout_ms / 1_000
    found: list[tuple[str, Notifier]] = []
    if approvals.bell:
        found.append(("bell", Bell(sys.stderr)))
    if approvals.command:
        found.append(("command", CommandNotifier(approvals.command, seconds, os.environ)))
    if approvals.webhook:
        from toolcrib.assemble.judging import network_rules
        from toolcrib.network import Reach

        found.append(("webhook", Webhook(approvals.webhook, seconds, Reach(network_rules(settings)))))
    return found
