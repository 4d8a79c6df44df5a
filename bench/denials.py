"""How long a denial takes when something fails: askers, hooks, rule files and the store, each beside its time limit.

`denials.py` prints one line per failure: whether the call ended denied with nothing done, and by how much it overran
its limit. It is held to 100 ms on a machine that does nothing else, and prints MISSED where one takes longer.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from toolcrib import PermissionDecision, PermissionRequest, StoreError, Toolcrib, tool
from toolcrib.values.result import ToolResult

LIMIT, GRACE = 0.4, 0.1
ROUNDS = 3
ALLOW = [{"tool": "act.now", "verdict": "allow"}]


def main() -> int:
    slow = 0
    print(f"{'what fails':56}{'ended':>22}{'limit ms':>10}{'over it ms':>12}{'held to':>9}")
    for name, (limit, case) in CASES.items():
        ended, over, done = "", 0.0, 0
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                result, spent, done = asyncio.run(case(Path(folder)))
                ended, over = str(result.reason), max(over, spent - limit)
        missed = over > GRACE or result.ok or done
        slow += bool(missed)
        over_ms = f"{over * 1000:.1f}"
        print(
            f"{name:56}{ended:>22}{limit * 1000:>10.0f}{over_ms:>12}{'≤ 100':>9}{'  MISSED' if missed else ''}"
            f"{'  ACTED' if done else ''}",
            flush=True,
        )
    return 1 if slow else 0


Ended = tuple[ToolResult, float, int]


async def called(home: Path, break_it: Callable[[], Any] | None = None, **options: Any) -> Ended:
    """One call of a tool that acts, and how often it did."""
    done: list[int] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        done.append(1)
        return "acted"

    ended: list[tuple[ToolResult, float]] = []
    with suppress(StoreError):  # what was broken is told again when it is closed
        async with Toolcrib.open(home=home, tools=[act], **options) as crib, crib.run() as run:
            broken = break_it() if break_it else None
            began = time.monotonic()
            result = await run.call("act.now")
            ended.append((result, time.monotonic() - began))
            if isinstance(broken, sqlite3.Connection):
                broken.close()
    [(result, spent)] = ended
    return result, spent, len(done)


def asking(ask: Any) -> Any:
    config = {"toolsets": [], "policy": {"default_ask_timeout_ms": int(LIMIT * 1000)}}
    return lambda home: called(home, asker=ask, config=config)


async def raises(request: PermissionRequest) -> PermissionDecision:
    raise RuntimeError("the window is closed")


async def hangs(request: PermissionRequest) -> PermissionDecision:
    await asyncio.Event().wait()
    raise AssertionError


async def holds_on(request: PermissionRequest) -> PermissionDecision:
    for _ in range(3):
        try:
            await asyncio.sleep(LIMIT * 4)
        except asyncio.CancelledError:
            continue
    return PermissionDecision("allow_once")


async def gives_nothing(request: PermissionRequest) -> Any:
    return None


def watched(hook: dict[str, Any]) -> Any:
    async def case(home: Path) -> Ended:
        entry = {**hook, "timeout_ms": int(LIMIT * 1000)}
        if code := entry.pop("code", None):
            (home / "hook.py").write_text(f"import os, signal, subprocess, sys, time\n{code}\n")
            entry["argv"] = [sys.executable, "-I", "-S", str(home / "hook.py")]
        if source := entry.pop("source", None):
            (home / "hooks").mkdir()
            (home / "hooks" / "own.py").write_text(source)
            entry["function"] = "own:hook"
        (home / "hooks.json").write_text(json.dumps({"version": 1, "hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
        return await called(home, config={"toolsets": [], "policy": {"rules": ALLOW}})

    return case


def served(behave: Callable[[socket.socket], None]) -> Any:
    async def case(home: Path) -> Ended:
        with server(behave) as port:
            return await watched({"type": "http", "url": f"http://127.0.0.1:{port}/"})(home)

    return case


@contextmanager
def server(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            try:
                while True:
                    behave(listening.accept()[0])
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


def silent(connection: socket.socket) -> None:
    time.sleep(LIMIT * 3)
    connection.close()


def drips(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(int(LIMIT * 3 / 0.05)):
        connection.sendall(b" ")
        time.sleep(0.05)


def ruled(name: str, make: Callable[[Path], object]) -> Any:
    async def case(home: Path) -> Ended:
        make(home / name)
        return await called(home, config={"toolsets": [], "policy": {"rules": ALLOW}})

    return case


def stored(break_it: Callable[[Path], object], rules: Any = ALLOW, asker: Any = None) -> Any:
    async def case(home: Path) -> Ended:
        settings = {"toolsets": [], "policy": {"rules": rules}, "store": {"busy_timeout_ms": int(LIMIT * 1000)}}
        return await called(home, lambda: break_it(home / "toolcrib.db"), config=settings, asker=asker)

    return case


async def agrees(request: PermissionRequest) -> PermissionDecision:
    return PermissionDecision("allow_for_session")


def locked(place: Path) -> sqlite3.Connection:
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    return other


def overwritten(place: Path) -> None:
    for file in place.parent.glob("toolcrib.db*"):
        file.write_bytes(b"\xff" * 8_192)


CASES: dict[str, tuple[float, Any]] = {
    "asker: nobody": (0, asking(None)),
    "asker: raises": (0, asking(raises)),
    "asker: gives no decision": (0, asking(gives_nothing)),
    "asker: hangs": (LIMIT, asking(hangs)),
    "asker: hangs and cannot be cancelled": (LIMIT, asking(holds_on)),
    "command hook: exits with 1": (LIMIT, watched({"type": "command", "code": "sys.exit(1)"})),
    "command hook: hangs": (LIMIT, watched({"type": "command", "code": "time.sleep(60)"})),
    "command hook: hangs and ignores signals": (
        LIMIT, watched({"type": "command", "code": "signal.signal(15, signal.SIG_IGN); time.sleep(60)"}),
    ),
    "command hook: its child keeps the pipe": (
        LIMIT,
        watched({"type": "command", "code": "subprocess.Popen(['sleep', '9'], start_new_session=True); time.sleep(9)"}),
    ),
    "command hook: writes without end": (
        LIMIT, watched({"type": "command", "code": "while True: sys.stdout.write('x' * 65536)"}),
    ),
    "python hook: raises": (0, watched({"type": "python", "source": "def hook(o): raise ValueError('no')"})),
    "python hook: blocks": (LIMIT, watched({"type": "python", "source": "import time\ndef hook(o): time.sleep(2)"})),
    "python hook: cannot be cancelled": (
        LIMIT,
        watched({"type": "python", "source": "import asyncio\nasync def hook(o):\n    for _ in range(3):\n"
                 "        try: await asyncio.sleep(1)\n        except asyncio.CancelledError: pass"}),
    ),
    "http hook: nobody listens": (0, watched({"type": "http", "url": "http://127.0.0.1:1/"})),
    "http hook: silent": (LIMIT, served(silent)),
    "http hook: drips": (LIMIT, served(drips)),
    "hooks.json: broken": (0, ruled("hooks.json", lambda place: place.write_text("{"))),
    "hooks.json: a folder": (0, ruled("hooks.json", Path.mkdir)),
    "hooks.json: a pipe": (0, ruled("hooks.json", lambda place: os.mkfifo(place))),
    "policy.toml: broken": (0, ruled("policy.toml", lambda place: place.write_text("[[rules]\n"))),
    "policy.toml: a folder": (0, ruled("policy.toml", Path.mkdir)),
    "policy.toml: a pipe": (0, ruled("policy.toml", lambda place: os.mkfifo(place))),
    "policy.toml: too large": (0, ruled("policy.toml", lambda place: place.write_bytes(b"#" * 100_000_000))),
    "store: locked by another": (LIMIT, stored(locked)),
    "store: locked, and a person said yes": (LIMIT, stored(locked, [], agrees)),
    "store: locked, and the question cannot be kept": (LIMIT, stored(locked, [], "inbox")),
    "store: overwritten": (LIMIT, stored(overwritten)),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
