"""Defined agents in a crib: what a definition gives, that it only narrows, and that a project's needs trust."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from toolcrib import ConfigError, Refusal, Toolcrib, ToolcribError, tool
from toolcrib.testing import ScriptedAsker
from toolcrib.trust import TrustBook, read_content

pytestmark = pytest.mark.anyio


@tool.read(name="notes.read")
def read_note() -> str:
    return "note"


@tool.write(name="memory.store")
def store() -> str:
    return "stored"


class Place:
    """A home and a project to put definitions into."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        (self.home / "agents").mkdir(parents=True)
        (self.project / ".toolcrib" / "agents").mkdir(parents=True)
        (self.project / "a.txt").write_text("hello")

    def define(self, name: str, text: str) -> None:
        (self.home / "agents" / name).write_text(text)

    def propose(self, name: str, text: str) -> None:
        (self.project / ".toolcrib" / "agents" / name).write_text(text)

    def trust(self) -> None:
        TrustBook(self.home / "trust.json").trust(read_content(self.project), "anna", time.time())

    def revoke(self) -> None:
        TrustBook(self.home / "trust.json").revoke(str(self.project))

    def open(self, **options: Any):
        tools = [read_note, store]
        return Toolcrib.open(home=self.home, project=self.project, tools=tools, **options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_an_agent_has_the_toolsets_of_its_definition_and_no_other(place: Place) -> None:
    place.define("reader.yaml", "toolsets:\n  workspace: {tools: [workspace.read, workspace.list]}\n  notes:\n")
    async with place.open() as crib, crib.run(agent="reader") as run:
        assert sorted(run.tools) == ["notes.read", "workspace.list", "workspace.read"]
        assert run.tools.why("shell.run") == "the definition of reader does not list its toolset"
        assert (await run.call("code.read_file", {"path": "a.txt"})).reason == "tool_not_available"


async def test_allowed_tools_only_narrow_and_suggested_tools_grant_nothing(place: Place) -> None:
    place.define(
        "reader.yaml", "toolsets: {notes: }\nallowed_tools: [notes.read, shell.run]\nsuggested_tools: [shell.run]"
    )
    async with place.open() as crib, crib.run(agent="reader", allowed_tools=["**"]) as run:
        assert list(run.tools) == ["notes.read"]


async def test_the_rules_of_a_definition_speak_where_the_operator_is_silent(place: Place) -> None:
    rules = "[{pattern: 'echo ', approval: preApproved}, {pattern: ls, approval: blocked}]"
    place.define("runner.yaml", f"toolsets: {{shell: {{rules: {rules}}}}}")
    async with place.open() as crib:
        async with crib.run(agent="runner") as run:
            assert (await run.call("code.run_command", {"argv": ["echo", "hello"]})).ok
            denied = await run.call("code.run_command", {"argv": ["ls"]})
            assert denied.reason == "permission_denied"
            assert "runner.yaml:1 (agent)" in denied.text
        async with crib.run() as run:
            assert (await run.call("code.run_command", {"argv": ["echo", "hello"]})).reason == "permission_denied"


async def test_a_rule_of_a_definition_is_about_words_and_not_about_how_a_text_begins(place: Place) -> None:
    place.define("runner.yaml", "toolsets: {shell: {rules: [{pattern: 'echo ', approval: preApproved}]}}")
    async with place.open() as crib, crib.run(agent="runner") as run:
        for line in ("echo hello; rm -rf x", "echo hello > a.txt", "echo $(touch x)"):
            assert (await run.call("shell.run", {"command": line})).reason == "permission_denied"


@pytest.mark.parametrize("verdict", ["ask", "deny"])
async def test_the_operators_stricter_rule_stands_above_the_definition(place: Place, verdict: str) -> None:
    place.define("runner.yaml", "toolsets: {shell: {rules: [{pattern: echo, approval: preApproved}]}}")
    asker = ScriptedAsker(["deny"])
    config = {"policy": {"commands": [{"pattern": "echo", "verdict": verdict}]}}
    async with place.open(config=config, asker=asker) as crib, crib.run(agent="runner") as run:
        assert (await run.call("code.run_command", {"argv": ["echo", "hello"]})).reason == "permission_denied"
    assert len(asker.requests) == (1 if verdict == "ask" else 0)


async def test_the_mode_of_a_definition_holds_and_may_only_be_made_stricter(place: Place) -> None:
    place.define("careful.yaml", "mode: default\ntoolsets: {filesystem: }")
    async with place.open() as crib:
        async with crib.run(agent="careful") as run:
            assert run.mode == "default"
        async with crib.run(agent="careful", mode="plan") as run:
            assert run.mode == "plan"
        with pytest.raises(ConfigError, match="accept_edits would be looser"):
            crib.run(agent="careful", mode="accept_edits")


async def test_an_agent_starts_only_the_agents_that_its_definition_names(place: Place) -> None:
    place.define("lead.yaml", "toolsets: {notes: }\nsub_agents: [helper]\nlimits: {children: 1}")
    place.define("helper.yaml", "mode: plan\ntoolsets: {notes: , filesystem: }")
    async with place.open() as crib, crib.run(agent="lead") as run:
        with pytest.raises(Refusal, match="it lists helper"):
            await run.child("sub").__aenter__()
        async with run.child("helper") as child:
            assert child.mode == "plan"
            assert "code.read_file" in child.tools
            with pytest.raises(Refusal, match="as many as it may have"):
                await run.child("helper").__aenter__()


async def test_the_limits_of_a_definition_hold_for_its_runs_and_for_it_as_a_child(place: Place) -> None:
    place.define("brief.yaml", "toolsets: {notes: }\nlimits: {calls: 2}")
    async with place.open(config={"limits": {"calls_per_run": 4}}) as crib:
        async with crib.run(agent="brief") as run:
            reasons = [(await run.call("notes.read")).reason for _ in range(3)]
            assert reasons == [None, None, "rate_limited"]
        async with crib.run() as run:
            async with run.child("brief") as child:
                reasons = [(await child.call("notes.read")).reason for _ in range(3)]
                assert reasons == [None, None, "rate_limited"]
            reasons = [(await run.call("notes.read")).reason for _ in range(2)]
            assert reasons == [None, "rate_limited"]


async def test_the_tokens_that_a_child_uses_count_for_its_own_limit_and_for_the_first_run(place: Place) -> None:
    place.define("brief.yaml", "toolsets: {notes: }\nlimits: {tokens: 100}")
    async with place.open() as crib, crib.run() as run, run.child("brief") as child:
        assert (await child.call("notes.read")).ok
        child.spend(tokens=100)
        assert (await child.call("notes.read")).reason == "rate_limited"
        assert run.spending.tokens == 100
        assert (await run.call("notes.read")).ok


async def test_an_id_that_nothing_defines_is_an_error_where_agents_are_defined(place: Place) -> None:
    async with place.open() as crib, crib.run(agent="whoever"):
        pass
    place.define("reader.yaml", "toolsets: {notes: }")
    async with place.open() as crib:
        with pytest.raises(ConfigError, match="did you mean 'reader'"):
            crib.run(agent="raeder")
        async with crib.run(agent="main") as run:
            assert "shell.run" in run.tools


async def test_a_projects_agent_exists_only_while_every_byte_is_trusted(place: Place) -> None:
    place.propose("helper.md", "---\ntoolsets: {notes: }\n---\nHelp.\n")
    async with place.open() as crib:
        with pytest.raises(ConfigError, match="is not trusted"):
            crib.run(agent="helper")
    place.trust()
    async with place.open() as crib:
        async with crib.run(agent="helper") as run:
            assert list(run.tools) == ["notes.read"]
        place.propose("other.md", "---\nid: other\n---\n")
        with pytest.raises(ConfigError, match=r"other\.md new"):
            crib.run(agent="helper")
    async with place.open() as crib:
        with pytest.raises(ConfigError, match="is not what was trusted"):
            crib.run(agent="helper")


async def test_trust_that_is_taken_back_counts_at_once(place: Place) -> None:
    place.propose("helper.md", "---\ntoolsets: {notes: }\n---\n")
    place.trust()
    async with place.open() as crib:
        crib.run(agent="helper")
        place.revoke()
        with pytest.raises(ConfigError, match="no longer trusted"):
            crib.run(agent="helper")


async def test_a_projects_definition_cannot_take_the_name_of_one_of_the_home(place: Place) -> None:
    place.define("helper.yaml", "toolsets: {notes: }")
    place.propose("helper.md", "---\ntoolsets: {shell: }\n---\n")
    place.trust()
    with pytest.raises(ToolcribError, match="both define the agent 'helper'"):
        async with place.open():
            raise AssertionError("the crib was opened")


async def test_a_wrong_definition_is_told_when_the_crib_is_opened(place: Place) -> None:
    place.define("reader.yaml", "toolset: {}")
    with pytest.raises(ToolcribError, match=r"reader\.yaml:1: toolset is not a known field"):
        async with place.open():
            raise AssertionError("the crib was opened")


async def test_a_definition_switches_tools_off_but_cannot_switch_on_what_is_the_operators(place: Place) -> None:
    place.define("reader.yaml", 'toolsets: {notes: }\ntools_config: {"notes.read": false}')
    async with place.open() as crib, crib.run(agent="reader") as run:
        assert "switched off for agent reader" in str(run.tools.why("notes.read"))
    place.define("reader.yaml", "toolkits: [memory]")
    with pytest.raises(ToolcribError, match="operator's to switch on"):
        async with place.open():
            raise AssertionError("the crib was opened")


async def test_the_book_of_trust_and_the_definitions_are_closed_to_tools(place: Place) -> None:
    place.trust()
    asker = ScriptedAsker.always("deny")
    files = [place.home / "trust.json", place.home / "agents" / "x.md", place.project / ".toolcrib" / "agents" / "x.md"]
    config = {"modes": {"allow_bypass": True}}
    async with place.open(asker=asker, config=config) as crib:
        for mode in ("default", "accept_edits", "bypass"):
            async with crib.run(mode=mode) as run:
                for file in files:
                    before = len(asker.requests)
                    arguments = {"path": str(file), "content": "{}", "overwrite": True}
                    assert not (await run.call("code.write_file", arguments)).ok
                    assert len(asker.requests) == before + 1
