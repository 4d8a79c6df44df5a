"""Moments as people write them: a date, a date with a time, an age, or now."""

from __future__ import annotations

import re
from datetime import datetime

import click

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(text: str, now: float) -> float:
    """Seconds since 1970. A date means its first moment, in local time unless it says otherwise."""
    if text == "now":
        return now
    if age := re.fullmatch(r"([0-9]{1,6})([smhdw])", text):
        return now - int(age[1]) * _UNITS[age[2]]
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is not a moment; write 2026-01-31, 2026-01-31T18:00, 90d, 12h or now", param_hint="'--before'"
        ) from None
