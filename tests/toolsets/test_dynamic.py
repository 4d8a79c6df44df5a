"""Dynamic tools through the real counter: real interpreters, a real store, an operator who approves or does not."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.toolsets.making import Making, approve, create, script, steps

from toolcrib import ConfigError, Toolcrib
from toolcrib.values.contract import Basis
from toolcrib.values.identity import Surface
from toolcrib.values.json import Json
from toolcrib.values.refusal import Reason
from toolcrib.values.spec import ToolType

pytestmark = pytest.mark.anyio

DOUBLE = {
    "bash": 'read -r line; echo "bash got $line"',
    "python3": "import json, sys; print('python3 got', json.load(sys.stdin)['x'])",
    "node": "process.stdin.on('data', d => console.log('node got', JSON.parse(d).x))",
}


@pytest.fixture
def making(tmp_path: Path) -> Making:
    return Making(tmp_path)


async def made(crib: Toolcrib, name: str, implementation: Json) -> None:
    """A tool that was made and approved."""
    async with crib.run() as run:
        result = await create(run, name, implementation)
        assert result.ok, result.text
    await approve(crib, f"dynamic.{name}")


async def test_without_the_operators_word_there_is_no_way_to_make_tools(tmp_path: Path) -> None:
    async with Toolcrib.open(home=tmp_path / "home", project=tmp_path) as crib, crib.run() as run:
        assert "tools.create" not in run.tools
        assert not [name for name in run.tools.out if name.startswith("tools.c")]


def test_a_project_cannot_switch_it_on(tmp_path: Path) -> None:
    (tmp_path / "toolcrib.toml").write_text('toolsets = ["code", "dynamic"]\n')
    with (
        pytest.raises(ConfigError, match="not in the operator's list"),
        Toolcrib.open_sync(home=tmp_path / "home", project=tmp_path),
    ):
        pass


@pytest.mark.parametrize("language", DOUBLE)
async def test_a_script_gets_its_arguments_as_json_once_it_is_approved(making: Making, language: str) -> None:
    async with making.open() as crib:
        await made(crib, "double", script(DOUBLE[language], language))
        async with crib.run() as run:
            result = await run.call("dynamic.double", {"x": "it; rm -rf $HOME"})
            spec = crib.runtime.registry.snapshot["dynamic.double"].spec
    assert result.ok, result.text
    assert f"{language} got" in result.text
    assert "it; rm -rf $HOME" in result.text
    assert making.asked[-1].tool == "dynamic.double"
    assert spec.tool_type is ToolType.DYNAMIC
    assert spec.dangerous
    assert spec.effect == "write"


async def test_a_word_for_one_surface_says_nothing_on_another(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "greet", script("echo hi"))
        async with crib.run(surface="gateway") as run:
            result = await run.call("dynamic.greet", {})
            told = await run.call("tools.get", {"name": "greet"})
            assert "dynamic.greet" not in run.tools
            assert result.reason is Reason.TOOL_NOT_AVAILABLE
            assert "toolcrib guard approve-contract gateway dynamic.greet" in result.text
            assert '"approved":false' in told.text
        await approve(crib, "dynamic.greet", surface=Surface.GATEWAY)
        for surface in ("gateway", "runtime"):
            async with crib.run(surface=surface) as run:
                assert (await run.call("dynamic.greet", {})).ok
        async with crib.run(surface="adapter") as run:
            assert (await run.call("dynamic.greet", {})).reason is Reason.TOOL_NOT_AVAILABLE


async def test_what_nobody_approved_is_in_no_set_and_a_pin_is_nobodys_word(making: Making) -> None:
    async with making.open() as crib:
        async with crib.run() as run:
            await create(run, "greet", script("echo hi"))
            assert (await run.call("dynamic.greet", {})).reason is Reason.TOOL_NOT_AVAILABLE
        await approve(crib, "dynamic.greet", basis=Basis.PINNED)
        async with crib.run() as run:
            result = await run.call("dynamic.greet", {})
            shown = [spec.name for spec in run.tools.specs]
    assert result.reason is Reason.TOOL_NOT_AVAILABLE
    assert "toolcrib guard approve-contract runtime dynamic.greet" in result.text
    assert "dynamic.greet" not in shown


async def test_tools_outlive_the_process_and_keep_their_history(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "greet", script("echo one"))
    async with making.open() as crib:
        async with crib.run() as run:
            assert (await run.call("dynamic.greet", {})).text == "one"
            changed = {"name": "greet", "version": 1, "implementation": script("echo two")}
            assert (await run.call("tools.update", changed)).ok
            drifted = await run.call("dynamic.greet", {})
        assert drifted.reason is Reason.CONTRACT_DRIFT
        async with crib.run() as run:
            assert (await run.call("dynamic.greet", {})).reason is Reason.TOOL_NOT_AVAILABLE
        await approve(crib, "dynamic.greet")
        async with crib.run() as run:
            assert (await run.call("dynamic.greet", {})).text == "two"
            assert (await run.call("tools.delete", {"name": "greet", "version": 2})).ok
            assert (await run.call("dynamic.greet", {})).reason is Reason.TOOL_NOT_AVAILABLE
            told = (await run.call("tools.get", {"name": "dynamic.greet"})).data
            first = (await run.call("tools.get", {"name": "greet", "version": 1})).data
            assert (await run.call("tools.list", {})).data == []
            again = await create(run, "greet", script("echo one"))
    assert [(each["version"], each["action"]) for each in told["versions"]] == [
        (3, "deleted"), (2, "updated"), (1, "created"),
    ]  # fmt: skip
    assert first["implementation"]["script"] == "echo one"
    creator = first["creator"]
    assert (creator["agent"], creator["role"], creator["mode"], creator["caller"]) == (
        "main",
        "main",
        "default",
        "model",
    )
    assert creator["held"] == ["shell.run", "code.run_command"]
    assert creator["session"]
    assert creator["run"]
    assert again.metadata["version"] == 4, "a name that comes back goes on counting, so no old approval fits"


async def test_another_process_sees_a_tool_in_its_next_run_and_a_change_at_once(making: Making) -> None:
    async with making.open() as here, making.open() as there:
        await made(here, "greet", script("echo hi"))
        async with there.run() as run:
            assert (await run.call("dynamic.greet", {})).text == "hi"
            async with here.run() as other:
                changed = await other.call("tools.update", {"name": "greet", "version": 1, "description": "other"})
                assert changed.ok
            assert (await run.call("dynamic.greet", {})).reason is Reason.CONTRACT_DRIFT


async def test_of_two_changes_to_the_same_version_one_is_a_conflict(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "greet", script("echo hi"))
        async with crib.run() as one, crib.run() as two:
            results = await asyncio.gather(
                *(run.call("tools.update", {"name": "greet", "version": 1, "description": f"by {word}"})
                  for run, word in ((one, "one"), (two, "two")))
            )  # fmt: skip
            created = await asyncio.gather(
                *(create(run, name, script("true")) for run, name in ((one, "a"), (two, "b")))
            )
    assert sorted(str(result.reason) for result in results) == ["None", "conflict"]
    assert all(result.ok for result in created), "different tools do not stand in each other's way"


WRONG: list[tuple[str, Json, Reason, str]] = [
    ("bad name!", script("true"), Reason.SCHEMA_ERROR, "not a tool name"),
    ("huge", script("#" * 65_537), Reason.VALIDATION_ERROR, "65"),
    ("wide", script("#" + "ä" * 65_535 + ""), Reason.VALIDATION_ERROR, "131,0"),
    ("empty", script(" "), Reason.VALIDATION_ERROR, "empty"),
    ("perl", script("1", "perl"), Reason.VALIDATION_ERROR, "language"),
    ("mixed", {**script("true"), "url": "https://a.example/"}, Reason.VALIDATION_ERROR, "language and script"),
    ("secret", script("curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "'"), Reason.VALIDATION_ERROR, "secret"),
    ("none", steps(("notes.absent", {})), Reason.PERMISSION_DENIED, "notes.absent"),
    ("self", steps(("dynamic.self", {})), Reason.DEPENDENCY_CYCLE, "itself"),
    ("late", steps(("notes.keep", {"text": "{{steps.1.text}}"})), Reason.VALIDATION_ERROR, "earlier step"),
    ("unknown", steps(("notes.keep", {"text": "{{args.z}}"})), Reason.VALIDATION_ERROR, "no property"),
    ("braces", steps(("notes.keep", {"text": "{{ args.x }}"})), Reason.VALIDATION_ERROR, "double braces"),
    ("keys", steps(("notes.keep", {"{{args.x}}": "a"})), Reason.VALIDATION_ERROR, "values only"),
    ("called", steps(("{{args.x}}", {})), Reason.VALIDATION_ERROR, "not a tool name"),
]


@pytest.mark.parametrize(("name", "implementation", "reason", "words"), WRONG, ids=[case[0] for case in WRONG])
async def test_a_definition_that_is_wrong_is_refused_with_what_is_wrong(
    making: Making, name: str, implementation: Json, reason: Reason, words: str
) -> None:
    async with making.run() as run:
        result = await create(run, name, implementation)
        assert (await run.call("tools.list", {})).data == []
    assert result.reason is reason, result.text
    assert words in result.text


async def test_schemas_are_held_to_the_same_limits_as_everywhere(making: Making) -> None:
    bomb: Json = {"type": "string"}
    for _ in range(70):
        bomb = {"type": "object", "properties": {"x": bomb}}
    async with making.run() as run:
        deep = await create(run, "deep", script("true"), bomb)
        far = await create(run, "far", script("true"), {"type": "object", "$ref": "https://a.example/schema"})
        await create(run, "Case", script("true"))
        twin = await create(run, "case", script("true"))
    assert (deep.reason, far.reason) == (Reason.SCHEMA_ERROR, Reason.SCHEMA_ERROR)
    assert twin.reason is Reason.VALIDATION_ERROR
    assert "only in case" in twin.text


async def test_a_script_that_fails_is_an_error_that_keeps_its_output(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "fails", script("echo before; echo why >&2; exit 3"))
        async with crib.run() as run:
            result = await run.call("dynamic.fails", {})
    assert result.reason is Reason.INTERNAL_ERROR
    assert "before" in result.text
    assert "why" in result.text
    assert result.metadata["exit_code"] == 3


async def test_a_script_sees_only_the_allowed_environment_and_ends_at_its_limit(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_WORD", "something")
    async with making.open(**{"tools.default_timeout_ms": 700}) as crib:
        await made(crib, "look", script('echo "${A_WORD:-nothing}"'))
        await made(crib, "linger", script("echo begun; sleep 60"))
        async with crib.run() as run:
            assert (await run.call("dynamic.look", {})).text == "nothing"
            lingering = await run.call("dynamic.linger", {})
    assert lingering.reason is Reason.TIMEOUT
    assert "begun" in lingering.text


DASHED = [
    ("bash", "-x 2>/dev/null || echo fine"),
    ("python3", "-1; print('fine')"),
    ("node", "-1; console.log('fine')"),
]


@pytest.mark.parametrize(("language", "text"), DASHED)
async def test_a_script_that_begins_with_a_dash_is_still_a_script(making: Making, language: str, text: str) -> None:
    async with making.open() as crib:
        await made(crib, "dash", script(text, language))
        async with crib.run() as run:
            assert (await run.call("dynamic.dash", {})).text == "fine"


STARTS = [("bash", "bash --noprofile --norc -c --"), ("python3", "python3 -I -c"), ("node", "node --eval")]


@pytest.mark.parametrize(("language", "command"), STARTS)
async def test_a_rule_for_tool_and_command_lets_an_approved_script_run_unasked(
    making: Making, language: str, command: str
) -> None:
    whole = f"{command} dynamic.double"
    rule: Json = {"tool": "dynamic.double", "command": whole, "verdict": "allow", "because": "it was read"}
    async with making.open() as crib:
        await made(crib, "double", script(DOUBLE[language], language))
    making.asked.clear()
    async with making.open(**{"policy.rules": [rule]}) as crib:
        async with crib.run() as run:
            assert (await run.call("dynamic.double", {"x": "it"})).ok
            assert making.asked == []
            changed: Json = {"name": "double", "version": 1, "implementation": script("echo bad", language)}
            assert (await run.call("tools.update", changed)).ok
        async with crib.run() as run:
            assert (await run.call("dynamic.double", {"x": "it"})).reason is Reason.TOOL_NOT_AVAILABLE


async def test_steps_are_decided_one_by_one_and_values_stay_values(making: Making) -> None:
    hostile = '", "text": "other"} {{args.y}} {{steps.1.text}}'
    async with making.open() as crib:
        await made(
            crib, "both", steps(("notes.keep", {"text": "{{args.x}}"}), ("notes.keep", {"text": "<{{steps.1.text}}>"}))
        )
        making.asked.clear()
        async with crib.run() as run:
            result = await run.call("dynamic.both", {"x": hostile, "y": 1})
    assert result.ok, result.text
    assert making.notes.kept == [hostile, f"<kept {hostile}>"]
    assert [request.tool for request in making.asked] == ["dynamic.both", "notes.keep", "notes.keep"]


async def test_a_composite_is_out_for_whoever_lacks_one_of_its_tools(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "both", steps(("far.read", {}), ("notes.keep", {"text": "{{steps.1.text}}"})))
        async with crib.run(allowed_tools=["dynamic.*", "far.read"]) as run:
            result = await run.call("dynamic.both", {})
    assert result.reason is Reason.TOOL_NOT_AVAILABLE
    assert "notes.keep" in result.text
    assert making.notes.kept == []


async def test_a_denied_step_ends_the_series_and_says_where(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "both", steps(("notes.keep", {"text": "yes"}), ("notes.keep", {"text": "{{args.x}}"})))
    rule = {"tool": "notes.keep", "verdict": "deny", "because": "not today"}
    async with making.open(**{"policy.rules": [rule]}) as crib, crib.run() as run:
        result = await run.call("dynamic.both", {"x": "no"})
    assert result.reason is Reason.PERMISSION_DENIED
    assert "step 1 of 2" in result.text
    assert making.notes.kept == []


async def test_composites_cannot_be_made_to_go_in_circles(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "a", steps(("notes.keep", {"text": "a"})))
        await made(crib, "b", steps(("dynamic.a", {})))
        async with crib.run() as run:
            result = await run.call(
                "tools.update", {"name": "a", "version": 1, "implementation": steps(("dynamic.b", {}))}
            )
            assert (await run.call("dynamic.b", {})).ok
    assert result.reason is Reason.DEPENDENCY_CYCLE


async def test_a_composite_that_changes_or_deletes_itself_stops_there(making: Making) -> None:
    change = ("tools.update", {"name": "sly", "version": 1, "description": "something else"})
    remove = ("tools.delete", {"name": "gone", "version": 1})
    after = ("notes.keep", {"text": "after"})
    async with making.open() as crib:
        await made(crib, "sly", steps(change, after))
        await made(crib, "gone", steps(remove, after))
        async with crib.run() as run:
            changed, removed = await run.call("dynamic.sly", {}), await run.call("dynamic.gone", {})
    assert changed.reason is Reason.CONTRACT_DRIFT
    assert removed.reason is Reason.TOOL_NOT_AVAILABLE
    assert making.notes.kept == []


async def test_a_script_that_is_deleted_while_it_runs_ends_as_it_would_have(making: Making) -> None:
    begun, go = making.root / "begun", making.root / "go"
    os.mkfifo(begun)
    os.mkfifo(go)
    wait = f"echo begun > {begun}; cat {go}"
    async with making.open() as crib:
        await made(crib, "slow", script(wait))
        async with crib.run() as run, crib.run() as other:
            running = asyncio.ensure_future(run.call("dynamic.slow", {}))
            await asyncio.to_thread(begun.read_text)
            assert (await other.call("tools.delete", {"name": "slow", "version": 1})).ok
            await asyncio.to_thread(go.write_text, "done\n")
            result = await running
            assert (await run.call("dynamic.slow", {})).reason is Reason.TOOL_NOT_AVAILABLE
    assert result.ok
    assert result.text == "done"


async def test_nobody_makes_a_tool_that_does_more_than_they_could(making: Making) -> None:
    held = ["tools.*", "notes.*"]
    async with making.open() as crib:
        async with crib.run(allowed_tools=held) as run:
            no_commands = await create(run, "s", script("true"))
            no_network = await create(run, "h", {"kind": "http", "method": "GET", "url": "https://a.example/"})
            no_tool = await create(run, "c", steps(("code.read_file", {"path": "a"})))
            fine = await create(run, "k", steps(("notes.keep", {"text": "a"})))
        async with crib.run(mode="plan") as run:
            planning = await create(run, "p", steps(("notes.keep", {"text": "a"})))
        async with crib.run() as run, run.child("sub") as child:
            below = await create(child, "b", steps(("notes.keep", {"text": "a"})))
    for result in (no_commands, no_network, no_tool, below):
        assert result.reason is Reason.PERMISSION_DENIED, result.text
    assert planning.reason is Reason.TOOL_NOT_AVAILABLE
    assert fine.ok


async def test_a_person_makes_tools_by_hand(making: Making) -> None:
    async with making.open() as crib, crib.run(caller="person", allowed_tools=["tools.*"]) as run:
        assert (await create(run, "s", script("true"))).ok
        told = (await run.call("tools.get", {"name": "s"})).data
    assert told["creator"]["caller"] == "person"
    assert told["approved"] is False


async def test_a_stored_tool_that_cannot_be_registered_is_set_aside_on_record(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "wide", script("true"))
        async with crib.run() as run:
            schema: Json = {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
            await create(run, "odd", script("true"), schema)
    core: dict[str, Json] = {"tools.schema_profile": "core", "toolsets": ["dynamic"], "discovery.mode": "eager"}
    async with making.open(**core) as crib, crib.run() as run:
        assert (await run.call("dynamic.wide", {})).ok
        assert "dynamic.odd" not in run.tools
        events = [event async for event in crib.events("dynamic", follow_on=False)]
    assert [event.type for event in events] == ["dynamic_tool_set_aside"]


async def test_an_update_that_changes_nothing_takes_no_approval_away(making: Making) -> None:
    async with making.open() as crib:
        await made(crib, "same", script("echo same"))
        async with crib.run() as run:
            for more in ({}, {"description": "It is same."}, {"implementation": script("echo same")}):
                given: dict[str, Json] = {"name": "same", "version": 1, **more}
                assert (await run.call("tools.update", given)).reason is Reason.VALIDATION_ERROR
            assert (await run.call("dynamic.same", {})).text.strip() == "same"
