"""More names, as data: registered here, or listed by a real server that each case has for itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.test_corpus import CODES, outcome
from tests.corpus.test_contracts import allow

from toolcrib import Toolcrib

HERE = Path(__file__).parent
CASES = [json.loads(line) for line in (HERE / "more_tool_names.jsonl").open()]
REGISTERED = [case for case in CASES if "register" in case["action"]]
LISTED = [case for case in CASES if "mcp_list" in case["action"]]


@pytest.mark.parametrize("case", REGISTERED, ids=lambda case: case["id"])
def test_a_name_that_is_registered_ends_as_its_case_says(case: dict[str, Any]) -> None:
    expected = None if case["expected"] == "allow" else CODES[case["expected"].removeprefix("error:")]
    assert outcome(case) is expected


@pytest.mark.anyio
async def test_of_what_servers_list_every_name_is_used_or_said_not_to_be(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    servers = {case["id"]: served(case, tmp_path) for case in LISTED}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    async with Toolcrib.open(home=home, config={"toolsets": []}, asker=allow) as crib, crib.run() as run:
        assert crib.servers is not None
        for case in LISTED:
            names = case["setup"][0]["mcp_tools"]["srv"]
            used = {name for name in run.tools if name.startswith(f"mcp.{case['id']}.")}
            aside = crib.servers.set_aside[case["id"]]
            if case["expected"] == "allow":
                assert (len(used), aside) == (len(names), {}), case["id"]
                results = [await run.call(name) for name in sorted(used)]
                assert {result.text for result in results} == {f"ran {name}" for name in names}
            else:
                assert (used, set(aside)) == (set(), {name[:80] for name in names}), case["id"]


def served(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    script, names = folder / f"{case['id']}.json", case["setup"][0]["mcp_tools"]["srv"]
    tools = [
        {"name": name, "description": f"Number {number}.", "inputSchema": {"type": "object"}}
        for number, name in enumerate(names)
    ]
    script.write_text(json.dumps({"tools": tools}))
    return {"command": sys.executable, "args": [str(HERE / "scripted_server.py"), str(script)]}
