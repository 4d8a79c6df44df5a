"""More placeholders and values, as data: definitions that are refused when they are read, values that stay values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Toolcrib
from toolcrib.cli.program import run as run_program
from toolcrib.testing import ScriptedAsker

CASES = [json.loads(line) for line in (Path(__file__).parent / "more_template_injection.jsonl").open()]
READ = [case for case in CASES if "cli" in case["action"]]
CALLED = [case for case in CASES if "tool" in case["action"]]


def test_no_definition_that_could_be_abused_becomes_a_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tools").mkdir()
    for case in READ:
        definition = {**case["setup"][0]["declarative_tool"], "name": f"user.{case['id']}"}
        (tmp_path / "tools" / f"{case['id']}.json").write_text(json.dumps(definition))
    assert run_program(["tools", "validate", "--home", str(tmp_path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert len(told) == len(READ)
    assert [entry for entry in told if entry["ok"]] == []


@pytest.mark.parametrize("case", CALLED, ids=lambda case: case["id"])
@pytest.mark.anyio
async def test_a_value_is_one_word_or_is_refused(case: dict[str, Any], tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (home / "tools").mkdir(parents=True)
    project.mkdir()
    (home / "tools" / "show.json").write_text(json.dumps(case["setup"][0]["declarative_tool"]))
    asker = ScriptedAsker.always("allow_once")
    async with Toolcrib.open(home=home, project=project, asker=asker) as crib, crib.run() as run:
        result = await run.call(case["action"]["tool"], case["action"]["args"])
    if case["expected"] == "allow":
        assert (result.reason, asker.requests) == (None, []), result.text
        assert result.text.strip() == f"<{case['action']['args']['q']}>"
    else:
        assert result.reason == "validation_error", result.text
    assert list(project.iterdir()) == []
