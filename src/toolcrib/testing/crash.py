"""Crashes on purpose: end the process at a named point, as `kill -9` would."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def crash_at(point: str, after: int = 0) -> Callable[[str], None]:
    """A hook for the store's crash points: lets the named point pass `after` times, then kills this process."""
    passed = 0

    def crash(name: str) -> None:
        nonlocal passed
        if name != point:
            return
        if passed >= after:
            os.kill(os.getpid(), signal.SIGKILL)
        passed += 1

    return crash
