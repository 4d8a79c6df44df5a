"""The keys of the inbox: how long a question waits, and who hears of it."""

from __future__ import annotations

from toolcrib.config.keys import key
from toolcrib.config.kinds import flag, integer, items, text
from toolcrib.config.narrowing import lower, never
from toolcrib.values.noun import frozen

DAY_SECONDS = 86_400
WORD = text("a word of a command", r"[^\0]+")
URL = text("an address that begins with http:// or https://, or nothing", r"(https?://[^\s@]+)?")


@frozen(kw_only=True)
class Approvals:
    """Questions that wait in the inbox, and who hears of them."""

    expires_seconds: int = key(
        integer(1, 365 * DAY_SECONDS),
        DAY_SECONDS,
        lower(),
        "How long a question in the inbox waits for an answer; after that its call is denied.",
        "s",
    )
    bell: bool = key(flag(), False, never(), "Whether the terminal rings when a question comes into the inbox.")
    command: tuple[str, ...] = key(
        items(WORD),
        (),
        never(),
        "A command, word by word, that is run for every question in the inbox; it finds it in TOOLCRIB_* variables.",
        example='[approvals]\ncommand = ["notify-send", "Toolcrib asks"]',
    )
    webhook: str = key(URL, "", never(), "An address to which every question in the inbox is posted as JSON.")
    notify_timeout_ms: int = key(
        integer(1, 60_000), 10_000, lower(), "How long the command or the webhook may take before it is given up.", "ms"
    )
