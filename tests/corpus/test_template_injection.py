"""Attacks through placeholders of declared commands, as data: real definitions, the real counter, real processes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.corpus.worlds import Folders

from toolcrib import Toolcrib
from toolcrib.cli.program import run as run_program
from toolcrib.testing import ScriptedAsker

CASES = [json.loads(line) for line in (Path(__file__).parent / "template_injection.jsonl").open()]
_SHORT = re.compile(r"\{\{(?!args\.)")
CODES = {"template_invalid": "", "config_invalid": "tools.max_timeout_ms"}
"""What the message of a refused definition says, by the code that a case names."""


class World(Folders):
    """The folders of one case; its definitions are in the home."""

    def declare(self, definition: Mapping[str, Any]) -> None:
        """Cases write `{{q}}` where definitions write `{{args.q}}`."""
        text = _SHORT.sub("{{args.", json.dumps(definition))
        (self.home / "tools" / f"{definition['name']}.json").write_text(text)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    (world.home / "tools").mkdir()
    (world.project / "a.txt").write_text("line1\nx*y\n-v\n")
    return world


@pytest.mark.parametrize("case", [each for each in CASES if "tool" in each["action"]], ids=lambda case: case["id"])
@pytest.mark.anyio
async def test_no_value_gets_out_of_its_word(case: Mapping[str, Any], world: World) -> None:
    for step in case["setup"]:
        world.declare(step["declarative_tool"])
    asker = ScriptedAsker.always("allow_once")
    tool, arguments = case["action"]["tool"], world.filled(case["action"]["args"])
    async with Toolcrib.open(home=world.home, project=world.project, asker=asker) as crib, crib.run() as run:
        result = await run.call(tool, arguments)
    assert result.reason in (None, "internal_error"), result.text  # it ran, and grep may have found nothing
    assert {"allow": 0, "ask": 1}[case["expected"]] == len(asker.requests)
    for request in asker.requests:
        shown = " ".join(target.value for target in request.targets)
        assert "grep" in shown
        assert str(arguments["file"]) in shown
    assert list(world.outside.iterdir()) == []
    assert [path.name for path in world.project.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("case", [each for each in CASES if each["expected"] == "ask"], ids=lambda case: case["id"])
@pytest.mark.anyio
async def test_without_anybody_to_ask_a_shell_line_is_denied(case: Mapping[str, Any], world: World) -> None:
    world.declare(case["setup"][0]["declarative_tool"])
    async with Toolcrib.open(home=world.home, project=world.project) as crib, crib.run() as run:
        result = await run.call(case["action"]["tool"], world.filled(case["action"]["args"]))
    assert result.reason == "permission_denied"


@pytest.mark.parametrize(
    "case", [each for each in CASES if each["expected"].startswith("error:")], ids=lambda case: case["id"]
)
def test_a_definition_that_could_be_abused_is_refused_when_it_is_read(
    case: Mapping[str, Any], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.declare(case["setup"][0]["declarative_tool"])
    assert run_program([*case["action"]["cli"], "--home", str(world.home), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [entry["ok"] for entry in told] == [False]
    assert CODES[case["expected"].removeprefix("error:")] in told[0]["problem"]


def test_a_project_declares_no_commands(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.project / ".toolcrib" / "tools"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(json.dumps({"name": "project.x", "description": "x", "command": "ls"}))
    options = ["--home", str(world.home), "--project", str(world.project), "--json"]
    assert run_program(["tools", "list", "--all", *options]) == 0
    assert "project.x" not in capsys.readouterr().out


def test_every_case_is_held_by_a_test_here() -> None:
    held = {each["id"] for each in CASES if "tool" in each["action"] or each["expected"].startswith("error:")}
    assert {each["id"] for each in CASES} - held == {"TMPL-040"}
