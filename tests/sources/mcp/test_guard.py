"""Servers under the guard: a rug pull is caught before the changed tool runs, and honest servers are not suspected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from servers_at_hand import Open, hostile
from test_real_servers import all_servers

from toolcrib.values.contract import Basis
from toolcrib.values.identity import Principal, Standing, Surface
from toolcrib.values.refusal import Reason

pytestmark = pytest.mark.anyio
PULLED = "id_rsa"


async def test_a_rug_pull_between_two_calls_is_caught_and_the_new_text_never_shown(
    crib_with: Open, tmp_path: Path
) -> None:
    server = hostile("rugpull", tmp_path / "pulled")
    async with crib_with(bad=server) as crib:
        async with crib.run(session="s") as run:
            assert (await run.call("mcp.bad.echo", {"text": "one"})).text == "one"
            assert (await run.call("mcp.bad.misbehave")).text == "changed"
            result = await run.call("mcp.bad.echo", {"text": "two"})  # at once: the server has only just said so
            assert result.reason is Reason.CONTRACT_DRIFT
            assert PULLED not in json.dumps(run.advertise("openai")) + result.text
        async with crib.run(session="s") as run:
            assert "mcp.bad.echo" not in run.tools
            assert PULLED not in json.dumps(run.advertise("openai")) + str(run.tools.out) + run.guidance
            result = await run.call("mcp.bad.echo", {"text": "three"})
            assert result.reason is Reason.CONTRACT_DRIFT
            assert PULLED not in result.text
            assert (await run.call("tools.search", {"query": "say it again echo"})).text.count(PULLED) == 0
            assert (await run.call("mcp.bad.misbehave")).ok
    async with crib_with(bad=server) as crib:
        async with crib.run() as run:
            assert "mcp.bad.echo" not in run.tools
        assert {each.kind for each in crib.runtime.contracts.suspects["mcp.bad.echo"]} == {"exfiltration"}
        alice = Principal("alice", Standing.OPERATOR)
        await crib.runtime.contracts.approve(Surface.RUNTIME, ["mcp.bad.echo"], Basis.APPROVED, alice, "on purpose")
        async with crib.run() as run:
            assert (await run.call("mcp.bad.echo", {"text": "four"})).text == "four"


async def test_a_server_that_changed_without_a_word_is_found_out_before_the_next_call_after_a_while(
    crib_with: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with crib_with(bad=hostile("silent", tmp_path / "pulled")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).ok
        assert (await run.call("mcp.bad.echo", {"text": "a moment later"})).ok
        monkeypatch.setattr("toolcrib.sources.mcp.keeper.RECHECK_SECONDS", 0)  # as if that long had passed
        result = await run.call("mcp.bad.echo", {"text": "a while later"})
        assert (result.reason, PULLED in result.text) == (Reason.CONTRACT_DRIFT, False)
        assert (await run.call("mcp.bad.misbehave")).ok


async def test_a_server_that_comes_back_as_another_is_found_out_before_its_first_call(
    crib_with: Open, tmp_path: Path
) -> None:
    async with crib_with(bad=hostile("reborn", tmp_path / "pulled")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.echo", {"text": "one"})).text == "one"
        assert (await run.call("mcp.bad.misbehave")).reason is Reason.PROVIDER_ERROR
        result = await run.call("mcp.bad.echo", {"text": "two"})
        assert (result.reason, PULLED in result.text) == (Reason.CONTRACT_DRIFT, False)


async def test_a_server_that_says_it_changed_and_not_how_runs_nothing(
    crib_with: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.sources.mcp.keeper.CHANGE_SECONDS", 0.2)
    async with crib_with(bad=hostile("mute", tmp_path / "pulled")) as crib, crib.run() as run:
        assert (await run.call("mcp.bad.misbehave")).ok
        result = await run.call("mcp.bad.echo", {"text": "two"})
        assert result.reason is Reason.CONTRACT_DRIFT
        assert "but not how" in result.text


async def test_nothing_that_the_real_servers_say_is_suspect(crib_with: Open, tmp_path: Path) -> None:
    async with crib_with(**all_servers(tmp_path)) as crib, crib.run() as run:
        assert len([name for name in run.tools if name.startswith("mcp.")]) > 40
        assert crib.runtime.contracts.suspects == {}
