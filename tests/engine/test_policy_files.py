"""Files of rules in an open crib: what they deny, how they change under an open run, and what is recorded of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcrib import Toolcrib, tool
from toolcrib.engine.explain import explain
from toolcrib.testing import ScriptedAsker
from toolcrib.values.call import ToolCall
from toolcrib.values.target import Target, TargetKind

pytestmark = pytest.mark.anyio
DENY = '[[rules]]\ntool = "notes.{}"\nverdict = "deny"\nbecause = "closed"\n'
ALLOW = '[[rules]]\ntool = "notes.{}"\nverdict = "allow"\n'


@tool.read(name="notes.read")
async def read(title: str = "") -> str:
    """Read a note."""
    return title


@tool(name="notes.add", targets=lambda arguments: [Target(TargetKind.RESOURCE, str(arguments["title"]), "notes")])
async def add(title: str) -> str:
    """Add a note."""
    return title


@tool(name="notes.wipe", tags={"dangerous"})
async def wipe(title: str = "") -> str:
    """Remove every note."""
    return title


TOOLS = (read, add, wipe)


async def test_a_denial_names_the_rule_with_file_and_line_to_the_model_and_in_the_journal(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("# mine\n" + DENY.format("read"))
    async with Toolcrib.open(home=tmp_path, tools=TOOLS, config={"toolsets": []}) as crib:
        async with crib.run() as run:
            result = await run.call("notes.read")
        events = [event async for event in crib.events(follow_on=False)]
    assert result.reason == "permission_denied"
    assert result.text == (
        f"notes.read was not permitted: closed. Choose another way. [rule: {tmp_path}/policy.toml:2 (user)]"
    )
    denied = next(event for event in events if event.type == "tool_denied")
    assert f"{tmp_path}/policy.toml:2" in str(denied.payload)


async def test_a_crib_with_a_broken_file_opens_denies_and_says_so_on_record(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("[[rules]\n")
    async with Toolcrib.open(home=tmp_path, tools=TOOLS, config={"toolsets": []}) as crib:
        async with crib.run() as run:
            results = [await run.call(name) for name in ("notes.read", "notes.wipe")]
        events = [event async for event in crib.events(follow_on=False)]
    assert {result.reason for result in results} == {"permission_denied"}
    assert "is broken" in results[0].text
    assert f"{tmp_path}/policy.toml:1:8" in results[0].text
    told = [event for event in events if event.level == "error"]
    assert [event.type for event in told] == ["note"]


async def test_a_changed_file_holds_for_new_runs_and_for_open_ones_only_where_it_takes_away(tmp_path: Path) -> None:
    asker = ScriptedAsker.always("deny")
    (tmp_path / "policy.toml").write_text(ALLOW.format("nothing"))
    async with Toolcrib.open(home=tmp_path, tools=TOOLS, config={"toolsets": []}, asker=asker) as crib:
        async with crib.run() as run:
            assert (await run.call("notes.read")).ok
            (tmp_path / "policy.toml").write_text(DENY.format("read") + ALLOW.format("add"))
            crib.rules.refresh(crib.runtime)
            assert (await run.call("notes.read", {"title": "a"})).reason == "permission_denied"
            assert (await run.call("notes.add", {"title": "a"})).reason == "permission_denied"
            assert len(asker.requests) == 1
        async with crib.run() as later:
            assert (await later.call("notes.read")).reason == "permission_denied"
            assert (await later.call("notes.add", {"title": "a"})).ok
            (tmp_path / "policy.toml").unlink()
            crib.rules.refresh(crib.runtime)
            assert (await later.call("notes.read")).reason == "permission_denied"


async def test_notify_runs_the_call_and_leaves_a_notice(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[[rules]]\ntool = "notes.read"\nverdict = "notify"\nbecause = "told"\n')
    async with Toolcrib.open(home=tmp_path, tools=TOOLS, config={"toolsets": []}) as crib:
        async with crib.run() as run:
            assert (await run.call("notes.read")).ok
        notices = [event async for event in crib.events(follow_on=False) if event.level == "notice"]
    assert [(event.payload or {}).get("notice") for event in notices] == ["told"]


CALLS = [
    ("notes.read", {}),
    ("notes.read", {"title": 3}),
    ("notes.add", {"title": "mine"}),
    ("notes.add", {"title": "theirs"}),
    ("notes.wipe", {}),
    ("notes.none", {}),
]
RULES = """
[[rules]]
tool = "notes.add"
resource = "mine"
verdict = "allow"

[[rules]]
tool = "notes.*"
arguments.title = "theirs"
verdict = "deny"
"""


@pytest.mark.parametrize("mode", ["default", "plan", "dont_ask", "accept_edits"])
async def test_an_explanation_says_what_a_call_then_meets(tmp_path: Path, mode: str) -> None:
    (tmp_path / "policy.toml").write_text(RULES)
    asker = ScriptedAsker.always("deny")
    async with (
        Toolcrib.open(home=tmp_path, tools=TOOLS, config={"toolsets": []}, asker=asker) as crib,
        crib.run(mode=mode) as run,
    ):
        for name, arguments in CALLS:
            said = explain(run.tools, ToolCall(name, arguments), run.marks).verdict
            asked = len(asker.requests)
            result = await run.call(name, arguments)
            met = "ask" if len(asker.requests) > asked else "allow" if result.ok else "deny"
            assert said == met, (name, arguments)
