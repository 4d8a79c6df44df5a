"""What every test shares: async tests run on asyncio, and what they start can be interrupted."""

from __future__ import annotations

import signal

import pytest

# Shells start what runs in the background with interrupts ignored, and every child inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
