"""What a declared hook is told, what its answer does, and on which occasions it is asked."""

from __future__ import annotations

import asyncio
import fcntl
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from tests.hooks.conftest import Home

from toolcrib import HookAnswer, PermissionDecision, PermissionRequest, PreHook, Refusal, Target, TargetKind, tool
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.refusal import Reason, ToolcribError

pytestmark = pytest.mark.anyio
KEY = "sk-ant-api03-" + "A1b2C3d4" * 12


def saying(home: Home, decision: str, reason: str = "") -> dict[str, object]:
    answer = json.dumps({"decision": decision, "reason": reason})
    return {"type": "command", "argv": home.script(f"print({answer!r})")}


async def test_a_command_is_told_of_the_call_without_secrets_and_its_answer_is_on_record(home: Home) -> None:
    heard = home.root / "heard.json"
    listening = home.script(f"open({str(heard)!r}, 'w').write(sys.stdin.read())")
    home.hooks({"type": "command", "argv": listening, "name": "ears"})
    async with home.run() as run:
        assert (await run.call("look.up", {"text": KEY})).ok
        origin = run.origin
    told = json.loads(heard.read_text())
    assert told.pop("call_id")
    assert KEY not in str(told)
    assert told.pop("arguments").keys() == {"text"}
    assert told == {
        "version": 1, "event": "PreToolUse", "session_id": origin.session_id, "run_id": origin.run_id,
        "agent_id": "main", "role": "main", "tool": "look.up", "effect": "read", "targets": [],
        "tags": ["code", "notes", "readonly"],
    }  # fmt: skip
    assert home.done == [KEY]
    [record] = home.told("hook_completed")
    assert (record["hook"], record["event"]) == ("ears", "PreToolUse")
    assert record["duration_ms"] > 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('print(\'{"decision": "deny", "reason": "not today"}\')', "not today"),
        ("sys.stderr.write('too late at night'); sys.exit(2)", "too late at night"),
        ('print(\'{"reason": "no notes"}\'); sys.exit(2)', "no notes"),
    ],
    ids=["says so", "by its exit code", "by its exit code, with a reason"],
)
async def test_a_command_can_deny(home: Home, body: str, why: str) -> None:
    home.hooks({"type": "command", "argv": home.script(body)})
    async with home.run() as run:
        result = await run.call("look.up")
    assert (result.reason, home.done) == ("permission_denied", [])
    assert why in result.text
    assert [told["reason"] for told in home.told("hook_denied")] == [why]


async def test_a_hook_that_asks_brings_in_a_person_and_cannot_allow_more_than_policy(home: Home) -> None:
    asker = ScriptedAsker.always("deny")
    home.hooks(saying(home, "ask", "odd"))
    async with home.run(asker=asker) as run:
        assert (await run.call("look.up")).reason == "permission_denied"
    assert [request.because for request in asker.requests] == ["odd"]
    home.hooks(saying(home, "allow"))
    rules = [{"tool": "look.up", "verdict": "deny"}]
    async with home.run(asker=asker, rules=rules) as run:
        assert (await run.call("look.up")).reason == "permission_denied"


@pytest.mark.parametrize(
    ("matcher", "denied"),
    [
        ({}, True),
        ({"tool": "look.*"}, True),
        ({"tool": "look"}, False),
        ({"tag": "notes"}, True),
        ({"tag": "other"}, False),
        ({"tool": "look.*", "tag": "other"}, False),
        ({"path_prefix": "/srv/data"}, True),
        ({"path_prefix": "/srv/data/x.txt"}, True),
        ({"path_prefix": "/srv/dat"}, False),
        ({"path_prefix": "/srv/data/x.txt/deeper"}, False),
    ],
    ids=str,
)
async def test_a_matcher_says_which_calls_a_hook_is_about(
    tmp_path: Path, matcher: dict[str, str], denied: bool
) -> None:
    @tool.read(name="look.up", tags={"notes"}, targets=lambda _: [Target(TargetKind.PATH, "/srv/data/x.txt")])
    async def look() -> str:
        """Look."""
        return "seen"

    home = Home(tmp_path)
    home.hooks(saying(home, "deny"), matcher=matcher)
    async with make_run(look, home=tmp_path) as run:
        assert (await run.call("look.up")).ok is not denied


