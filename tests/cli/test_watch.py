"""Tools watched while they are written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

SHOW = {"name": "user.show", "description": "Print it.", "input_schema": {"type": "object"}, "permission": "readonly"}


def test_an_edit_of_a_file_prints_the_changed_contract_as_the_guard_sees_it(tmp_path: Path) -> None:
    file = tmp_path / "tools" / "show.json"
    file.parent.mkdir()
    file.write_text(json.dumps({**SHOW, "command": "true", "args": [], "output": "text"}))
    program = [sys.executable, "-m", "toolcrib.cli", "--home", str(tmp_path)]
    subprocess.run([*program, "guard", "snapshot", "--approved-by", "me"], check=True, capture_output=True)
    argv = [*program, "tools", "list", "--watch", "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as watching:
        try:
            assert watching.stdout is not None
            first = next(row for line in watching.stdout if (row := json.loads(line))["name"] == "user.show")
            text = {**SHOW, "description": "Print it twice.", "command": "true", "args": [], "output": "text"}
            file.write_text(json.dumps(text))
            then = next(row for line in watching.stdout if (row := json.loads(line))["name"] == "user.show")
        finally:
            watching.send_signal(signal.SIGINT)
    assert first["contract_status"] == "matched"
    assert then["contract_fingerprint"] != first["contract_fingerprint"]
    assert then["contract_status"] == "mismatch"
