"""A run's tools are fixed when it opens; authority is looked at again for every call, and can only shrink."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import PermissionDecision, PermissionRequest, Toolcrib, tool
from toolcrib.catalog.decorate import tool_of
from toolcrib.policy.rules import Rule
from toolcrib.policy.verdict import Verdict

pytestmark = pytest.mark.anyio


@tool.read(name="look.up")
async def look(word: str) -> str:
    """Look a word up."""
    return word


@tool.read(name="look.up")
async def changed_look(word: str, also: str = "") -> str:
    """Look a word up, and send it to a stranger."""
    return word + also


@tool.read(name="look.more")
async def look_more() -> str:
    """Look at something else."""
    return "more"


async def test_a_tool_added_later_is_for_the_next_run(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look]) as crib:
        async with crib.run() as run:
            crib.add([look_more])
            assert "look.more" not in run.tools
            assert (await run.call("look.more")).reason == "tool_not_available"
        async with crib.run() as later:
            assert (await later.call("look.more")).text == "more"


async def test_a_tool_that_changed_is_refused_in_the_run_that_knew_the_old_one(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look]) as crib:
        async with crib.run() as run:
            assert (await run.call("look.up", {"word": "a"})).ok
            crib.runtime.registry.replace(tool_of(changed_look))
            assert (await run.call("look.up", {"word": "a"})).reason == "contract_drift"
        async with crib.run() as later:
            assert (await later.call("look.up", {"word": "a"})).ok


async def test_a_tool_that_was_removed_is_gone_at_once(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look]) as crib, crib.run() as run:
        crib.runtime.registry.remove("look.up")
        result = await run.call("look.up", {"word": "a"})
    assert result.reason == "tool_not_available"


async def test_a_tool_that_changes_while_a_person_is_asked_does_not_run(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        ran.append("old")
        return "done"

    @tool(name="act.now")
    async def other() -> str:
        """Act, with more in mind."""
        ran.append("new")
        return "done"

    async with Toolcrib.open(home=tmp_path, tools=[act], asker=lambda request: ask(request)) as crib, crib.run() as run:

        async def ask(request: PermissionRequest) -> PermissionDecision:
            crib.runtime.registry.replace(tool_of(other))
            return PermissionDecision("allow_once")

        result = await run.call("act.now")
    assert result.reason == "contract_drift"
    assert ran == []


async def test_a_grant_ends_with_its_session(tmp_path: Path) -> None:
    asked: list[str] = []

    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        return "done"

    async def ask(request: PermissionRequest) -> PermissionDecision:
        asked.append(request.origin.session_id)
        return PermissionDecision("allow_for_session")

    async with Toolcrib.open(home=tmp_path, tools=[act], asker=ask) as crib:
        for _ in range(2):
            async with crib.run(session="same") as run:
                await run.call("act.now")
                await run.call("act.now")
        async with crib.run(session="other") as run:
            await run.call("act.now")
    assert asked == ["same", "same", "other"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"allowed_tools": ["look.more"]}, "allowed tools"),
        ({"allowed_tools": ["look.up"]}, None),
        ({"allowed_tools": ["look.*"]}, None),
    ],
)
async def test_every_tool_that_is_out_has_its_reason(
    tmp_path: Path, options: dict[str, list[str]], reason: str | None
) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look, look_more]) as crib, crib.run(**options) as run:  # type: ignore[arg-type]
        why = run.tools.why("look.up")
        result = await run.call("look.up", {"word": "a"})
    assert (why is None) if reason is None else (why is not None and reason in why)
    assert result.ok is (reason is None)
    if reason:
        assert reason in result.text


async def test_what_a_runtime_cannot_do_is_out_with_that_reason(tmp_path: Path) -> None:
    @tool.read(name="page.open", capabilities={"browser"})
    async def page() -> str:
        """Open a page."""
        return "page"

    @tool.read(name="git.push", exposure="manual")
    async def push() -> str:
        """Push."""
        return "pushed"

    async with Toolcrib.open(home=tmp_path, tools=[page, push]) as crib, crib.run() as run:
        assert "browser" in str(run.tools.why("page.open"))
        assert "person" in str(run.tools.why("git.push"))
        async with crib.run(caller="person") as person:
            assert (await person.call("git.push")).text == "pushed"
    async with Toolcrib.open(home=tmp_path, tools=[page], capabilities=["browser"]) as crib, crib.run() as run:
        assert (await run.call("page.open")).ok


async def test_an_unknown_tool_is_answered_with_what_would_work(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look, look_more]) as crib, crib.run() as run:
        assert "look.up" in (await run.call("look.upp", {"word": "a"})).text
        assert "look.more" in (await run.call("LOOK.MORE")).text


async def test_names_come_back_from_the_provider_by_table(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path, tools=[look]) as crib, crib.run() as run:
        (sent,) = run.advertise("openai")
        assert sent["function"]["name"] == "look__up"  # type: ignore[index, call-overload]
        result = await run.call("look__up", {"word": "a"})
    assert (result.name, result.text) == ("look.up", "a")
    assert result.metadata["provider_name"] == "look__up"


async def test_a_rule_that_comes_during_a_run_can_only_take_away(tmp_path: Path) -> None:
    @tool(name="act.now")
    async def act() -> str:
        """Act."""
        return "done"

    async with Toolcrib.open(home=tmp_path, tools=[look, act]) as crib, crib.run() as run:
        assert (await run.call("look.up", {"word": "a"})).ok
        runtime = crib.runtime
        runtime.policy = runtime.policy.with_rules([Rule(Verdict.DENY, "look.*"), Rule(Verdict.ALLOW, "act.*")])
        assert (await run.call("look.up", {"word": "a"})).reason == "permission_denied"
        assert (await run.call("act.now")).reason == "permission_denied"
        async with crib.run() as later:
            assert (await later.call("act.now")).ok
