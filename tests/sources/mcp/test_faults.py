"""Servers that break in every way we know: their own call fails in time, and nobody else notices."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import psutil
import pytest
from servers_at_hand import HOSTILE, Open, hostile

from toolcrib import Toolcrib
from toolcrib.assemble.servers import Room
from toolcrib.engine.run import Run
from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio


async def test_a_server_that_crashes_fails_its_call_and_works_again_after_a_restart(crib_with: Open) -> None:
    async with crib_with(bad=hostile("crash"), good=hostile()) as crib, crib.run() as run:
        failed = await run.call("mcp.bad.misbehave")
        assert failed.reason is Reason.PROVIDER_ERROR
        assert "went away" in failed.text
        assert (await run.call("mcp.good.echo", {"text": "still here"})).text == "still here"
        assert (await run.call("mcp.bad.echo", {"text": "back"})).text == "back"


async def test_all_calls_that_wait_for_a_crashed_server_fail(crib_with: Open) -> None:
    entry = hostile("crash", tools={"misbehave": {"effect": "read"}, "echo": {"effect": "read"}})
    async with crib_with(bad=entry) as crib, crib.run() as run:
        results = await asyncio.gather(*(run.call("mcp.bad.misbehave") for _ in range(5)))
        assert all(result.reason is Reason.PROVIDER_ERROR for result in results)


async def test_a_call_that_hangs_ends_at_its_time_limit_and_the_server_is_told(crib_with: Open, tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with crib_with(bad=hostile("hang", note, timeout_ms=500)) as crib, crib.run() as run:
        began = time.monotonic()
        result = await run.call("mcp.bad.misbehave")
        assert result.reason is Reason.TIMEOUT
        assert time.monotonic() - began < 5
        assert (await run.call("mcp.bad.echo", {"text": "alive"})).text == "alive"
        assert note.read_text() == "cancelled"


@pytest.mark.parametrize("entry", [hostile("deaf"), {"command": "no-such-server"}, {"url": "http://127.0.0.1:9/mcp"}])
async def test_a_server_that_cannot_be_reached_delays_a_run_no_longer_than_allowed(
    crib_with: Open, entry: dict[str, object]
) -> None:
    began = time.monotonic()
    async with (
        crib_with(bad={**entry, "connect_timeout_ms": 1_000}, good=hostile()) as crib,
        crib.run() as run,
    ):
        assert time.monotonic() - began < 12
        assert (await run.call("mcp.good.echo", {"text": "here"})).ok
        missing = await run.call("mcp.bad.echo", {"text": "x"})
        assert missing.reason is Reason.TOOL_NOT_AVAILABLE
        assert "server 'bad' is not available: " in missing.text


async def test_noise_between_messages_is_passed_over(crib_with: Open) -> None:
    async with crib_with(bad=hostile("garbage")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).text == "after the noise"


async def test_half_a_character_is_a_mark_in_the_text_and_not_the_end_of_the_answer(crib_with: Open) -> None:
    async with crib_with(bad=hostile("half")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).text == "\ufffd, \U0001f600, \\ud83d, \ufffd"


async def test_an_answer_that_is_no_json_fails_its_call_at_once(crib_with: Open) -> None:
    async with crib_with(bad=hostile("nan")) as crib, crib.run() as run:
        result = await run.call("mcp.bad.misbehave")
        assert (result.reason, "is no JSON" in result.text) == (Reason.PROVIDER_ERROR, True)
        assert (await run.call("mcp.bad.echo", {"text": "back"})).text == "back"


async def test_a_server_that_only_makes_noise_is_left_and_tried_again(crib_with: Open) -> None:
    async with crib_with(bad=hostile("noise", timeout_ms=10_000)) as crib, crib.run() as run:
        result = await run.call("mcp.bad.misbehave")
        assert result.reason is Reason.PROVIDER_ERROR
        assert "too much that is no message" in result.text
        assert (await run.call("mcp.bad.echo", {"text": "back"})).text == "back"


async def test_a_message_without_end_closes_the_connection_within_its_limit(crib_with: Open) -> None:
    async with crib_with(bad=hostile("bigline", timeout_ms=20_000), good=hostile()) as crib, crib.run() as run:
        before = psutil.Process().memory_info().rss
        result = await run.call("mcp.bad.misbehave")
        assert "more than 16 MiB" in result.text
        assert psutil.Process().memory_info().rss - before < 40 * 1024 * 1024
        assert (await run.call("mcp.good.echo", {"text": "here"})).ok
        assert (await run.call("mcp.bad.echo", {"text": "back"})).text == "back"


async def test_answers_nobody_asked_for_reach_nobody(crib_with: Open) -> None:
    async with crib_with(bad=hostile("wrongid")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).text == "right"
        assert (await run.call("mcp.bad.echo", {"text": "mine"})).text == "mine"


async def test_a_late_answer_reaches_nobody(crib_with: Open) -> None:
    async with crib_with(bad=hostile("late", timeout_ms=300)) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).reason is Reason.TIMEOUT
        answers = [await run.call("mcp.bad.echo", {"text": f"mine {n}"}) for n in range(8)]
        assert {answer.text for answer in answers if answer.ok} <= {f"mine {n}" for n in range(8)}
        assert answers[-1].text == "mine 7"


async def test_a_flood_of_words_is_drained_and_recorded_up_to_a_limit(crib_with: Open) -> None:
    async with crib_with(bad=hostile("stderrflood")) as crib:
        async with crib.run() as run:
            assert (await run.call("mcp.bad.misbehave")).text == "said a lot"
        said = [event async for event in crib.events("mcp", follow_on=False) if event.type == "mcp_server_said"]
        assert 0 < len(said) <= 300


def test_what_a_server_said_too_much_of_is_counted_and_later_words_are_recorded() -> None:
    room = Room()
    taken = [room.take(100.0) for _ in range(500)]
    assert (taken.count(True), room.left_out) == (200, 300)
    assert room.take(101.0)


async def test_nothing_of_a_server_survives_the_crib(crib_with: Open, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    async with crib_with(bad=hostile("survive", note)) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "x"})).ok
        pids = [int(pid) for pid in note.read_text().split()]
        assert all(psutil.pid_exists(pid) for pid in pids)
    assert not any(_runs(pid) for pid in pids)


async def test_a_daemon_that_a_server_left_behind_ends_too(crib_with: Open, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    async with crib_with(bad=hostile("daemon", note)) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "x"})).ok
        pid = int(note.read_text())
        assert _runs(pid)
        assert psutil.Process(pid).ppid() != os.getpid()
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_tools_that_cannot_be_read_are_set_aside_and_the_others_work(crib_with: Open) -> None:
    async with crib_with(bad=hostile("malformed")) as crib, crib.run() as run:
        assert set(run.tools) == {"mcp.bad.echo", "mcp.bad.misbehave", "mcp.bad.odd-name"}
        assert crib.servers is not None
        assert {"no_schema", "list", "gëtt", "hint"} <= set(crib.servers.set_aside["bad"])


async def test_a_server_s_own_error_is_an_error(crib_with: Open) -> None:
    async with crib_with(bad=hostile("error"), odd=hostile("rubbish")) as crib, crib.run() as run:
        result = await run.call("mcp.bad.misbehave")
        assert (result.reason, result.text) == (Reason.PROVIDER_ERROR, "the disk is full")
        assert not (await run.call("mcp.odd.misbehave")).ok


async def test_a_tool_that_changes_between_two_calls_does_not_run(crib_with: Open, tmp_path: Path) -> None:
    async with crib_with(bad=hostile("rugpull", tmp_path / "pulled")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "one"})).text == "one"
        assert (await run.call("mcp.bad.misbehave")).text == "changed"
        await _changed(crib, run)
        assert (await run.call("mcp.bad.echo", {"text": "two"})).reason is Reason.CONTRACT_DRIFT


async def _changed(crib: Toolcrib, run: Run) -> None:
    for _ in range(200):
        if crib.runtime.registry.snapshot["mcp.bad.echo"].fingerprint != run.tools.require("mcp.bad.echo").fingerprint:
            return
        await asyncio.sleep(0.05)


async def test_secrets_come_from_the_environment_and_only_those_that_are_named(
    crib_with: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "hunter2hunter2")
    script = "import os, sys; sys.stderr.write(str(sorted(os.environ)) + os.environ.get('TOKEN', '') + '\\n')"
    entry: dict[str, object] = {"command": sys.executable, "args": ["-c", script], "env": {"TOKEN": "${A_SECRET}"}}
    async with crib_with(bad={**entry, "connect_timeout_ms": 3_000}) as crib:
        async with crib.run():
            pass
        said = [str(event.payload) async for event in crib.events("mcp", follow_on=False)]
    words = " ".join(said)
    assert "TOKEN" in words
    assert "A_SECRET" not in words.replace("${A_SECRET}", "")


async def test_a_reference_in_the_words_of_a_command_is_filled_in_for_the_server_alone(
    crib_with: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHICH_FAULT_TOKEN", "error")
    entry = {"command": sys.executable, "args": [str(HOSTILE), "${WHICH_FAULT_TOKEN}"]}
    async with crib_with(bad=entry) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).text == "the disk is full"
        source = crib.runtime.registry.snapshot["mcp.bad.echo"].spec.source
        assert source.name.endswith("hostile.py ${WHICH_FAULT_TOKEN}")


async def test_a_secret_that_a_server_was_given_is_in_nothing_that_it_says(
    crib_with: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITS_TOKEN", "correct horse battery staple")
    async with crib_with(bad=hostile("tell", env={"TOKEN": "${ITS_TOKEN}"})) as crib:
        async with crib.run() as run:
            result = await run.call("mcp.bad.misbehave")
        assert "of course" in result.text
        words = [str(event.payload) async for event in crib.events(follow_on=False)]
    assert any("my token is" in each for each in words)
    assert not any("battery staple" in each for each in [result.text, str(result.data), *words])


async def test_what_is_no_secret_is_not_taken_out(crib_with: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITS_FOLDER", "/srv/data")
    async with crib_with(bad=hostile(env={"FOLDER": "${ITS_FOLDER}"})) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "in /srv/data"})).text == "in /srv/data"