async def test_a_write_above_the_prefix_touches_what_is_below(tmp_path: Path) -> None:
    @tool.write(name="act.drop", targets=lambda _: [Target(TargetKind.PATH, "/srv")])
    async def drop() -> str:
        """Remove a folder."""
        return "gone"

    home = Home(tmp_path)
    home.hooks(saying(home, "deny"), matcher={"path_prefix": "/srv/data"})
    async with make_run(drop, home=tmp_path, asker=ScriptedAsker.always("allow_once")) as run:
        assert "hook" in (await run.call("act.drop")).text


async def test_a_server_hears_and_answers(home: Home, served: Callable[..., str]) -> None:
    bodies: list[dict[str, object]] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        bodies.append(json.loads(handler.rfile.read(int(handler.headers["Content-Length"]))))
        body = json.dumps({"decision": "deny", "reason": handler.headers["X-Team"]}).encode()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    home.hooks({"type": "http", "url": served(answer), "headers": {"X-Team": "red"}})
    async with home.run() as run:
        assert "red" in (await run.call("look.up", {"text": "a"})).text
    assert [body["arguments"] for body in bodies] == [{"text": "a"}]


async def test_a_function_of_the_home_hears_a_copy(home: Home) -> None:
    (home.root / "hooks").mkdir()
    (home.root / "hooks" / "patching_hook.py").write_text(
        "def hook(occasion):\n    occasion['arguments']['text'] = 'other'\n    return {'decision': 'allow'}"
    )
    home.hooks({"type": "python", "function": "patching_hook:hook"})
    async with home.run() as run:
        assert (await run.call("look.up", {"text": "mine"})).text == "seen mine"


async def test_a_function_of_the_home_is_the_one_that_stands_there_now(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "stands_there.py").write_text("def hook(occasion):\n    return {'decision': 'allow'}")
    monkeypatch.syspath_prepend(elsewhere)
    (home.root / "hooks").mkdir()
    home.hooks({"type": "python", "function": "stands_there:hook"})
    for reason in ("one", "two"):
        (home.root / "hooks" / "stands_there.py").write_text(
            f"def hook(occasion):\n    return {{'decision': 'deny', 'reason': '{reason}'}}"
        )
        async with home.run() as run:
            assert (await run.call("look.up")).text.endswith(f": {reason}")


async def test_no_hook_in_python_can_change_a_call_either() -> None:
    given: list[object] = []

    @tool.read(name="look.up")
    async def look(options: dict[str, list[int]]) -> int:
        """Look."""
        given.append(options)
        return len(given)

    async def change(invocation: object, origin: object) -> HookAnswer | None:
        invocation.arguments["options"]["a"].append(3)  # type: ignore[attr-defined]
        return None

    async with make_run(look, hooks=[PreHook(run=change)]) as run:
        assert (await run.call("look.up", {"options": {"a": [1]}})).ok
    assert given == [{"a": [1]}]


async def test_a_hook_in_python_may_raise_its_refusal_and_it_is_on_record() -> None:
    done: list[str] = []

    @tool.read(name="look.up")
    async def look() -> str:
        """Look."""
        done.append("looked")
        return "seen"

    async def refuse(invocation: Any, origin: Any) -> None:
        raise Refusal(Reason.PROVIDER_ERROR, "not on a Friday")

    async with make_run(look, hooks=[PreHook(name="calendar", run=refuse)]) as run:
        result = await run.call("look.up")
        events = await run.runtime.store.events(session_id=run.origin.session_id, after=0, limit=100)
    assert (result.reason, done) == (Reason.PERMISSION_DENIED, [])
    assert "refused by the hook calendar: not on a Friday" in result.text
    assert [event.payload["reason"] for event in events if event.type == "hook_denied"] == ["not on a Friday"]


