"""Entries of servers for the tests, and who allows their calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from toolcrib import PermissionDecision, PermissionRequest, Toolcrib

HOSTILE = Path(__file__).parent / "hostile.py"
Open = Callable[..., AbstractAsyncContextManager[Toolcrib]]


def hostile(how: str = "", note: Path | None = None, **more: object) -> dict[str, object]:
    """The entry of a server that misbehaves like this."""
    return {"command": sys.executable, "args": [str(HOSTILE), how, *([str(note)] if note else [])], **more}


async def allow(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_once")
