"""Whatever goes wrong with a hook ends denied, in time and with nothing done, unless the hook is lenient."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from tests.hooks.conftest import Home

from toolcrib import Refusal

pytestmark = pytest.mark.anyio
LIMIT_MS = 700
"""Enough for a program to start on a busy machine."""

COMMANDS = {
    "ends with another exit code": "sys.exit(1)",
    "crashes": "raise RuntimeError('down')",
    "kills itself": "os.kill(os.getpid(), 9)",
    "says something that is not JSON": "print('fine')",
    "says JSON that is no answer": "print('[1]')",
    "says an unknown decision": 'print(\'{"decision": "maybe"}\')',
    "wants to change the call": 'print(\'{"decision": "allow", "arguments": {}}\')',
    "says two things": 'print(\'{"decision": "allow"} {"decision": "deny"}\')',
    "says too much": "print('x' * 1_000_000)",
    "hangs": "time.sleep(60)",
    "hangs and does not listen": "import signal; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
    "hangs after its answer": 'print(\'{"decision": "allow"}\', flush=True); time.sleep(60)',
}
PROGRAMS = {
    "is not there": ["/no/such/program"],
    "is not in the path": ["no-such-program-anywhere"],
    "is a relative path": ["./hook.sh"],
    "is a folder": ["/tmp"],
}
FUNCTIONS = {
    "raises": "def hook(occasion): raise RuntimeError('down')",
    "exits": "def hook(occasion): raise SystemExit(0)",
    "hangs": "import time\ndef hook(occasion): time.sleep(60)",
    "hangs asynchronously": "import asyncio\nasync def hook(occasion): await asyncio.sleep(60)",
    "does not stop": (
        "import asyncio\nasync def hook(occasion):\n    for _ in range(2):\n        try: await asyncio.sleep(60)\n"
        "        except asyncio.CancelledError: pass"
    ),
    "returns nonsense": "def hook(occasion): return 'allow'",
    "is not a function": "hook = 1",
    "cannot be loaded": "raise ImportError('no')",
    "is not Python": "def def",
}


def answering(status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> Callable[..., None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(600):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)


def hanging(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(2)


def dropping(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


SERVERS: dict[str, Callable[..., None]] = {
    "fails": answering(500),
    "redirects": answering(302, headers={"Location": "http://127.0.0.1:1/"}),
    "says something that is not JSON": answering(200, b"fine"),
    "says JSON that is no answer": answering(200, b"[]"),
    "says too much": answering(200, b" " * 1_000_000),
    "drips": dripping,
    "hangs": hanging,
    "drops the connection": dropping,
}


async def check(home: Home, hook: dict[str, Any], lenient: bool) -> None:
    """One call through the counter with a hook that fails."""
    home.hooks({**hook, "timeout_ms": LIMIT_MS, "on_error": "allow" if lenient else "deny", "name": "watcher"})
    async with home.run() as run:
        began = time.monotonic()
        result = await run.call("look.up", {"text": "a"})
        spent = time.monotonic() - began
        after = await run.call("look.up", {"text": "b"}) if lenient else None
    assert result.ok is lenient
    assert home.done == (["a", "b"] if lenient else [])
    assert after is None or after.ok
    if not lenient:
        assert result.reason == "permission_denied"
        assert "watcher" in result.text
    assert spent < LIMIT_MS / 1000 + 0.1 + SLACK
    failed = home.told("hook_failed")
    assert failed
    assert all(told["hook"] == "watcher" and told["duration_ms"] >= 0 and told["problem"] for told in failed)
    assert not [event for event in home.events if event.type == "tool_started"] or lenient


SLACK = 0.4
"""For a machine that runs other things besides."""


@pytest.mark.parametrize("lenient", [False, True], ids=["deny", "allow"])
@pytest.mark.parametrize("fault", COMMANDS)
async def test_a_command_that_fails_denies_unless_it_is_lenient(home: Home, fault: str, lenient: bool) -> None:
    await check(home, {"type": "command", "argv": home.script(COMMANDS[fault])}, lenient)


@pytest.mark.parametrize("fault", PROGRAMS)
async def test_a_program_that_cannot_be_run_denies(home: Home, fault: str) -> None:
    await check(home, {"type": "command", "argv": PROGRAMS[fault]}, lenient=False)


@pytest.mark.parametrize("lenient", [False, True], ids=["deny", "allow"])
@pytest.mark.parametrize("fault", SERVERS)
async def test_a_server_that_fails_denies_unless_it_is_lenient(
    home: Home, served: Callable[..., str], fault: str, lenient: bool
) -> None:
    await check(home, {"type": "http", "url": served(SERVERS[fault])}, lenient)


async def test_a_server_that_is_not_there_denies(home: Home) -> None:
    await check(home, {"type": "http", "url": "http://127.0.0.1:1/hook"}, lenient=False)


@pytest.mark.parametrize("lenient", [False, True], ids=["deny", "allow"])
@pytest.mark.parametrize("fault", FUNCTIONS)
async def test_a_function_that_fails_denies_unless_it_is_lenient(home: Home, fault: str, lenient: bool) -> None:
    (home.root / "hooks").mkdir()
    (home.root / "hooks" / "failing.py").write_text(FUNCTIONS[fault])
    await check(home, {"type": "python", "function": "failing:hook"}, lenient)


BROKEN = {
    "is empty": "",
    "is not JSON": "{",
    "is a list": "[]",
    "has an unknown key": {"version": 1, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "args": ["x"]}]}]}},
    "has an unknown event": {"version": 1, "hooks": {"BeforeToolUse": []}},
    "is of another version": {"version": 2, "hooks": {}},
    "has a hook without a type": {"version": 1, "hooks": {"Stop": [{"hooks": [{}]}]}},
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_file_that_is_broken_denies_all_that_it_could_have_governed(home: Home, fault: str) -> None:
    home.write({"version": 1, "hooks": {}})
    async with home.run() as run:
        assert (await run.call("look.up", {"text": "before"})).ok
    home.write(BROKEN[fault] if isinstance(BROKEN[fault], str) else json.dumps(BROKEN[fault], indent=1))
    async with home.run() as run:
        result = await run.call("look.up", {"text": "after"})
        assert result.reason == "permission_denied"
        assert f"the file is broken, so everything it could have refused is: {home.root}/hooks.json" in result.text
        with pytest.raises(Refusal, match=r"hooks\.json"):
            await run.user_message("go on")
    assert home.done == ["before"]
    assert [told["hook"] for told in home.told("hook_denied")] == ["hooks.json", "hooks.json"]
