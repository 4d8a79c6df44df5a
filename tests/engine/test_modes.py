"""Modes through the whole counter: what runs, what asks, what is denied, and who ends plan mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import ConfigError, PermissionDecision, PermissionRequest, Toolcrib, ToolcribError, tool
from toolcrib.testing import ScriptedAsker, make_run
from toolcrib.values.target import Target, TargetKind

pytestmark = pytest.mark.anyio
READ_FORM = {"properties": {"method": {"enum": ["GET", "HEAD", "OPTIONS"]}}, "required": ["method"]}


def touched(arguments):
    marks = frozenset({"protected"}) if ".git" in arguments["path"] else frozenset()
    return [Target(TargetKind.PATH, arguments["path"], "/p", marks)]


@tool.read(name="code.look")
def look() -> str:
    return "seen"


@tool.read(name="notes.look")
def look_elsewhere() -> str:
    return "seen"


@tool.write(name="code.change", tags={"filesystem"}, targets=touched)
def change(path: str) -> str:
    return "changed"


@tool.write(name="code.send", read_form=READ_FORM)
def send(url: str, method: str = "POST") -> str:
    """Send a request."""
    return method


TOOLS = (look, look_elsewhere, change, send)


async def test_plan_mode_offers_listed_reads_and_says_why_everything_else_is_out() -> None:
    async with make_run(*TOOLS, mode="plan") as run:
        assert sorted(run.tools) == ["code.look", "code.send"]
        assert run.tools.why("notes.look") == "it is not on the list of tools for plan mode (modes.plan_tools)"
        assert "only reads" in str(run.tools.why("code.change"))
        refused = await run.call("code.change", {"path": "a"})
        assert refused.reason == "tool_not_available"
        assert "plan mode" in refused.text


async def test_an_operator_may_list_more_reads_for_plan_mode_but_no_write() -> None:
    config = {"modes": {"plan_tools": ["notes.*", "code.change"]}}
    async with make_run(*TOOLS, mode="plan", config=config) as run:
        assert "notes.look" in run.tools
        assert "code.change" not in run.tools


async def test_a_write_with_a_read_form_is_offered_and_accepted_in_that_form_only() -> None:
    async with make_run(*TOOLS, mode="plan") as run:
        (offered,) = [each for each in run.advertise("openai") if "send" in str(each)]
        assert "'enum': ['GET', 'HEAD', 'OPTIONS']" in str(offered)
        assert "POST" not in str(offered)
        assert (await run.call("code.send", {"url": "u", "method": "GET"})).text == "GET"
        for arguments in ({"url": "u"}, {"url": "u", "method": "POST"}, {"url": "u", "method": "get"}):
            assert (await run.call("code.send", arguments)).reason == "validation_error"


async def test_accept_edits_asks_about_protected_files_and_not_about_ordinary_ones() -> None:
    asker = ScriptedAsker(["deny"])
    async with make_run(*TOOLS, mode="accept_edits", asker=asker) as run:
        assert (await run.call("code.change", {"path": "/p/a.txt"})).ok
        assert (await run.call("code.change", {"path": "/p/.git/config"})).reason == "permission_denied"
    assert [request.targets[0].value for request in asker.requests] == ["/p/.git/config"]
    assert asker.requests[0].mode == "accept_edits"


async def test_dont_ask_denies_what_would_ask_and_nobody_is_asked() -> None:
    asker = ScriptedAsker()
    async with make_run(*TOOLS, mode="dont_ask", asker=asker) as run:
        assert (await run.call("code.look")).ok
        denied = await run.call("code.change", {"path": "a"})
        assert denied.reason == "permission_denied"
        assert "dont_ask" in denied.text
    assert asker.requests == []


async def test_dont_ask_lets_a_rule_allow() -> None:
    config = {"policy": {"rules": [{"tool": "code.change", "verdict": "allow"}]}}
    async with make_run(*TOOLS, mode="dont_ask", config=config) as run:
        assert (await run.call("code.change", {"path": "a"})).ok


async def test_bypass_is_refused_unless_the_operator_switched_it_on() -> None:
    with pytest.raises(ConfigError, match=r"modes\.allow_bypass"):
        async with make_run(*TOOLS, mode="bypass"):
            raise AssertionError("the run was opened")


async def test_bypass_runs_without_questions_but_not_against_a_denial_or_on_protected_paths() -> None:
    rules = [{"tool": "code.send", "verdict": "deny"}, {"tool": "code.change", "verdict": "ask"}]
    asker = ScriptedAsker(["deny"])
    async with make_run(
        *TOOLS, mode="bypass", asker=asker, config={"modes": {"allow_bypass": True}, "policy": {"rules": rules}}
    ) as run:
        assert (await run.call("code.change", {"path": "/p/a.txt"})).ok
        assert (await run.call("code.send", {"url": "u"})).reason == "permission_denied"
        assert (await run.call("code.change", {"path": "/p/.git/config"})).reason == "permission_denied"
    assert len(asker.requests) == 1


async def test_a_project_can_neither_switch_bypass_on_nor_list_more_for_plan_mode(tmp_path: Path) -> None:
    for text in ("[modes]\nallow_bypass = true", '[modes]\nplan_tools = ["notes.*"]'):
        (tmp_path / "toolcrib.toml").write_text(text)
        with pytest.raises(ConfigError, match="project"):
            async with Toolcrib.open(home=tmp_path / "home", project=tmp_path, config={"toolsets": []}):
                raise AssertionError("the crib was opened")


async def test_only_a_person_ends_the_plan_mode_of_a_session(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}, tools=TOOLS) as crib:
        async with crib.run(mode="plan", session="s"):
            with pytest.raises(ToolcribError, match="which only a person ends"):
                async with crib.run(session="s"):
                    raise AssertionError("beside the run that plans, another could act")
        for mode in ("default", "accept_edits", "dont_ask"):
            with pytest.raises(ToolcribError, match="which only a person ends"):
                async with crib.run(mode=mode, session="s"):
                    raise AssertionError("plan mode was left without a person")
        async with crib.run(mode="plan", session="s"), crib.run(session="s", caller="person") as by_hand:
            assert by_hand.mode == "default"
        with pytest.raises(ToolcribError):
            async with crib.run(session="s"):
                raise AssertionError("a person's own call ended the model's plan mode")
        async with crib.run(session="s", approved_by="anna") as run:
            assert run.mode == "default"
        async with crib.run(session="s"):
            pass
        events = [event async for event in crib.events("s", follow_on=False)]
    left = [event.payload for event in events if event.payload and "approved_by" in event.payload]
    assert [(payload["was"], payload["mode"], payload["approved_by"]) for payload in left] == [
        ("plan", "default", "anna")
    ]


async def test_plan_mode_outlives_the_process(tmp_path: Path) -> None:
    async with (
        Toolcrib.open(home=tmp_path, config={"toolsets": []}, tools=TOOLS) as crib,
        crib.run(mode="plan", session="s"),
    ):
        pass
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}, tools=TOOLS) as crib:
        with pytest.raises(ToolcribError, match="which only a person ends"):
            async with crib.run(session="s"):
                raise AssertionError("plan mode was forgotten")


async def test_a_grant_from_before_does_not_reach_into_plan_mode(tmp_path: Path) -> None:
    async def ask(request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision("allow_for_session")

    async with (
        Toolcrib.open(home=tmp_path, config={"toolsets": []}, tools=TOOLS, asker=ask) as crib,
        crib.run(session="s") as run,
    ):
        assert (await run.call("code.change", {"path": "/p/a"})).ok
        async with crib.run(session="s", mode="plan") as planning:
            assert (await planning.call("code.change", {"path": "/p/a"})).reason == "tool_not_available"


async def test_the_mode_is_on_record_with_the_run(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, config={"toolsets": []}, tools=TOOLS) as crib:
        async with crib.run(mode="dont_ask", session="s"):
            pass
        (row,) = await crib.runtime.store.runs("s")
        (began,) = [event async for event in crib.events("s", follow_on=False) if event.type == "run_started"]
    assert (row.mode, row.role) == ("dont_ask", "main")
    assert began.payload is not None
    assert (began.payload["mode"], began.payload["role"]) == ("dont_ask", "main")