async def test_a_command_sees_only_the_variables_it_may(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("TEAM", "red")
    seen = home.root / "seen"
    script = home.script(f"open({str(seen)!r}, 'w').write(' '.join(sorted(os.environ)))")
    home.hooks({"type": "command", "argv": script, "env": ["TEAM"]})
    async with home.run() as run:
        assert (await run.call("look.up")).ok
    assert "TEAM" in seen.read_text().split()
    assert "SECRET_TOKEN" not in seen.read_text()


async def test_what_a_hook_started_is_dead_when_its_time_is_over(home: Home) -> None:
    held = home.root / "held"
    body = (
        "import fcntl, subprocess\n"
        f"file = open({str(held)!r}, 'w'); fcntl.flock(file, fcntl.LOCK_EX); os.set_inheritable(file.fileno(), True)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], close_fds=False)\n"
        "file.write('both run'); file.flush(); time.sleep(60)"
    )
    home.hooks({"type": "command", "argv": home.script(body), "timeout_ms": 1_500})
    async with home.run() as run:
        assert not (await run.call("look.up")).ok
        assert held.read_text() == "both run"
        async with asyncio.timeout(5):
            await asyncio.to_thread(_wait_until_free, held)


async def test_a_post_hook_hears_the_result_and_changes_nothing_even_when_it_fails(home: Home) -> None:
    heard = home.root / "heard.json"
    body = f"open({str(heard)!r}, 'w').write(sys.stdin.read()); sys.exit(2)"
    home.write(
        {"version": 1, "hooks": {"PostToolUse": [{"hooks": [
            {"type": "command", "argv": home.script(body)}, {"type": "command", "argv": home.script("sys.exit(7)")}
        ]}]}}
    )  # fmt: skip
    async with home.run() as run:
        result = await run.call("look.up", {"text": "a"})
    assert result.text == "seen a"
    assert json.loads(heard.read_text())["result"]["content"][0]["text"] == "seen a"
    assert "exit code 7" in home.told("hook_failed")[0]["problem"]


@pytest.mark.parametrize(("decision", "asked"), [("allow", 1), ("ask", 1), ("deny", 0)])
async def test_before_a_person_is_asked_a_hook_may_deny_and_never_allow(
    tmp_path: Path, decision: str, asked: int
) -> None:
    requests: list[PermissionRequest] = []

    @tool.write(name="act.now")
    async def act() -> str:
        """Act."""
        return "done"

    async def ask(request: PermissionRequest) -> PermissionDecision:
        requests.append(request)
        return PermissionDecision("deny")

    home = Home(tmp_path)
    home.hooks(saying(home, decision, "because"), event="PermissionRequest")
    async with make_run(act, home=tmp_path, asker=ask) as run:
        assert (await run.call("act.now")).reason == "permission_denied"
    assert len(requests) == asked


async def test_an_agent_may_be_kept_from_stopping_once(home: Home) -> None:
    home.hooks(saying(home, "deny", "the tests have not been run"), event="Stop")
    async with home.run() as run:
        assert await run.before_stop("all done") == "the tests have not been run"
        assert await run.before_stop("really") is None


async def test_a_message_of_a_person_can_be_refused(home: Home) -> None:
    home.hooks(saying(home, "deny", "no prices"), event="UserPromptSubmit")
    async with home.run() as run:
        with pytest.raises(Refusal, match="no prices"):
            await run.user_message("what does it cost?")


async def test_a_session_can_be_refused_before_it_begins(home: Home) -> None:
    home.hooks(saying(home, "deny", "closed on Sundays"), event="SessionStart")
    with pytest.raises(ToolcribError, match="closed on Sundays"):
        async with home.run():
            pass


async def test_a_child_agent_can_be_refused_before_it_starts(home: Home) -> None:
    home.hooks(saying(home, "deny", "no helpers"), event="SubagentStart")
    async with home.run() as run:
        with pytest.raises(Refusal, match="no helpers"):
            async with run.child("sub"):
                pass


def _wait_until_free(path: Path) -> None:
    """Come back when everybody who had the lock of a file is gone."""
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
